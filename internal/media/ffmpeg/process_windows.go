package ffmpeg

import (
	"os"
	"os/exec"

	"golang.org/x/sys/windows"
)

// isolate keeps the console's Ctrl-C from the child, so that we decide when it
// ends.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &windows.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP}
}

// enlargePipe does nothing: the size of pipes is fixed here.
func enlargePipe(any) {}

func killGroup(p *os.Process) error { return p.Kill() }

func start(cmd *exec.Cmd) error { return cmd.Start() }
