package job

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bgremove/bgremove/internal/service/store"
)

// NoteBackup keeps which objects the last backup has: the sweeper takes none of
// them for an orphan.
func (s *Service) NoteBackup(ctx context.Context, keys []string) error {
	err := s.db.Tx(ctx, func(tx *store.Tx) error {
		if _, err := tx.ExecContext(ctx, "DELETE FROM backup_objects"); err != nil {
			return err
		}
		for some := range slices.Chunk(keys, sweepAtOnce) {
			var (
				rows []string
				args []any
			)
			for _, key := range some {
				args = append(args, key)
				rows = append(rows, fmt.Sprintf("($%d)", len(args)))
			}
			if _, err := tx.ExecContext(ctx, "INSERT INTO backup_objects (key) VALUES "+strings.Join(rows, ", "), args...); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap("note the backup", err)
}
