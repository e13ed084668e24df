package account

import (
	"context"
	"slices"

	"github.com/bgremove/bgremove/internal/service/store"
)

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

// SetPlan notes a plan as the account's. It is part of a caller's transaction.
func SetPlan(ctx context.Context, tx *store.Tx, accountID, name string) error {
	_, err := tx.ExecContext(ctx, "UPDATE accounts SET plan = $1 WHERE id = $2", name, accountID)
	return wrap("set the plan", err)
}

// EndPlan leaves an account without a plan, if it is the one of that name. It
// is part of a caller's transaction.
func EndPlan(ctx context.Context, tx *store.Tx, accountID, name string) error {
	_, err := tx.ExecContext(ctx, "UPDATE accounts SET plan = '' WHERE id = $1 AND plan = $2", accountID, name)
	return wrap("end the plan", err)
}
