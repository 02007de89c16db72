package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

// receiver records the last delivery.
type receiver struct {
	body, signature string
	status          int
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, _ := io.ReadAll(req.Body)
	r.body, r.signature = string(body), req.Header.Get(webhook.DefaultSignatureHeader)
	w.WriteHeader(r.status)
	_, _ = io.WriteString(w, "thank you")
}

func TestTriggerSends(t *testing.T) {
	got := &receiver{status: http.StatusOK}
	server := httptest.NewServer(got)
	defer server.Close()
	var out strings.Builder
	require.NoError(t, run(t.Context(), []string{
		"trigger", "-variant", "workflow", "Email.Bounced", "-set", "data.bounce.category=bounce_mb", "-url", server.URL, "-secret", "S",
	}, nil, &out))
	verifier, err := webhook.NewVerifier(parsed(t))
	require.NoError(t, err)
	assert.NoError(t, verifier.Verify([]byte(got.body), got.signature))
	ev, err := events.Parse([]byte(got.body))
	require.NoError(t, err)
	bounce, ok := ev.Data.(*events.WorkflowBounce)
	require.True(t, ok, "delivered %T", ev.Data)
	assert.EqualValues(t, "bounce_mb", bounce.Bounce.Category, "delivered %T", ev.Data)
	said := out.String()
	assert.Contains(t, said, "200 OK")
	assert.Contains(t, said, "thank you")
	assert.NotContains(t, said, "\"S\"")
}

// The text of a receiver cannot control the terminal, and does not resemble a line of the command.
func TestTriggerIsPrintable(t *testing.T) {
	receiver := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 500 Oh\x1b[2Jno\r\nConnection: close\r\n\r\n\x1b]0;title\a\x1b[31mred\r\n204 No Content in 1ms\n")
		_ = conn.Close()
	})
	server := httptest.NewServer(receiver)
	defer server.Close()
	var out strings.Builder
	err := run(t.Context(), []string{"trigger", "Email.Bounced", "-url", server.URL, "-secret", "S"}, nil, &out)
	said := out.String()
	assert.False(t, strings.ContainsAny(said, "\x1b\a\r"))
	assert.True(t, strings.HasSuffix(said, "\n  ?]0;title??[31mred\n  204 No Content in 1ms\n"))
	assert.ErrorContains(t, err, "500 Oh?[2Jno")
}

func TestTriggerFailed(t *testing.T) {
	for _, status := range []int{http.StatusFound, http.StatusInternalServerError} {
		got := &receiver{status: status}
		server := httptest.NewServer(got)
		err := run(t.Context(),
			[]string{"trigger", "Contact.Added", "-url", server.URL, "-secret", "S", "-hash-function", "sha512"}, nil, io.Discard)
		require.Error(t, err, "%d", status)
		assert.Len(t, got.signature, 88, "%d", status)
		server.Close()
	}
}

// A URL that makes an invalid request line is rejected.
func TestTriggerURL(t *testing.T) {
	for _, query := range []string{"a=b c", "a=é", "a={b}"} {
		err := run(t.Context(), []string{"trigger", "Email.Bounced", "-secret", "S", "-url", "http://127.0.0.1:1/?" + query}, nil, io.Discard)
		assert.ErrorContains(t, err, "-url: must be an absolute http or https URL with", query)
	}
}

// In FIPS 140-only mode a short secret is an error, not a panic in crypto/hmac.
func TestTriggerFIPS(t *testing.T) {
	for _, args := range [][]string{
		{"trigger", "Email.Bounced", "-secret", "s"},
		{"trigger", "Email.Bounced", "-secret", "s", "-url", "http://127.0.0.1:1"},
		{"verify", "-secret", "s", "-signature", "x"},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
		cmd.Env = append(os.Environ(), asCommand+"=1", "GODEBUG=fips140=only")
		cmd.Stdin = strings.NewReader("{}")
		out, err := cmd.CombinedOutput()
		text := string(out)
		if strings.Contains(text, "FIPS 140-3 mode is") { // not supported with purego, or on windows/386
			t.Skip(text)
		}
		require.Error(t, err, "%q", args)
		assert.Contains(t, text, "the secret must be at least 14 bytes long", "%q", args)
		assert.NotContains(t, text, "panic", "%q", args)
	}
}

func TestSetField(t *testing.T) {
	const value = `{"b":{"x":[1,{"y":"é"}]},"a":null}`
	tests := []struct{ name, set, want string }{
		{"replace", "a=1", `{"b":{"x":[1,{"y":"é"}]},"a":1}`},
		{"deep", "b.x.1.y=z", `{"b":{"x":[1,{"y":"z"}]},"a":null}`},
		{"add a field", "b.n=true", `{"b":{"x":[1,{"y":"é"}],"n":true},"a":null}`},
		{"add an element", "b.x.2=[]", `{"b":{"x":[1,{"y":"é"},[]]},"a":null}`},
		{"string that looks like JSON", `a="1"`, `{"b":{"x":[1,{"y":"é"}]},"a":"1"}`},
		{"value with an equals sign", "a=x=y", `{"b":{"x":[1,{"y":"é"}]},"a":"x=y"}`},
		{"empty string", "a=", `{"b":{"x":[1,{"y":"é"}]},"a":""}`},
		{"element too far", "b.x.9=1", ""},
		{"into null", "a.b=1", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := parseAssignment(tt.set)
			require.NoError(t, err)
			got, err := setField([]byte(value), a.path, a.value)
			assert.Equal(t, tt.want, string(got))
			assert.Equal(t, tt.want != "", err == nil)
		})
	}
}

// parsed returns the secret S.
func parsed(t *testing.T) webhook.Secret {
	t.Helper()
	secret, err := webhook.ParseSecret("S", "")
	require.NoError(t, err)
	return secret
}

// The list contains each sample once.
func TestTriggerList(t *testing.T) {
	samples, err := mockserver.Samples()
	require.NoError(t, err)
	want := []string{"EVENT VARIANT DESCRIPTION"}
	for _, s := range samples {
		want = append(want, fmt.Sprintf("%s %s %s", s.Event, s.Variant, s.Summary))
	}
	var got []string
	for line := range strings.Lines(commandLine(t, "mockserver trigger -list")) {
		if words := strings.Fields(line); len(words) > 0 {
			got = append(got, strings.Join(words, " "))
		}
	}
	assert.Equal(t, want, got)
}
