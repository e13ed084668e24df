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

func killGroup(p *os.Process) error { return p.Kill() }
