package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/tools/internal/simulation"
)

// The accounts of a day: many light ones, and one that submits a share of the
// day's clips in one go at noon.
const (
	lightAccounts = 1000
	heavyShare    = 0.05
	heavyAt       = 12 * time.Hour
)

// The zone that fails has a third of the workers. It is away in the busiest hour.
const (
	zones    = 3
	zoneFrom = simulation.Peak - 30*time.Minute
	zoneFor  = time.Hour
)

// enough is the number of slots beside the demand at the peak, for a day without
// long queues.
const enough = 1.1

// day is a day's clips and the work of each.
type day struct {
	*settings
	measured []work
	kinds    []simulation.Kind
	jobs     []simulation.Job
	config   job.Config
	// peak is the number of slots that the busiest minute keeps busy.
	peak float64
}

func newDay(s *settings, measured []work) *day {
	d := &day{settings: s, measured: measured, config: job.DefaultConfig()}
	var mean time.Duration
	for _, w := range measured {
		k := w.kind(s.cores)
		d.kinds = append(d.kinds, k)
		mean += k.Service / time.Duration(len(measured))
	}
	d.jobs = simulation.Arrivals(d.random(), s.clips, lightAccounts, d.kinds)
	d.peak = float64(s.clips) / simulation.Day.Seconds() * simulation.PeakFactor * mean.Seconds()
	return d
}

func (d *day) random() *rand.Rand { return rand.New(rand.NewPCG(d.seed, 0)) }

func (d *day) slots(share float64) int { return max(1, int(math.Ceil(share*d.peak))) }

// simulate runs jobs on slots, with the service's defaults otherwise.
func (d *day) simulate(jobs []simulation.Job, slots int, o simulation.Outage) []simulation.Outcome {
	return simulation.Run(jobs, simulation.Config{Slots: slots, MaxRunning: d.config.MaxRunning, Lease: d.config.Lease, Outage: o})
}

func (d *day) print() {
	fmt.Printf("\n%d clips a day, %.1f/s at the peak, which keeps %.0f slots of %.0f cores busy\n",
		d.clips, float64(d.clips)/simulation.Day.Seconds()*simulation.PeakFactor, d.peak, d.cores)
	d.workers()
	d.fairness()
	d.zone()
	d.costs()
}

// workers prints the age of the queue by the number of slots.
func (d *day) workers() {
	fmt.Println("\nage of the queue: the wait of a job until a worker has it")
	for _, share := range []float64{0.8, 0.9, 1, enough, 1.25, 1.5} {
		n := d.slots(share)
		waits := simulation.Waits(d.jobs, d.simulate(d.jobs, n, simulation.Outage{}), everything)
		fmt.Printf("  %5d slots, %3.0f %% of the peak's demand: %s\n", n, 100*share, ages(waits))
	}
}

// fairness prints the waits of light accounts beside a heavy one.
func (d *day) fairness() {
	n, heavy := d.slots(enough), int(heavyShare*float64(d.clips))
	light := func(j simulation.Job) bool {
		return j.Account < lightAccounts && j.At >= heavyAt && j.At < heavyAt+zoneFor
	}
	fmt.Printf("\nfairness: one account submits %d clips at once, %d others work as always (%d slots)\n", heavy, lightAccounts, n)
	fmt.Printf("  the others in that hour, alone:     %s\n",
		ages(simulation.Waits(d.jobs, d.simulate(d.jobs, n, simulation.Outage{}), light)))
	all := simulation.With(d.jobs, d.random(), lightAccounts, heavyAt, heavy, d.kinds)
	for _, most := range []int{d.config.MaxRunning, n} {
		outcomes := simulation.Run(all, simulation.Config{Slots: n, MaxRunning: most})
		var last time.Duration
		for i, o := range outcomes {
			if all[i].Account == lightAccounts {
				last = max(last, o.Ended)
			}
		}
		fmt.Printf("  beside it, --max-running %4d:       %s; its last clip after %.1f h\n", most, ages(simulation.Waits(all, outcomes, light)), (last - heavyAt).Hours())
	}
}

// zone prints the waits while a part of the workers is away.
func (d *day) zone() {
	fmt.Println("\na zone fails: a third of the slots are away for an hour at the peak; the waits of clips of that hour")
	for _, share := range []float64{enough, zones / (zones - 1.0)} {
		n := d.slots(share)
		o := simulation.Outage{From: zoneFrom, Until: zoneFrom + zoneFor, Slots: n / zones}
		outcomes := d.simulate(d.jobs, n, o)
		lost, late := 0, o.Until
		for i, r := range outcomes {
			lost += r.Lost
			if r.Started-d.jobs[i].At > time.Minute {
				late = max(late, r.Started)
			}
		}
		during := func(j simulation.Job) bool { return j.At >= o.From && j.At < o.Until }
		fmt.Printf("  %d of %d slots: %s; %d jobs lost their worker and ran again; the last wait above a minute ended %.0f min after the hour\n",
			o.Slots, n, ages(simulation.Waits(d.jobs, outcomes, during)), lost, (late - o.Until).Minutes())
	}
}

// costs prints the resources of the day.
func (d *day) costs() {
	var input, output, cores float64
	for _, w := range d.measured {
		n := float64(len(d.measured))
		input, output, cores = input+float64(w.input)/n, output+float64(w.output)/n, cores+w.cores.Seconds()/n
	}
	clips, days := float64(d.clips), func(keep time.Duration) float64 { return float64(keep) / float64(simulation.Day) }
	fmt.Printf("\ncost of the day, at %.1f core seconds, %.0f kB in and %.0f kB out a clip\n", cores, input/1e3, output/1e3)
	fmt.Printf("  cores: %.0f on average, %.0f for %d slots that keep the queue short all day\n",
		clips*cores/simulation.Day.Seconds(), float64(d.slots(enough))*d.cores, d.slots(enough))
	fmt.Printf("  storage: %.2f TB, with uploads kept for %.0f h and results for %.0f h\n",
		clips*(input*days(d.config.KeepInputs)+output*days(d.config.KeepOutputs))/1e12, d.config.KeepInputs.Hours(), d.config.KeepOutputs.Hours())
	fmt.Printf("  egress: %.2f TB a day, if each result is downloaded once; %.2f TB a day come in\n", clips*output/1e12, clips*input/1e12)
}

func everything(simulation.Job) bool { return true }

// ages describes sorted waits.
func ages(waits []time.Duration) string {
	return fmt.Sprintf("p50 %s, p99 %s", short(simulation.Quantile(waits, 0.5)), short(simulation.Quantile(waits, 0.99)))
}

func short(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%.1f min", d.Minutes())
	}
	return fmt.Sprintf("%.1f h", d.Hours())
}
