package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/billing"
	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/job"
	"github.com/bgremove/bgremove/internal/service/store"
)

func (m *admin) accountCreate() *cobra.Command {
	var credits int64
	var passwordFile string
	cmd := m.withJSON(m.databaseCommand(m.location.createFolder, "create EMAIL", "make an account", flags.OneArgument("EMAIL"), func(ctx context.Context, db *store.DB, args []string) error {
		if credits < 0 || credits > account.MaxGrant {
			return &flags.UsageError{Command: "bgremove admin account create", Err: fmt.Errorf("credits must be between 0 and %d", int64(account.MaxGrant))}
		}
		password, err := m.readPassword(passwordFile)
		if err != nil {
			return err
		}
		made, err := account.New(db).Register(ctx, args[0], password)
		if err != nil {
			return err
		}
		if credits > 0 {
			if made.Credits, err = account.NewLedger(db).Grant(ctx, made.ID, credits, "account made"); err != nil {
				return err
			}
		}
		if m.asJSON {
			return m.JSON(map[string]any{"id": made.ID, "email": made.Email, "credits": made.Credits})
		}
		fmt.Fprintf(m.Out, "%s  %s  %s\n", made.ID, made.Email, term.Count(made.Credits, "credit"))
		if passwordFile == "" {
			m.Hint(passwordHint(made.Email))
		}
		return nil
	}))
	cmd.Flags().Int64Var(&credits, "credits", 0, "grant it `n` credits")
	cmd.Flags().StringVar(&passwordFile, "password-file", "", "a `file` whose first line is the password; - is standard input")
	return cmd
}

