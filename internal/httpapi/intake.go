package httpapi

import (
	"errors"
	"io"
	"sync"
	"time"

	"github.com/bgremove/bgremove/internal/account"
)

// intake bounds the bytes of uploads that lie in storage and are not paid for
// yet, in all and for each account. It is safe for concurrent use.
type intake struct {
	all, each int64        // bytes
	room      func() error // of the disk

	mu       sync.Mutex
	taken    int64
	accounts map[string]int64
}

func newIntake(all, each int64, room func() error) *intake {
	return &intake{all: all, each: each, room: room, accounts: make(map[string]int64)}
}

// errCrowded is an upload for which others leave no space.
var errCrowded = errors.New("too many uploads in progress")

// retryCrowded is what an account is asked to wait that uploads too much.
const retryCrowded = 10 * time.Second

// roomEvery is after how many bytes of an upload the disk is looked at again.
const roomEvery = 16 << 20

// take counts n more bytes of an account. The error is an *account.LimitedError
// where they are too many of it, errCrowded where they are of all.
func (in *intake) take(accountID string, n int64) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.accounts[accountID]+n > in.each:
		return &account.LimitedError{RetryAfter: retryCrowded}
	case in.taken+n > in.all:
		return errCrowded
	}
	in.accounts[accountID] += n
	in.taken += n
	return nil
}

// giveBack ends what take counted.
func (in *intake) giveBack(accountID string, n int64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.taken -= n
	if in.accounts[accountID] -= n; in.accounts[accountID] == 0 {
		delete(in.accounts, accountID)
	}
}

// onTheWay is the current sum, in bytes.
func (in *intake) onTheWay() int64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.taken
}

// metered is an upload that is counted while it is read, until release. It ends
// when it exceeds a limit.
type metered struct {
	r         io.Reader
	in        *intake
	accountID string
	taken     int64
	looked    int64 // at the disk, when so much had been taken
	err       error // that has ended it, if it was too much
}

func (m *metered) Read(p []byte) (int, error) {
	if m.taken == 0 || m.taken-m.looked >= roomEvery {
		if m.err = m.in.room(); m.err != nil {
			return 0, m.err
		}
		m.looked = m.taken
	}
	n, err := m.r.Read(p)
	if m.err = m.in.take(m.accountID, int64(n)); m.err != nil {
		return 0, m.err
	}
	m.taken += int64(n)
	return n, err
}

// release subtracts the counted bytes.
func (m *metered) release() {
	m.in.giveBack(m.accountID, m.taken)
	m.taken = 0
}
