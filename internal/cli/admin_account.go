package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/account"
	"github.com/bgremove/bgremove/internal/store"
)

func (m *admin) accountCreate() *cobra.Command {
	var credits int64
	var passwordFile string
	cmd := m.reading(m.prepared(m.place.make, "create EMAIL", "make an account", oneArgument("EMAIL"), func(ctx context.Context, db *store.DB, args []string) error {
		if credits < 0 || credits > account.MaxGrant {
			return &usageError{"bgremove admin account create", fmt.Errorf("credits must be between 0 and %d", int64(account.MaxGrant))}
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
		fmt.Fprintf(m.Out, "%s  %s  %d credits\n", made.ID, made.Email, made.Credits)
		if passwordFile == "" {
			m.Hint("bgremove admin account reset " + made.Email + " gives it a password for the dashboard")
		}
		return nil
	}))
	cmd.Flags().Int64Var(&credits, "credits", 0, "grant it `n` credits")
	cmd.Flags().StringVar(&passwordFile, "password-file", "", "a `file` whose first line is the password; - is standard input")
	return cmd
}

// readPassword reads the first line of a file. Without one it makes a password
// that nobody knows.
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
	return m.command("reset EMAIL", "give an account a new password, printed once; its sessions end", oneArgument("EMAIL"),
		func(ctx context.Context, db *store.DB, args []string) error {
			accounts := account.New(db)
			who, err := find(ctx, accounts, args[0])
			if err != nil {
				return err
			}
			password := account.NewPassword()
			if _, err := accounts.SetPassword(ctx, who.ID, password); err != nil {
				return err
			}
			fmt.Fprintln(m.Out, password)
			return nil
		})
}
