package account

import "slices"

// Period is how often a plan is paid and its credits are added.
type Period string

// The periods. Credits never expire, those of a period roll over.
const (
	Once      Period = "once"
	Monthly   Period = "month"
	Quarterly Period = "quarter"
	Yearly    Period = "year"
)

// Plan is what credits are sold by.
type Plan struct {
	Name    string // as commands and addresses write it
	Title   string // as people read it
	Credits int64  // for each period
	Cents   int64  // price of each period in US cents
	Period  Period
}

var plans = []Plan{
	{"micro", "Credit pack Micro", 15, 199, Once},
	{"light", "Credit pack Light", 150, 999, Once},
	{"heavy", "Credit pack Heavy", 900, 3999, Once},
	{"plus-quarterly", "Plus Quarterly", 2700, 7999, Quarterly},
	{"pro-monthly", "Pro Monthly", 3000, 7999, Monthly},
	{"pro-annual", "Pro Annual", 36000, 79999, Yearly},
}

// Plans are all that is sold, the smallest first.
func Plans() []Plan { return slices.Clone(plans) }

// PlanNamed is a plan by its name.
func PlanNamed(name string) (Plan, bool) {
	i := slices.IndexFunc(plans, func(p Plan) bool { return p.Name == name })
	if i < 0 {
		return Plan{}, false
	}
	return plans[i], true
}
