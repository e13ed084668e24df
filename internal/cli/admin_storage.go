package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bgremove/bgremove/internal/cli/flags"
	"github.com/bgremove/bgremove/internal/cli/term"
	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/blob"
	"github.com/bgremove/bgremove/internal/service/deployment"
	"github.com/bgremove/bgremove/internal/service/store"
)

// storageCommand makes a command from run, which gets the open database and storage of
// a service.
func (m *admin) storageCommand(use, short string, args cobra.PositionalArgs, run func(context.Context, *store.DB, *blob.Store, []string) error) *cobra.Command {
	cmd := m.command(use, short, args, func(ctx context.Context, db *store.DB, args []string) error {
		blobs, err := blob.Open(ctx, m.location.storage, blob.Options{})
		if err != nil {
			return err
		}
		return errors.Join(run(ctx, db, blobs, args), blobs.Close())
	})
	m.location.addStorageFlag(cmd.Flags())
	return cmd
}

func (m *admin) storageAdopt() *cobra.Command {
	cmd := m.storageCommand("adopt", "make the storage that of the database, whatever it was", noArguments,
		func(ctx context.Context, db *store.DB, blobs *blob.Store, _ []string) error {
			if err := deployment.Adopt(ctx, db, blobs); err != nil {
				return err
			}
			m.Message("the storage now belongs to this database; within a day sweeps remove all files that no job names, however many")
			return nil
		})
	cmd.Long = `adopt is for a storage and a database that were restored apart: serve refuses to
start on a storage that belongs to another database, since everything in it would
look like what no job names. Be sure that it is the right one.`
	return cmd
}

func (m *admin) backup() *cobra.Command {
	cmd := m.storageCommand("backup DIR", "copy a SQLite database and its files into a new folder", flags.OneArgument("DIR"),
		func(ctx context.Context, db *store.DB, blobs *blob.Store, args []string) error {
			copied, err := deployment.Backup(ctx, db, blobs, args[0])
			if err != nil {
				return err
			}
			m.Message("%s: the database and %s", args[0], fileCount(copied))
			return nil
		})
	cmd.Long = `backup may run while the service does. The database is of one moment, with the
files that its jobs had then; each is held against its SHA-256. DIR appears once
all is in it. A service on PostgreSQL is backed up by pg_dump and by a copy of its
storage, see docs/operations.md.`
	return cmd
}

func (m *admin) restore() *cobra.Command {
	cmd := &cobra.Command{Use: "restore DIR", Short: "put a backup back where there is no service yet", Args: flags.OneArgument("DIR"),
		Long: `restore makes the database and the files of a backup those of --data, which must
have neither. Each file is held against its SHA-256. The database comes last.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := m.location.check(); err != nil {
				return flags.Usage(cmd, err)
			}
			if err := m.location.setDefaults(); err != nil {
				return err
			}
			path, isFile := strings.CutPrefix(m.location.database, "sqlite:")
			if !isFile {
				return flags.Usage(cmd, errors.New("a backup is restored into a SQLite database; PostgreSQL has pg_restore"))
			}
			blobs, err := blob.Open(cmd.Context(), m.location.storage, blob.Options{})
			if err != nil {
				return err
			}
			copied, err := deployment.Restore(cmd.Context(), args[0], path, blobs)
			if err := errors.Join(err, blobs.Close()); err != nil {
				return err
			}
			m.Message("%s: the database and %s", path, fileCount(copied))
			return nil
		}}
	m.location.addFlags(cmd.Flags())
	m.location.addStorageFlag(cmd.Flags())
	return cmd
}

func fileCount(c deployment.Copied) string {
	return fmt.Sprintf("%s, %s", term.Count(c.Objects, "file"), term.ByteSize(c.Bytes))
}

func (m *admin) verify() *cobra.Command {
	var read bool
	cmd := m.withJSON(m.storageCommand("verify", "check that every balance and every file is right", noArguments,
		func(ctx context.Context, db *store.DB, blobs *blob.Store, _ []string) error {
			wrong, err := account.NewLedger(db).Verify(ctx)
			if err != nil {
				return err
			}
			checked, problems, err := deployment.Verify(ctx, db, blobs, read)
			if err != nil {
				return err
			}
			return m.printVerified(wrong, checked, problems)
		}))
	cmd.Flags().BoolVar(&read, "read", false, "read all files, and hold them against their SHA-256")
	return cmd
}

func (m *admin) printVerified(wrong []account.Discrepancy, checked deployment.Copied, problems []deployment.Problem) error {
	if m.asJSON {
		files := []map[string]string{}
		for _, p := range problems {
			files = append(files, map[string]string{"job": p.JobID, "key": p.Key, "problem": p.What})
		}
		if err := m.JSON(map[string]any{
			"ok": len(wrong)+len(problems) == 0, "files": checked.Objects, "bytes": checked.Bytes, "wrong": discrepancies(wrong), "problems": files,
		}); err != nil {
			return err
		}
	}
	m.printDiscrepancies(wrong)
	for _, p := range problems {
		m.Message("%s: %s: %s", p.JobID, p.Key, p.What)
	}
	if len(wrong)+len(problems) > 0 {
		return fmt.Errorf("wrong: %s and %s", term.Count(len(wrong), "balance"), term.Count(len(problems), "file"))
	}
	if !m.asJSON {
		fmt.Fprintf(m.Out, "every balance is the sum of its ledger; %s are as they were stored\n", fileCount(checked))
	}
	return nil
}
