package price_test

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/bgremove/bgremove/internal/service/price"
	"github.com/bgremove/bgremove/pkg/api"
)

// batchJobs are a batch's; where an example has their number, they are none.
type batchJobs []struct{ ID, Filename string }

// UnmarshalYAML implements yaml.Unmarshaler.
func (j *batchJobs) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		return nil
	}
	return n.Decode((*[]struct{ ID, Filename string })(j))
}

// shown is what an object of an example says of jobs and credits.
type shown struct {
	ID       string
	Error    string
	Metadata *struct {
		OriginalName string `yaml:"originalName"`
		Duration     float64
	}
	Cost, Charged, Refunded *int64
	Jobs                    batchJobs
	CreditsRemaining        *int64 `yaml:"creditsRemaining"`
	Credits                 *int64
	Plan                    string
	Entries                 []struct {
		Kind, Job, Note string
		Amount, Balance int64
	}
}

// TestExamples checks that the examples of the specification are one account's
// story at this price: 150 credits are granted, the first job is charged, and
// then one more submission is.
func TestExamples(t *testing.T) {
	t.Parallel()
	const granted, firstJob = 150, "job_06dwb6z7mc3qjk8v1r5t9x2wne"
	all := examples(t)
	charges := map[string]int64{} // by file name, less refunds at once
	for _, e := range all {
		if e.Metadata == nil {
			continue
		}
		cost := price.OfSeconds(e.Metadata.Duration)
		if e.Cost != nil && (*e.Cost != cost || *e.Charged != cost || *e.Refunded != 0) {
			t.Errorf("%s costs %d, and %d less %d are charged, not %d", e.ID, *e.Cost, *e.Charged, *e.Refunded, cost)
		}
		if e.Error == "unreadable_file" {
			cost = 0
		}
		charges[e.Metadata.OriginalName] = cost
	}
	afterFirst := granted - charges["hop.mp4"]
	balances, entries, costs := 0, 0, 0
	for _, e := range all {
		if e.Cost != nil {
			costs++
		}
		if e.CreditsRemaining != nil {
			balances++
			want := afterFirst
			switch {
			case e.Error == "insufficient_credits":
				if *e.CreditsRemaining >= price.Least {
					t.Errorf("%d credits are insufficient", *e.CreditsRemaining)
				}
				continue
			case len(e.Jobs) > 0 && e.Jobs[0].ID != firstJob:
				for _, j := range e.Jobs {
					want -= charges[j.Filename]
				}
			}
			if *e.CreditsRemaining != want {
				t.Errorf("%s%v leaves %d credits, not %d", e.ID, e.Jobs, *e.CreditsRemaining, want)
			}
		}
		if e.Credits != nil && e.Plan != "" && *e.Credits != afterFirst {
			t.Errorf("the account has %d credits, not %d", *e.Credits, afterFirst)
		}
		balance := int64(0)
		for i := len(e.Entries) - 1; i >= 0; i-- { // oldest first
			entries++
			entry, want := e.Entries[i], int64(granted)
			if entry.Kind == "charge" {
				want = -charges["hop.mp4"]
			}
			if balance += want; entry.Amount != want || entry.Balance != balance {
				t.Errorf("the ledger has %+v, not the amount %d and the balance %d", entry, want, balance)
			}
		}
	}
	if costs == 0 || balances < 5 || entries < 2 {
		t.Errorf("the examples have %d costs, %d balances and %d entries of a ledger", costs, balances, entries)
	}
}

// examples are the objects in the examples of bodies in the specification.
func examples(t *testing.T) (all []shown) {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal(api.Specification, &doc); err != nil {
		t.Fatal(err)
	}
	var walk func(n *yaml.Node, example bool)
	walk = func(n *yaml.Node, example bool) {
		if n.Kind != yaml.MappingNode {
			for _, child := range n.Content {
				walk(child, example)
			}
			return
		}
		if example {
			var s shown
			if err := n.Decode(&s); err != nil {
				t.Errorf("line %d: %v", n.Line, err)
			}
			all = append(all, s)
		}
		for i := 0; i < len(n.Content); i += 2 {
			walk(n.Content[i+1], example || strings.HasPrefix(n.Content[i].Value, "example"))
		}
	}
	walk(&doc, false)
	return all
}
