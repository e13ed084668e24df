// Package simulation runs the service's queue in simulated time: jobs arrive, take
// turns and keep workers busy, and workers may vanish for a while. Its rule of
// turns is a copy of the service's, and a test compares the two.
package simulation

import (
	"container/heap"
	"slices"
	"time"
)

// Job is a job of one run.
type Job struct {
	Account int
	At      time.Duration // when it is submitted
	Cost    int64         // in credits
	Service time.Duration // how long a worker needs
}

// Config describes the workers.
type Config struct {
	// Slots is how many jobs run at once on all workers.
	Slots int
	// MaxRunning is how many jobs of an account run at once.
	MaxRunning int
	// Lease is the time after which a vanished worker has lost its jobs.
	Lease time.Duration
	// Outage takes Slots of the slots away for a while. Their jobs are lost.
	Outage Outage
}

// Outage is the failure of a part of the workers; the zero value is none.
type Outage struct {
	From, Until time.Duration
	Slots       int
}

// Outcome is the end of a job.
type Outcome struct {
	Started time.Duration // of the first claim
	Ended   time.Duration
	Lost    int // claims that were lost
}

// Run runs jobs, in the order of their arrivals, until all have ended. Their
// accounts count from 0. A job that is lost begins again; it is not refunded,
// because one outage takes it once.
func Run(jobs []Job, c Config) []Outcome {
	accounts := 0
	for _, j := range jobs {
		accounts = max(accounts, j.Account+1)
	}
	r := &run{Config: c, jobs: jobs, queue: newQueue(accounts, c.MaxRunning), outcomes: make([]Outcome, len(jobs)), claims: make([]int, len(jobs))}
	for slot := c.Slots - 1; slot >= 0; slot-- {
		r.free = append(r.free, slot)
	}
	r.running = make(map[int]int)
	if c.Outage.Slots > 0 {
		r.add(event{at: c.Outage.From, kind: fails})
		r.add(event{at: c.Outage.Until, kind: returns})
	}
	for next := 0; next < len(jobs) || len(r.events) > 0; {
		if next < len(jobs) && (len(r.events) == 0 || jobs[next].At < r.events[0].at) {
			r.now = jobs[next].At
			r.queue.enqueue(jobs[next].Account, next)
			next++
		} else {
			e := heap.Pop(&r.events).(event)
			r.now = e.at
			r.handle(e)
		}
		r.dispatch()
	}
	return r.outcomes
}

// run is the state of a Run.
type run struct {
	Config
	jobs     []Job
	queue    *queue
	now      time.Duration
	events   events
	free     []int       // slots; those of the outage have the lowest numbers
	running  map[int]int // the job of each busy slot
	down     bool
	claims   []int // of each job, to tell an old end from the current one
	outcomes []Outcome
}

func (r *run) add(e event) { heap.Push(&r.events, e) }

// fallen reports whether a slot is away.
func (r *run) fallen(slot int) bool { return r.down && slot < r.Outage.Slots }

// dispatch starts jobs while there are slots and jobs in turn.
func (r *run) dispatch() {
	for len(r.free) > 0 {
		job, found := r.queue.claim(r.jobs)
		if !found {
			return
		}
		slot := r.free[len(r.free)-1]
		r.free = r.free[:len(r.free)-1]
		if r.claims[job] == 0 {
			r.outcomes[job].Started = r.now
		}
		r.claims[job]++
		r.running[slot] = job
		r.add(event{at: r.now + r.jobs[job].Service, kind: ends, job: job, slot: slot, claim: r.claims[job]})
	}
}

func (r *run) handle(e event) {
	switch e.kind {
	case ends:
		if r.claims[e.job] != e.claim || r.running[e.slot] != e.job {
			return // the claim was lost
		}
		delete(r.running, e.slot)
		r.free = append(r.free, e.slot)
		r.outcomes[e.job].Ended = r.now
		r.queue.end(r.jobs[e.job])
	case expires:
		r.outcomes[e.job].Lost++
		r.queue.requeue(r.jobs, e.job)
	case fails:
		r.down = true
		for slot := range r.Outage.Slots {
			if job, busy := r.running[slot]; busy {
				delete(r.running, slot)
				r.claims[job]++ // so that its end is none
				r.add(event{at: r.now + r.Lease, kind: expires, job: job})
			}
		}
		r.free = slices.DeleteFunc(r.free, r.fallen)
	case returns:
		r.down = false
		for slot := range r.Outage.Slots {
			r.free = append(r.free, slot)
		}
	}
}

// kind is what happens in an event.
type kind int

const (
	ends kind = iota
	expires
	fails
	returns
)

type event struct {
	at               time.Duration
	kind             kind
	job, slot, claim int
}

// events is a heap of events by time.
type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}
