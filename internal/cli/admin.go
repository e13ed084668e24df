package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/store"
)

// admin is the state that the commands of `admin` share. They work on the
// database, whether or not a service is running on it.
type admin struct {
	*app
	location location
	asJSON   bool
}

func (a *app) adminCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "admin",
		Short: "look after the service's accounts, keys, credits and backups",
		Long: `admin works on the database of a service, while it runs or not: give it the same
--data or --database, and --storage. Its other arguments come from the command
line alone.`,
		Example: `  bgremove admin account create ann@example.com --credits 100
  bgremove admin key create ann@example.com --name ci
  bgremove admin credits grant ann@example.com --plan light
  bgremove admin credits verify
  bgremove admin backup /backup/monday`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	m := &admin{app: a}
	cmd.AddCommand(
		commandGroup("account", "make, look at, suspend and delete accounts", m.accountCreate(), m.accountList(), m.accountShow(),
			m.accountReset(), m.accountSuspend(), m.accountResume(), m.accountDelete()),
		commandGroup("key", "make, list and revoke API keys", m.keyCreate(), m.keyList(), m.keyRevoke()),
		commandGroup("credits", "grant, take and audit credits", m.creditsGrant(), m.creditsTake(), m.creditsShow(), m.creditsVerify()),
		commandGroup("storage", "say which storage is the service's", m.storageAdopt()),
		m.backup(), m.restore(), m.verify())
	return cmd
}

func commandGroup(name, short string, commands ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: name, Short: short, Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() }}
	cmd.AddCommand(commands...)
	return cmd
}

// command makes a command from run, which gets the open database of a service.
func (m *admin) command(use, short string, args cobra.PositionalArgs, run func(context.Context, *store.DB, []string) error) *cobra.Command {
	return m.databaseCommand(m.location.checkExists, use, short, args, run)
}

// databaseCommand makes a command from run, which gets the open database. Before that,
// prepare checks that the database exists or may be created.
func (m *admin) databaseCommand(prepare func() error, use, short string, args cobra.PositionalArgs, run func(context.Context, *store.DB, []string) error) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: args, RunE: func(cmd *cobra.Command, args []string) error {
		if err := m.location.check(); err != nil {
			return flags.Usage(cmd, err)
		}
		if err := m.location.setDefaults(); err != nil {
			return err
		}
		if err := prepare(); err != nil {
			return err
		}
		db, err := store.Open(cmd.Context(), m.location.database)
		if err != nil {
			return fmt.Errorf("database: %w", err)
		}
		return explainAccount(errors.Join(run(cmd.Context(), db, args), db.Close()))
	}}
	m.location.addFlags(cmd.Flags())
	return cmd
}

// withJSON adds the flag --json.
func (m *admin) withJSON(cmd *cobra.Command) *cobra.Command {
	flags.AddJSON(cmd.Flags(), &m.asJSON)
	return cmd
}

// findAccount finds an account by its address or id.
func findAccount(ctx context.Context, accounts *account.Accounts, name string) (account.Account, error) {
	acct, err := accounts.ByEmail(ctx, name)
	if errors.Is(err, account.ErrNotFound) {
		acct, err = accounts.Get(ctx, name)
	}
	if errors.Is(err, account.ErrNotFound) {
		return acct, fmt.Errorf("no account has the address or id %s", name)
	}
	return acct, err
}

// explainAccount adds advice to errors of package account.
func explainAccount(err error) error {
	var field *account.FieldError
	var poor *account.InsufficientError
	switch {
	case errors.As(err, &poor):
		return fmt.Errorf("cannot take %s: the balance is %d", term.Count(poor.Cost, "credit"), poor.Balance)
	case errors.As(err, &field):
		return &flags.UsageError{Command: "bgremove admin", Err: fmt.Errorf("%s %s", field.Field, field.Reason)}
	case errors.Is(err, account.ErrTooManyKeys):
		return fmt.Errorf("the account has %d active keys, the maximum; revoke one first", account.MaxKeys)
	}
	return err
}
