package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver"
)

// command is a running command.
type command struct {
	in   io.WriteCloser
	out  io.ReadCloser
	errs chan string // the lines of standard error
	done chan error
}

func start(ctx context.Context, env map[string]string, args ...string) *command {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	errsR, errsW := io.Pipe()
	c := &command{in: inW, out: outR, errs: make(chan string, 10), done: make(chan error, 1)}
	go func() {
		defer close(c.errs)
		for lines := bufio.NewScanner(errsR); lines.Scan(); {
			c.errs <- lines.Text()
		}
	}()
	go func() {
		err := run(ctx, args, func(name string) string { return env[name] }, inR, outW, errsW)
		_ = outW.Close()
		_ = errsW.Close()
		c.done <- err
	}()
	return c
}

// says waits for a line on standard error that begins with prefix, and returns
// the rest of it.
func (c *command) says(t *testing.T, prefix string) string {
	t.Helper()
	for line := range c.errs {
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			return rest
		}
	}
	t.Fatalf("the command ended without the output %q: %v", prefix, <-c.done)
	return ""
}

func connect(t *testing.T, transport sdk.Transport) *sdk.ClientSession {
	t.Helper()
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// list calls the tool and returns its text.
func list(t *testing.T, s *sdk.ClientSession, listID int64) string {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{
		Name:      "contacts",
		Arguments: map[string]any{"operation": "list", "list_id": listID},
	})
	require.NoError(t, err)
	return r.Content[0].(*sdk.TextContent).Text
}

func TestDemoOverStdio(t *testing.T) {
	t.Parallel()
	c := start(t.Context(), nil, "-demo")
	c.says(t, "Using the built-in mock server. It has a sample list with the id 1. The access token is dev-token.")
	s := connect(t, &sdk.IOTransport{Reader: c.out, Writer: c.in})
	if got := list(t, s, 1); !strings.Contains(got, "3 of 3;") || !strings.Contains(got, "ada@example.com active") {
		t.Errorf("got %s", got)
	}
	assert.NoError(t, errors.Join(s.Close(), <-c.done), "when its input ends")
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	p := mockserver.Start(mockserver.Config{Tokens: []mockserver.Token{{Value: "from-the-environment"}}})
	defer p.Close()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	c := start(ctx, map[string]string{"EMAILPLATFORM_BASE_URL": p.URL(), "EMAILPLATFORM_TOKEN": "from-the-environment"})
	got := list(t, connect(t, &sdk.IOTransport{Reader: c.out, Writer: c.in}), 99)
	assert.Contains(t, got, "this account has no list")
	stop()
	assert.NoError(t, <-c.done, "when stopped")
	for line := range c.errs {
		t.Errorf("when stopped, the command logs %s", line)
	}
}

type caller string

func (c caller) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(c))
	return http.DefaultTransport.RoundTrip(r)
}

func TestDemoOverHTTP(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	c := start(ctx, map[string]string{"EMAILPLATFORM_TOKEN": "of-no-use-here"}, "-demo", "-http", "127.0.0.1:0",
		"-allow-host", "a.example.com", "-allow-host", "b.example.com") // as with a reverse proxy
	url := c.says(t, "Serving MCP at ")

	s := connect(t, &sdk.StreamableClientTransport{
		Endpoint:             url,
		HTTPClient:           &http.Client{Transport: caller("dev-token")},
		DisableStandaloneSSE: true,
	})
	assert.Contains(t, list(t, s, 1), "3 of 3;")
	for _, row := range []struct {
		path, host string
		want       int
	}{
		{url, "", http.StatusUnauthorized},
		{url, "a.example.com", http.StatusUnauthorized},
		{url, "b.example.com", http.StatusUnauthorized},
		{url, "c.example.com", http.StatusForbidden},
		{strings.TrimSuffix(url, "mcp"), "", http.StatusNotFound},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, row.path, nil)
		require.NoError(t, err)
		r.Host = row.host
		response, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		_ = response.Body.Close()
		assert.Equal(t, row.want, response.StatusCode, "%s of %q without a token: %s", row.path, row.host, response.Status)
	}
	stop()
	assert.NoError(t, <-c.done, "when asked to stop")
}

func noEnvironment(string) string { return "" }