// readPassword reads the first line of a file. Without a file it makes a random
// password that nobody knows.
func (m *admin) readPassword(path string) (string, error) {
	if path == "" {
		return account.NewPassword(), nil
	}
	in := m.In
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer f.Close()
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, 4096))
	if err != nil {
		return "", fmt.Errorf("password: %w", err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimSuffix(line, "\r"), nil
}

func (m *admin) accountReset() *cobra.Command {
	return m.accountCommand("reset EMAIL", "give an account a new password, printed once; its sessions end",
		func(ctx context.Context, db *store.DB, acct account.Account) error {
			password := account.NewPassword()
			if _, err := account.New(db).SetPassword(ctx, acct.ID, password); err != nil {
				return err
			}
			fmt.Fprintln(m.Out, password)
			return nil
		})
}

// accountLine is an account in the form of --json.
type accountLine struct {
	ID        string `json:"id"`
	Email     string `json:"email"`
	Credits   int64  `json:"credits"`
	Plan      string `json:"plan"` // may be empty
	Confirmed bool   `json:"confirmed"`
	Suspended bool   `json:"suspended"`
	CreatedAt string `json:"createdAt"`
}

func newAccountLine(a account.Account) accountLine {
	return accountLine{a.ID, a.Email, a.Credits, a.Plan, a.Confirmed, a.Suspended, a.CreatedAt.UTC().Format(time.RFC3339)}
}

// state is the account's state in a word.
func (l accountLine) state() string {
	switch {
	case l.Suspended:
		return "suspended"
	case !l.Confirmed:
		return "unconfirmed"
	}
	return "active"
}

func (m *admin) accountList() *cobra.Command {
	return m.withJSON(m.command("list", "list all accounts, the oldest first", noArguments, func(ctx context.Context, db *store.DB, _ []string) error {
		const page = 1000
		lines := []accountLine{}
		for after := ""; ; {
			some, err := account.New(db).List(ctx, after, page)
			if err != nil {
				return err
			}
			for _, a := range some {
				lines, after = append(lines, newAccountLine(a)), a.ID
			}
			if len(some) < page {
				break
			}
		}
		if m.asJSON {
			return m.JSON(lines)
		}
		w := tabwriter.NewWriter(m.Out, 0, 0, 2, ' ', 0)
		for _, l := range lines {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", l.ID, term.Printable(l.Email), term.Count(l.Credits, "credit"), l.state(), l.CreatedAt)
		}
		return w.Flush()
	}))
}

func (m *admin) accountShow() *cobra.Command {
	return m.withJSON(m.accountCommand("show EMAIL", "show an account, its keys and jobs", func(ctx context.Context, db *store.DB, acct account.Account) error {
		keys, err := account.NewKeys(db).List(ctx, acct.ID)
		if err != nil {
			return err
		}
		counts, err := job.New(db, nil, job.Config{}).Counts(ctx, acct.ID)
		if err != nil {
			return err
		}
		line := newAccountLine(acct)
		if m.asJSON {
			return m.JSON(struct {
				accountLine
				Keys []keyLine           `json:"keys"`
				Jobs map[job.State]int64 `json:"jobs"`
			}{line, newKeyLines(keys), counts})
		}
		fmt.Fprintf(m.Out, "%s  %s  %s  %s  since %s\n", line.ID, term.Printable(line.Email), term.Count(line.Credits, "credit"), line.state(), line.CreatedAt)
		if line.Plan != "" {
			fmt.Fprintf(m.Out, "plan: %s\n", line.Plan)
		}
		var parts []string
		for _, s := range job.States() {
			parts = append(parts, fmt.Sprint(counts[s], " ", s))
		}
		fmt.Fprintln(m.Out, "jobs:", strings.Join(parts, ", "))
		return m.printKeys(keys)
	}))
}

func (m *admin) accountSuspend() *cobra.Command {
	return m.accountCommand("suspend EMAIL", "keep an account from doing anything; its queue waits", func(ctx context.Context, db *store.DB, acct account.Account) error {
		return account.New(db).Suspend(ctx, acct.ID)
	})
}

func (m *admin) accountResume() *cobra.Command {
	return m.accountCommand("resume EMAIL", "end the suspension of an account", func(ctx context.Context, db *store.DB, acct account.Account) error {
		if err := job.New(db, nil, job.Config{}).CatchUp(ctx, acct.ID); err != nil {
			return err
		}
		return account.New(db).Resume(ctx, acct.ID)
	})
}

// accountCommand makes a command that works on the account with an address.
func (m *admin) accountCommand(use, short string, do func(ctx context.Context, db *store.DB, acct account.Account) error) *cobra.Command {
	return m.command(use, short, flags.OneArgument("EMAIL"), func(ctx context.Context, db *store.DB, args []string) error {
		acct, err := findAccount(ctx, account.New(db), args[0])
		if err != nil {
			return err
		}
		return do(ctx, db, acct)
	})
}

func (m *admin) accountDelete() *cobra.Command {
	cmd := m.storageCommand("delete EMAIL", "erase an account's personal data, jobs and files; its ledger stays", flags.OneArgument("EMAIL"),
		func(ctx context.Context, db *store.DB, blobs *blob.Store, args []string) error {
			accounts := account.New(db)
			acct, err := findAccount(ctx, accounts, args[0])
			if err != nil {
				return err
			}
			// From here on no new jobs come, and a second try continues.
			if err := accounts.Suspend(ctx, acct.ID); err != nil {
				return err
			}
			err = billing.MayForget(ctx, db, acct.ID)
			if err == nil {
				err = job.New(db, blobs, job.Config{}).Erase(ctx, acct.ID)
			}
			if err == nil {
				err = billing.Forget(ctx, db, acct.ID)
			}
			if err != nil {
				return fmt.Errorf("%s is suspended, but not deleted: %w", args[0], err)
			}
			return accounts.Erase(ctx, acct.ID)
		})
	cmd.Long = `delete suspends an account and erases its address, password, keys and mails, and
its jobs with all their files. Jobs that wait are refunded. The account's id and
its ledger stay, so that all sums stay right. It cannot be undone. While jobs of
the account run, or it pays for a subscription, nothing is deleted: try again
once they have ended.`
	return cmd
}
