package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/store"
)

func (m *admin) creditsGrant() *cobra.Command {
	var plan string
	cmd := m.command("grant EMAIL [N]", "add credits, or those of a plan", grantArguments, func(ctx context.Context, db *store.DB, args []string) error {
		grant, err := parseGrant(args, plan)
		if err != nil {
			return &flags.UsageError{Command: "bgremove admin credits grant", Err: err}
		}
		acct, err := findAccount(ctx, account.New(db), args[0])
		if err != nil {
			return err
		}
		balance, err := grant(ctx, account.NewLedger(db), acct.ID)
		if err != nil {
			return err
		}
		fmt.Fprintf(m.Out, "%s  %s\n", acct.Email, term.Count(balance, "credit"))
		return nil
	})
	cmd.Flags().StringVar(&plan, "plan", "", "the credits of a `plan`: "+planNames())
	return cmd
}

func grantArguments(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return flags.Usage(cmd, errors.New("EMAIL is missing"))
	case len(args) > 2:
		return flags.Usage(cmd, errors.New("one EMAIL and one number of credits at a time"))
	}
	return nil
}

// parseGrant reads what to grant from the arguments or the plan.
func parseGrant(args []string, plan string) (func(context.Context, *account.Ledger, string) (int64, error), error) {
	if (len(args) == 2) == (plan != "") {
		return nil, errors.New("either a number of credits or --plan is needed")
	}
	if plan != "" {
		p, ok := account.PlanNamed(plan)
		if !ok {
			return nil, fmt.Errorf("no plan is called %q; there are %s", plan, planNames())
		}
		return func(ctx context.Context, l *account.Ledger, id string) (int64, error) { return l.GrantPlan(ctx, id, p) }, nil
	}
	n, err := parseCredits(args[1])
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, l *account.Ledger, id string) (int64, error) {
		return l.Grant(ctx, id, n, "granted by admin")
	}, nil
}

func (m *admin) creditsTake() *cobra.Command {
	return m.command("take EMAIL N", "take credits back, all of them or none", grantArguments, func(ctx context.Context, db *store.DB, args []string) error {
		if len(args) < 2 {
			return &flags.UsageError{Command: "bgremove admin credits take", Err: errors.New("a number of credits is missing")}
		}
		n, err := parseCredits(args[1])
		if err != nil {
			return &flags.UsageError{Command: "bgremove admin credits take", Err: err}
		}
		acct, err := findAccount(ctx, account.New(db), args[0])
		if err != nil {
			return err
		}
		balance, err := account.NewLedger(db).Deduct(ctx, acct.ID, n, "taken by admin")
		if err != nil {
			return err
		}
		fmt.Fprintf(m.Out, "%s  %s\n", acct.Email, term.Count(balance, "credit"))
		return nil
	})
}

// parseCredits reads a number of credits.
func parseCredits(text string) (n int64, err error) {
	if _, err := fmt.Sscanf(text+"\n", "%d\n", &n); err != nil || n < 1 {
		return 0, fmt.Errorf("%q is not a number of credits above 0", text)
	}
	return n, nil
}

func planNames() string {
	var names []string
	for _, p := range account.Plans() {
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
}

// ledgerLine is an entry in the form of --json.
type ledgerLine struct {
	At     string `json:"at"`
	Kind   string `json:"kind"`
	Amount int64  `json:"amount"`
	Job    string `json:"job"` // empty for a grant
}

func (m *admin) creditsShow() *cobra.Command {
	return m.withJSON(m.accountCommand("show EMAIL", "show an account's balance and ledger", func(ctx context.Context, db *store.DB, acct account.Account) error {
		lines, err := ledgerLines(ctx, account.NewLedger(db), acct.ID)
		if err != nil {
			return err
		}
		if m.asJSON {
			return m.JSON(map[string]any{"email": acct.Email, "credits": acct.Credits, "ledger": lines})
		}
		w := tabwriter.NewWriter(m.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintf(w, "%s\t%s\n", acct.Email, term.Count(acct.Credits, "credit"))
		for _, l := range lines {
			fmt.Fprintf(w, "%s\t%s\t%+d\t%s\n", l.At, l.Kind, l.Amount, l.Job)
		}
		return w.Flush()
	}))
}

// ledgerLines returns all entries of an account, newest first.
func ledgerLines(ctx context.Context, l *account.Ledger, accountID string) ([]ledgerLine, error) {
	const page = 1000
	lines := []ledgerLine{}
	for before := ""; ; {
		entries, err := l.Entries(ctx, accountID, before, page)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			lines = append(lines, ledgerLine{e.CreatedAt.UTC().Format(time.RFC3339), string(e.Kind), e.Amount, e.JobID})
			before = e.ID
		}
		if len(entries) < page {
			return lines, nil
		}
	}
}

func (m *admin) creditsVerify() *cobra.Command {
	return m.withJSON(m.command("verify", "compare every balance with its ledger", noArguments, func(ctx context.Context, db *store.DB, _ []string) error {
		wrong, err := account.NewLedger(db).Verify(ctx)
		if err != nil {
			return err
		}
		if m.asJSON {
			if err := m.JSON(map[string]any{"ok": len(wrong) == 0, "wrong": discrepancies(wrong)}); err != nil {
				return err
			}
		}
		m.printDiscrepancies(wrong)
		if len(wrong) > 0 {
			return fmt.Errorf("balances that differ from the ledger: %d", len(wrong))
		}
		if !m.asJSON {
			fmt.Fprintln(m.Out, "every balance is the sum of its ledger")
		}
		return nil
	}))
}

// discrepancies are the balances that differ from the sum of their ledger, in
// the form of --json.
func discrepancies(wrong []account.Discrepancy) []map[string]any {
	list := []map[string]any{}
	for _, d := range wrong {
		list = append(list, map[string]any{"account": d.AccountID, "balance": d.Balance, "sum": d.Sum})
	}
	return list
}

func (m *admin) printDiscrepancies(wrong []account.Discrepancy) {
	for _, d := range wrong {
		m.Message("account %s has %s, but its ledger sums to %d", d.AccountID, term.Count(d.Balance, "credit"), d.Sum)
	}
}
