package httpapi

import (
	"errors"
	"io"
	"sync"
	"time"

	"github.com/bgremove/bgremove/internal/service/account"
)

// uploadQuota bounds the bytes of uploads that lie in storage and are not paid for
// yet, in all and for each account. It is safe for concurrent use.
type uploadQuota struct {
	total, perAccount int64        // bytes
	room              func() error // of the disk

	mu        sync.Mutex
	used      int64
	byAccount map[string]int64
}

func newUploadQuota(all, each int64, room func() error) *uploadQuota {
	return &uploadQuota{total: all, perAccount: each, room: room, byAccount: make(map[string]int64)}
}

// errUploadsFull is an upload for which others leave no space.
var errUploadsFull = errors.New("too many uploads in progress")

// retryUploads is what an account is asked to wait that uploads too much.
const retryUploads = 10 * time.Second

// checkDiskEvery is after how many bytes of an upload the disk is looked at again.
const checkDiskEvery = 16 << 20

// reserve counts n more bytes of an account. The error is an *account.LimitedError
// where they are too many of it, errUploadsFull where they are of all.
func (in *uploadQuota) reserve(accountID string, n int64) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.byAccount[accountID]+n > in.perAccount:
		return &account.LimitedError{RetryAfter: retryUploads}
	case in.used+n > in.total:
		return errUploadsFull
	}
	in.byAccount[accountID] += n
	in.used += n
	return nil
}

// release ends what reserve counted.
func (in *uploadQuota) release(accountID string, n int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.used -= n
	if in.byAccount[accountID] -= n; in.byAccount[accountID] == 0 {
		delete(in.byAccount, accountID)
	}
}

// inUse is the current sum, in bytes.
func (in *uploadQuota) inUse() int64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.used
}

// metered is an upload that is counted while it is read, until release. It ends
// when it exceeds a limit.
type metered struct {
	r         io.Reader
	quota     *uploadQuota
	accountID string
	counted   int64
	checked   int64 // at the disk, when so much had been taken
	err       error // that has ended it, if it was too much
}

func (m *metered) Read(p []byte) (int, error) {
	if m.counted == 0 || m.counted-m.checked >= checkDiskEvery {
		if m.err = m.quota.room(); m.err != nil {
			return 0, m.err
		}
		m.checked = m.counted
	}
	n, err := m.r.Read(p)
	if m.err = m.quota.reserve(m.accountID, int64(n)); m.err != nil {
		return 0, m.err
	}
	m.counted += int64(n)
	return n, err
}

// release subtracts the counted bytes.
func (m *metered) release() {
	m.quota.release(m.accountID, m.counted)
	m.counted = 0
}
