//go:build !linux

package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
)

const self = ""

// Check reports that nothing holds here.
func Check() Support { return Support{Missing: "not available on " + runtime.GOOS} }

func execConfined(string, string, []string) error { return errors.ErrUnsupported }

func endedFor(*os.ProcessState, Limits) Resource { return "" }

// Audit does nothing here.
type Audit struct{}

// Start does nothing.
func (*Audit) Start() {}

// Close does nothing.
func (*Audit) Close() {}

func audit(*exec.Cmd, func(string)) (*Audit, int) { return nil, 0 }
