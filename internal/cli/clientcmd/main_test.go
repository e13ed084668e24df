package clientcmd_test

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bgremove/bgremove/internal/cli/clitest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"bgremove": func() { clitest.Main(nil) }})
}
