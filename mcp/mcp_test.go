package mcp_test

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mcp"
	"example.com/emailplatform/mockserver"
)

//go:generate go test -run ^TestTools$ -update

var update = flag.Bool("update", false, "rewrite the golden files")

type args = map[string]any

// newClient returns a client without retries that sends its requests through transport.
func newClient(t testing.TB, transport http.RoundTripper, token string) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{
		BaseURL:    "http://127.0.0.1:0",
		Token:      token,
		HTTPClient: &http.Client{Transport: transport},
		Retry:      client.RetryConfig{MaxAttempts: 1},
	})
	require.NoError(t, err)
	return c
}

// newPlatform returns an in-memory mock server that validates its responses.
func newPlatform(t testing.TB, tokens ...mockserver.Token) *mockserver.Server {
	t.Helper()
	p := mockserver.New(mockserver.Config{
		Tokens:      tokens,
		OnViolation: func(err error) { t.Errorf("a request or response violates openapi.yaml: %v", err) },
	})
	t.Cleanup(p.Close)
	return p
}

// newList returns the id of a new list.
func newList(t testing.TB, c *client.Client) int64 {
	t.Helper()
	list, err := c.Lists.Create(t.Context(), client.ListCreate{Name: "Newsletter"})
	require.NoError(t, err)
	return list.ID
}

// newAccount returns the client of an account on a new platform with one list, and an assistant of this account.
func newAccount(t testing.TB) (p *mockserver.Server, c *client.Client, list int64, s *session) {
	t.Helper()
	p = newPlatform(t)
	c = newClient(t, p.Transport(), p.Token())
	return p, c, newList(t, c), connect(t, mcp.NewServer(c, mcp.Options{}))
}

// connectTo returns an assistant of a server whose requests go through transport.
func connectTo(t testing.TB, transport http.RoundTripper) *session {
	t.Helper()
	return connect(t, mcp.NewServer(newClient(t, transport, "token"), mcp.Options{}))
}

// session is an assistant's connection.
type session struct {
	*sdk.ClientSession
	output map[string]*jsonschema.Resolved
}

// connect returns an assistant that is connected to server in memory.
func connect(t testing.TB, server *sdk.Server) *session {
	t.Helper()
	here, there := sdk.NewInMemoryTransports()
	if _, err := server.Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	return open(t, here)
}

func open(t testing.TB, transport sdk.Transport) *session {
	t.Helper()
	cs, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = cs.Close() })
	s := &session{cs, map[string]*jsonschema.Resolved{}}
	for tool, err := range cs.Tools(t.Context(), nil) {
		require.NoError(t, err)
		encoded, err := json.Marshal(tool.OutputSchema)
		require.NoError(t, err)
		var schema jsonschema.Schema
		require.NoError(t, json.Unmarshal(encoded, &schema))
		if s.output[tool.Name], err = schema.Resolve(nil); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// call calls a tool, and ends the test on a protocol error. A result must match the output schema of the tool.
func (s *session) call(ctx context.Context, t testing.TB, tool string,
	arguments any,
) (text string, structured map[string]any, isError bool) {
	t.Helper()
	r, err := s.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: arguments})
	require.NoError(t, err, "%s %v", tool, arguments)
	require.Len(t, r.Content, 1, "pieces of content")
	text = r.Content[0].(*sdk.TextContent).Text
	if r.IsError {
		return text, nil, true
	}
	assert.NoError(t, s.output[tool].Validate(r.StructuredContent), "%s %v: structured content", tool, arguments)
	return text, r.StructuredContent.(map[string]any), false
}

// ok calls a tool that must succeed.
func (s *session) ok(t testing.TB, tool string, arguments any) (text string, structured map[string]any) {
	t.Helper()
	text, structured, isError := s.call(t.Context(), t, tool, arguments)
	if isError {
		t.Fatalf("%s %v: %s", tool, arguments, text)
	}
	return text, structured
}

// fails calls a tool that must fail, and returns the error text.
func (s *session) fails(t testing.TB, tool string, arguments any) string {
	t.Helper()
	text, structured, isError := s.call(t.Context(), t, tool, arguments)
	if !isError {
		t.Fatalf("%s %v: no error: %v", tool, arguments, structured)
	}
	return text
}

// TestTools compares the tool descriptions with testdata/tools.json. It also checks that the schemas use only features
// that every assistant supports.
func TestTools(t *testing.T) {
	t.Parallel()
	s := connectTo(t, nil)
	list, err := s.ListTools(t.Context(), nil)
	require.NoError(t, err)
	server := s.InitializeResult().ServerInfo
	want := "(unknown)" // in the tests of another module
	if build, _ := debug.ReadBuildInfo(); build.Main.Path == "example.com/emailplatform/mcp" {
		want = cmp.Or(build.Main.Version, want)
	}
	assert.Equal(t, want, server.Version, "version")
	server.Version = "of the build"
	got, err := json.MarshalIndent(map[string]any{"initialize": s.InitializeResult(), "tools": list.Tools}, "", "  ")
	require.NoError(t, err)
	for _, keyword := range []string{`"oneOf"`, `"anyOf"`, `"allOf"`, `"$ref"`, `: "null"`, `"type": [`} {
		assert.NotContains(t, string(got), keyword, "a schema has")
	}
	golden := filepath.Join("testdata", "tools.json")
	if *update {
		require.NoError(t, os.WriteFile(golden, append(got, '\n'), 0o644))
	}
	tools, err := os.ReadFile(golden)
	require.NoError(t, err)
	if string(got) != strings.TrimSuffix(strings.ReplaceAll(string(tools), "\r\n", "\n"), "\n") {
		t.Errorf("the tools changed; see the difference with: go test -run TestTools -update && git diff\n%s", got)
	}
}

func TestUnsupportedMethods(t *testing.T) {
	t.Parallel()
	s := connectTo(t, nil)
	for name, ask := range map[string]func() error{
		"prompts":   func() error { _, err := s.ListPrompts(t.Context(), nil); return err },
		"resources": func() error { _, err := s.ListResources(t.Context(), nil); return err },
		"another tool": func() error {
			_, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "lists"})
			return err
		},
	} {
		assert.Error(t, ask(), "%s: no error", name)
	}
}