func TestFlags(t *testing.T) {
	t.Parallel()
	const url = "https://api.example.com"
	for _, row := range []struct {
		name, args string
		want       string
	}{
		{"nothing", "", "set EMAILPLATFORM_BASE_URL"},
		{"no token", "-base-url " + url, "EMAILPLATFORM_TOKEN is not set"},
		{"an invalid base URL", "-base-url api.example.com -token t", "must be an absolute http or https URL"},
		{"HTTP without a base URL", "-http 127.0.0.1:0", "set EMAILPLATFORM_BASE_URL"},
		{"a token for HTTP", "-http 127.0.0.1:0 -token very-secret -base-url " + url, "each caller sends its own"},
		{"a demo of another platform", "-demo -base-url " + url, "cannot be used with -base-url"},
		{"open to the network", "-demo -http :8808", "-allow-host is required"},
		{"open to the network, by address", "-demo -http 192.0.2.1:8808", "-allow-host is required"},
		{"a host without HTTP", "-demo -allow-host mcp.example.com", "requires -http"},
		{"a limit without HTTP", "-demo -max-concurrent 5", "-max-concurrent requires -http"},
		{"an invalid address", "-demo -http 8808", "missing port in address"},
		{"an argument", "-demo serve", `unexpected argument "serve"`},
		{"a negative limit", "-demo -http 127.0.0.1:0 -max-concurrent -1", "MaxConcurrent must be at least 0"},
		{"an unknown flag", "-verbose", "not defined: -verbose; see emailplatform-mcp -h"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			err := run(t.Context(), strings.Fields(row.args), noEnvironment, io.NopCloser(strings.NewReader("")), io.Discard, io.Discard)
			if err == nil || !strings.Contains(err.Error(), row.want) || strings.Contains(err.Error(), "very-secret") {
				t.Errorf("got %v, want an error about %s", err, row.want)
			}
			_, usage := errors.AsType[usageError](err)
			assert.True(t, usage, "the exit code is not 2")
		})
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	err := run(t.Context(), []string{"-help"}, func(string) string { return "very-secret" }, nil, &said, io.Discard)
	if !errors.Is(err, flag.ErrHelp) || strings.Contains(said.String(), "very-secret") {
		t.Errorf("got %v and %s; want help without the token", err, said.String())
	}
	for want := range strings.FieldsSeq("-base-url -token -http -allow-host -demo EMAILPLATFORM_TOKEN") {
		assert.Contains(t, said.String(), want, "does not mention")
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, run(t.Context(), []string{"-version"}, noEnvironment, nil, &out, io.Discard))
	build, _ := debug.ReadBuildInfo()
	if out.String() != version(build)+"\n" {
		t.Errorf("printed %q, want %q", out.String(), version(build))
	}
	release := &debug.BuildInfo{Main: debug.Module{Version: "v0.2.0"}}
	program := ", " + runtime.Version() + ", " + runtime.GOOS + "/" + runtime.GOARCH
	for build, want := range map[*debug.BuildInfo]string{nil: "(unknown)", release: "v0.2.0"} {
		if got := version(build); got != "emailplatform-mcp "+want+program {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestInvalidMessagesOverStdio: invalid lines and batches get JSON-RPC errors, and valid requests between them get
// responses. If a line is too long, its error contains the id from the beginning or the end of the line.
func TestInvalidMessagesOverStdio(t *testing.T) {
	t.Parallel()
	c := start(t.Context(), nil, "-demo")
	largest := `[` + strings.Repeat(`4,`, maxBatch-1) + `{"jsonrpc":"2.0","id":6,"method":"ping"}`
	largest += strings.Repeat(" ", maxLine-len(largest)-1) + `]`
	long := `{"jsonrpc":"2.0","id":10,"method":"ping"}`
	long += strings.Repeat(" ", maxLine+1-len(long))
	go func() {
		_, _ = io.WriteString(c.in, strings.Join([]string{
			`hello`,
			"\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},` +
				`"clientInfo":{"name":"t","version":"1"}}}`,
			``,
			`{"jsonrpc":"2.0","id":7`,
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"id":8}`,
			`{"jsonrpc":"2.0","id":9}`,
			strings.Repeat(" ", maxLine) + `{}` + strings.Repeat("x", maxLine),
			`[]`,
			`[` + strings.Repeat(`1,`, maxBatch) + `1]`,
			`[{"jsonrpc":"2.0","id":3,"method":"ping"}, 4, {"jsonrpc":"2.0","method":"notifications/initialized"}, ` +
				`{"jsonrpc":"2.0","id":5,"method":"tools/list"}]`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"contacts","arguments":{"operation":"list","list_id":1}}}`,
			strings.Repeat(" ", maxLine),
			largest,
			long,
			`{"method":"ping","params":{"id":1,"x":"` + strings.Repeat("x", 3*maxLine) + `"},"jsonrpc":"2.0","id":12}`,
			`{"method":"ping","params":{"x":"` + strings.Repeat("x", maxLine) + `"},"id":"13","jsonrpc":"2.0"}`,
			`{"method":"ping","params":{"x":"` + strings.Repeat("x", maxLine) + `","id":14},"jsonrpc":"2.0"}`,
			`{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
			`{"jsonrpc":"2.0","id":11,"method":"ping"}`,
		}, "\r\n")) // the last line has no line ending
		_ = c.in.Close()
	}()
	var got []string
	for lines := bufio.NewScanner(c.out); lines.Scan(); {
		var m struct {
			ID    any
			Error struct{ Code int }
		}
		assert.NoError(t, json.Unmarshal(lines.Bytes(), &m), lines.Text())
		got = append(got, fmt.Sprint(m.ID, " ", m.Error.Code))
	}
	slices.Sort(got)
	want := slices.Concat([]string{"1 0", "1.5 -32600", "10 -32600", "11 0", "12 -32600", "13 -32600", "2 0", "3 0", "5 0", "6 0"},
		slices.Repeat([]string{"<nil> -32600"}, 7+maxBatch-1), slices.Repeat([]string{"<nil> -32700"}, 2))
	assert.Equal(t, want, got, "responses")
	assert.NoError(t, <-c.done)
}
