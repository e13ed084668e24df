package simulation

import "time"

// queue decides whose turn it is, by the rule of internal/service/job, in
// transition.go. No job times out, and no account is suspended.
type queue struct {
	maxRunning int
	accounts   []account
	// active are the accounts with queued or running jobs.
	active []int
}

// account is a row of the table queues.
type account struct {
	vtime   int64
	queued  []int // jobs, the oldest first
	running int
	active  bool
	known   bool
}

func newQueue(accounts, maxRunning int) *queue {
	return &queue{maxRunning: maxRunning, accounts: make([]account, accounts)}
}

// enqueue puts a new job last in its account's queue. An idle account starts level
// with the active ones.
func (q *queue) enqueue(account, job int) {
	a := &q.accounts[account]
	if !a.active {
		level := q.level()
		if !a.known || a.vtime < level {
			a.vtime = level
		}
		a.active, a.known = true, true
		q.active = append(q.active, account)
	}
	a.queued = append(a.queued, job)
}

// level is the least virtual time of the active accounts, or the largest of all if
// none is active.
func (q *queue) level() (v int64) {
	if len(q.active) == 0 {
		for _, a := range q.accounts {
			v = max(v, a.vtime)
		}
		return v
	}
	least := q.accounts[q.active[0]].vtime
	for _, i := range q.active[1:] {
		least = min(least, q.accounts[i].vtime)
	}
	return least
}

// claim takes the oldest job of the account of the least virtual time that has a
// job and a free place.
func (q *queue) claim(jobs []Job) (job int, found bool) {
	next := -1
	for _, i := range q.active {
		a := &q.accounts[i]
		if len(a.queued) == 0 || a.running >= q.maxRunning {
			continue
		}
		if next < 0 || a.vtime < q.accounts[next].vtime || a.vtime == q.accounts[next].vtime && i < next {
			next = i
		}
	}
	if next < 0 {
		return 0, false
	}
	a := &q.accounts[next]
	job, a.queued = a.queued[0], a.queued[1:]
	a.running++
	a.vtime += jobs[job].Cost
	return job, true
}

// end ends a running job. What it took beyond its price delays the next turn.
func (q *queue) end(j Job) {
	a := &q.accounts[j.Account]
	a.running--
	a.vtime += max(0, int64(j.Service/time.Second)-j.Cost)
	q.settle(j.Account)
}

// requeue returns a lost job to its place, and its turn too.
func (q *queue) requeue(jobs []Job, job int) {
	a := &q.accounts[jobs[job].Account]
	a.running--
	a.vtime -= jobs[job].Cost
	at := 0
	for at < len(a.queued) && a.queued[at] < job {
		at++
	}
	a.queued = append(a.queued[:at:at], append([]int{job}, a.queued[at:]...)...)
}

// settle forgets an account that has nothing to do.
func (q *queue) settle(account int) {
	a := &q.accounts[account]
	if len(a.queued) > 0 || a.running > 0 {
		return
	}
	a.active = false
	for i, other := range q.active {
		if other == account {
			q.active[i] = q.active[len(q.active)-1]
			q.active = q.active[:len(q.active)-1]
			return
		}
	}
}
