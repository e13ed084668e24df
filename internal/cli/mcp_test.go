package cli_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An assistant starts the command, uses a tool, and hangs up.
func TestAssistant(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	draw := exec.CommandContext(t.Context(), "draw", "clip.gif", "10", "10")
	draw.Dir = dir
	if said, err := draw.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	cmd := exec.Command("bgremove", "mcp")
	var stderr strings.Builder
	cmd.Dir, cmd.Stderr = dir, &stderr
	cmd.Env = append(os.Environ(), "BGREMOVE_SERVER=http://127.0.0.1:1", "BGREMOVE_API_KEY=bgr_1")
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 6 {
		t.Errorf("%v %+v", err, tools)
	}
	if said := session.InitializeResult(); said.ServerInfo.Version != "1.2.3-test" || !strings.Contains(said.Instructions, dir) {
		t.Errorf("%+v", said)
	}
	made, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "remove", Arguments: map[string]any{"input": "clip.gif"}})
	if err != nil || made.IsError {
		t.Fatalf("%v %+v", err, made)
	}
	var result struct{ Path string }
	if err := json.Unmarshal([]byte(made.Content[0].(*mcp.TextContent).Text), &result); err != nil || result.Path != filepath.Join(dir, "clip-nobg.gif") {
		t.Errorf("%v %+v", err, result)
	}
	if _, err := os.Stat(result.Path); err != nil {
		t.Error(err)
	}
	if err := session.Close(); err != nil || stderr.Len() > 0 {
		t.Errorf("%v, stderr %q", err, &stderr)
	}
}

// The whole disk is never a folder for tools by accident.
func TestAssistantOnTheWholeDisk(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "bgremove", "mcp")
	cmd.Dir = filepath.VolumeName(t.TempDir()) + string(filepath.Separator)
	said, err := cmd.CombinedOutput()
	if err == nil || cmd.ProcessState.ExitCode() != 2 || !strings.Contains(string(said), "name the folders that the tools may use with --root") {
		t.Errorf("%v: %s", err, said)
	}
}
