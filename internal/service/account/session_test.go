package account_test

import (
	"testing"
	"time"

	"github.com/bgremove/bgremove/internal/service/account"
	"github.com/bgremove/bgremove/internal/service/store"
	"github.com/bgremove/bgremove/internal/service/store/storetest"
)

func TestSessions(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		sessions := account.NewSessions(db)
		find := func(token, want string) {
			t.Helper()
			data, found, err := sessions.Find(token)
			if err != nil || found != (want != "") || string(data) != want {
				t.Errorf("%s: %q %v %v", token, data, found, err)
			}
		}
		commit := func(token, data string, lifetime time.Duration) {
			t.Helper()
			if err := sessions.Commit(token, []byte(data), time.Now().Add(lifetime)); err != nil {
				t.Fatal(err)
			}
		}
		find("a", "")
		commit("a", "one", time.Hour)
		commit("a", "two\x00\xff", time.Hour)
		commit("b", "over", -time.Hour)
		find("a", "two\x00\xff")
		find("b", "")
		if n, err := sessions.Sweep(t.Context()); n != 1 || err != nil {
			t.Errorf("%d swept, %v", n, err)
		}
		if err := sessions.Delete("a"); err != nil {
			t.Fatal(err)
		}
		find("a", "")
		if err := sessions.Delete("a"); err != nil {
			t.Errorf("deleted twice: %v", err)
		}
	})
}
