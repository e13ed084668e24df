//go:build !linux

package sandbox

import (
	"errors"
	"os"
	"runtime"
)

const self = ""

// Check says that nothing holds here.
func Check() Holds { return Holds{Missing: "not available on " + runtime.GOOS} }

func become(string, string, []string) error { return errors.ErrUnsupported }

func endedFor(*os.ProcessState, Limits) Resource { return "" }
