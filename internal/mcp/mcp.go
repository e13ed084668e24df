// Package mcp offers removals to assistants: as tools of the Model Context Protocol,
// which work on local files, and on jobs of a service.
package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bgremove/bgremove/pkg/bgremove"
	"github.com/bgremove/bgremove/pkg/client"
	"github.com/bgremove/bgremove/pkg/option"
)

// Config says what the tools may use.
type Config struct {
	Version string // of the program
	// Roots are the only folders in which tools read and write files. There is at least
	// one. Relative paths begin at the first.
	Roots []string
	// Remover works on local files.
	Remover *bgremove.Remover
	// Service takes jobs; without it there are no tools for them. JobOptions puts
	// options into its form.
	Service    *client.Client
	JobOptions func(option.Options) client.JobOptions
	// Hint is what whoever set the tools up can do about an error; it may be empty.
	Hint func(error) string
}

// server is what the tools share.
type server struct {
	Config
	folders folders
	// turn is held by the removal that runs: one keeps all cores busy.
	turn chan struct{}
}

// New makes a server with all tools. The error is about the Roots.
func New(c Config) (*sdk.Server, error) {
	folders, err := openFolders(c.Roots)
	if err != nil {
		return nil, err
	}
	s := &server{Config: c, folders: folders, turn: make(chan struct{}, 1)}
	m := sdk.NewServer(&sdk.Implementation{Name: "bgremove", Title: "bgremove", Version: c.Version}, &sdk.ServerOptions{
		Instructions: fmt.Sprintf(`These tools take the background out of animations, videos and pictures. Files must lie in %s. Relative paths begin at %s.`,
			option.List(folders.names(), "or"), folders[0].given),
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
	})
	s.addRemove(m)
	s.addProbe(m)
	if c.Service != nil {
		s.addJobs(m)
	}
	return m, nil
}

// Serve answers one assistant until it hangs up, and its calls have ended. When ctx
// ends, it ends them too; the error is then its cause.
func Serve(ctx context.Context, c Config, in io.ReadCloser, out io.WriteCloser) error {
	s, err := New(c)
	if err != nil {
		return err
	}
	var calls sync.WaitGroup
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(call context.Context, method string, r sdk.Request) (sdk.Result, error) {
			calls.Add(1)
			defer calls.Done()
			call, end := context.WithCancelCause(call)
			defer end(nil)
			defer context.AfterFunc(ctx, func() { end(context.Cause(ctx)) })()
			return next(call, method, r)
		}
	})
	err = s.Run(ctx, &sdk.IOTransport{Reader: in, Writer: out})
	calls.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// call is one use of a tool.
type call struct {
	*sdk.CallToolRequest
	arguments arguments
	pictures  []sdk.Content // that the assistant is shown beside the result
}

// addTool adds a tool. What it gets wrong is told to the assistant as the tool's own
// error, and not as one of the protocol.
func addTool[Result any](m *sdk.Server, t *sdk.Tool, do func(context.Context, *call) (Result, error)) {
	output, err := jsonschema.For[Result](nil)
	if err != nil {
		panic(fmt.Sprintf("mcp: the result of %s: %v", t.Name, err)) // it is part of the program
	}
	t.OutputSchema = output
	m.AddTool(t, func(ctx context.Context, request *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		c := &call{CallToolRequest: request}
		var result Result
		err := c.arguments.read(request.Params.Arguments, t)
		if err == nil {
			result, err = do(ctx, c)
		}
		if err != nil {
			return failed(err), nil
		}
		text, err := json.Marshal(result)
		if err != nil {
			return nil, err
		}
		content := append([]sdk.Content{&sdk.TextContent{Text: string(text)}}, c.pictures...)
		return &sdk.CallToolResult{StructuredContent: json.RawMessage(text), Content: content}, nil
	})
}

// failed is the result of a tool that has failed: each problem in a line.
func failed(err error) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: strings.TrimSpace(err.Error())}}}
}

// progress tells the assistant how far a call is, if it asked for that: at most once
// for each percent, and never less than before.
func (c *call) progress(ctx context.Context, message string) func(done, total float64) {
	token := c.Params.GetProgressToken()
	told := -1
	return func(done, total float64) {
		if token == nil || total <= 0 {
			return
		}
		if percent := int(100 * min(1, done/total)); percent > told {
			told = percent
			// A message that cannot be sent is not worth a failure: the result will not arrive either.
			_ = c.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{ProgressToken: token, Message: message, Progress: min(done, total), Total: total})
		}
	}
}

// object is the schema of a tool's arguments.
func object(required []string, all map[string]*jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "object", Properties: all, Required: required, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
}
