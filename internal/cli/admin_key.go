package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/store"
)

func (m *admin) keyCreate() *cobra.Command {
	var name string
	cmd := m.withJSON(m.accountCommand("create EMAIL", "make an API key and print it, once", func(ctx context.Context, db *store.DB, acct account.Account) error {
		key, secret, err := account.NewKeys(db).Create(ctx, acct.ID, name)
		if err != nil {
			return err
		}
		if m.asJSON {
			return m.JSON(map[string]any{"id": key.ID, "key": secret, "prefix": key.Prefix})
		}
		fmt.Fprintln(m.Out, secret)
		m.Message("%s was made; the key above is not shown again", key.ID)
		return nil
	}))
	cmd.Flags().StringVar(&name, "name", "made by admin", "what to call the key")
	return cmd
}

func (m *admin) keyRevoke() *cobra.Command {
	return m.command("revoke KEY_ID", "end an API key at once", flags.OneArgument("KEY_ID"), func(ctx context.Context, db *store.DB, args []string) error {
		keys := account.NewKeys(db)
		owner, err := keys.Owner(ctx, args[0])
		if err == nil {
			err = keys.Revoke(ctx, owner, args[0])
		}
		if errors.Is(err, account.ErrNotFound) {
			return fmt.Errorf("no active key has the id %s", args[0])
		}
		return err
	})
}

// keyLine is a key in the form of --json.
type keyLine struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	Prefix     string `json:"prefix"`
	CreatedAt  string `json:"createdAt"`
	LastUsedAt string `json:"lastUsedAt,omitempty"`
}

func newKeyLines(keys []account.Key) []keyLine {
	lines := make([]keyLine, len(keys))
	for i, k := range keys {
		lines[i] = keyLine{ID: k.ID, Name: k.Name, Prefix: k.Prefix, CreatedAt: k.CreatedAt.UTC().Format(time.RFC3339)}
		if !k.LastUsedAt.IsZero() {
			lines[i].LastUsedAt = k.LastUsedAt.UTC().Format(time.RFC3339)
		}
	}
	return lines
}

func (m *admin) keyList() *cobra.Command {
	return m.withJSON(m.accountCommand("list EMAIL", "list an account's active keys", func(ctx context.Context, db *store.DB, acct account.Account) error {
		keys, err := account.NewKeys(db).List(ctx, acct.ID)
		if err != nil {
			return err
		}
		if m.asJSON {
			return m.JSON(newKeyLines(keys))
		}
		return m.printKeys(keys)
	}))
}

func (m *admin) printKeys(keys []account.Key) error {
	w := tabwriter.NewWriter(m.Out, 0, 0, 2, ' ', 0)
	for _, l := range newKeyLines(keys) {
		fmt.Fprintf(w, "%s\t%s…\t%s\tlast used %s\n", l.ID, l.Prefix, term.Printable(l.Name), cmp.Or(l.LastUsedAt, "never"))
	}
	return w.Flush()
}
