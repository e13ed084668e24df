package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/account"
	"github.com/bgremove/bgremove/internal/store"
)

func (m *admin) keyCreate() *cobra.Command {
	var name string
	cmd := m.reading(m.command("create EMAIL", "make an API key and print it, once", oneArgument("EMAIL"), func(ctx context.Context, db *store.DB, args []string) error {
		who, err := find(ctx, account.New(db), args[0])
		if err != nil {
			return err
		}
		key, secret, err := account.NewKeys(db).Create(ctx, who.ID, name)
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
	return m.command("revoke KEY_ID", "end an API key at once", oneArgument("KEY_ID"), func(ctx context.Context, db *store.DB, args []string) error {
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
