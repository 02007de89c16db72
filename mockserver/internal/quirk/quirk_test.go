package quirk_test

import (
	"flag"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/rawhttp"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/internal/quirk"
)

//go:generate go test -run ^TestManual$ -update

var update = flag.Bool("update", false, "write the table in docs/quirks.md")

// docs/quirks.md contains the table of quirks.
func TestManual(t *testing.T) {
	const file, begin, end = "../../../docs/quirks.md", "<!-- quirks -->\n", "<!-- /quirks -->"
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	head, rest, _ := strings.Cut(strings.ReplaceAll(string(raw), "\r\n", "\n"), begin)
	_, tail, _ := strings.Cut(rest, end)
	want := head + begin + quirk.Manual() + "\n" + end + tail
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o600))
		return
	}
	assert.Equal(t, want, string(raw))
}

func TestCheck(t *testing.T) {
	require.NoError(t, quirk.Check(nil))
	require.NoError(t, quirk.Check([]string{"null-lists", "max-page=1"}))
	for _, name := range []string{"", "null-list", "max-page", "max-page=", "max-page=0", "max-page=x", "max-page=N", "null-lists=1"} {
		assert.ErrorContains(t, quirk.Check([]string{name}), "must be one of strict-parameters, max-page=N, ", name)
	}
	assert.Panics(t, func() { mockserver.New(mockserver.Config{Quirks: []string{"unknown"}}) })
}

// call is a request and the quirks that change its response.
type call struct{ method, path, body, quirks string }

// Each quirk changes the responses to the listed requests, and no others.
func TestEffects(t *testing.T) {
	const always = "extra-fields html-content-type byte-order-mark float-integers "
	calls := []call{
		{"GET", "/tags", "", always + "null-lists max-page=1"},
		{"POST", "/lists", `{"name":"A"}`, always + "text-ids"},
		{"POST", "/lists", `{"name":"B"}`, always + "text-ids"},
		{"GET", "/lists?page=1", "", always + "text-ids max-page=1"},
		{"GET", "/lists?page=1&with_count=true", "", always + "text-ids max-page=1 no-count strict-parameters"},
		{"GET", "/lists?page=5&per_page=1", "", always + "null-lists refuse-last-page repeat-last-page"},
		{"GET", "/lists?per_page=x", "", "errors-as-400 plain-errors html-content-type byte-order-mark"},
		{"GET", "/lists/99", "", "errors-as-400 plain-errors html-content-type byte-order-mark"},
		{"POST", "/lists/1/accept-policy", "", "ok-with-body"},
		{"POST", "/lists/1/contacts/import", `{"contacts":[]}`, always + "null-lists created-for-import"},
		{"POST", "/lists/1/contacts", `{"email":"a@example.org","tags":["x"],"interests":["x"]}`, always + "null-lists text-ids uppercase-status"},
		{"GET", "/webhooks?page=1", "", always + "null-lists webhooks-unpaged max-page=1"},
		{"GET", "/v2/emails/1", "", "errors-as-400 plain-errors html-content-type byte-order-mark"},
	}
	seen := map[string]bool{}
	plain := respond(t, calls)
	for _, name := range quirk.Names() {
		name = strings.Replace(name, "=N", "=1", 1)
		for i, got := range respond(t, calls, name) {
			changed, want := got != plain[i], slices.Contains(strings.Fields(calls[i].quirks), name)
			assert.Equal(t, want, changed, "%s changes %s %s: %s", name, calls[i].method, calls[i].path, got)
			seen[name] = seen[name] || changed
		}
	}
	for _, name := range quirk.Names() {
		if name = strings.Replace(name, "=N", "=1", 1); !seen[name] && name != "numeric-email-ids" && name != "no-retry-after" {
			t.Errorf("%s changes nothing", name)
		}
	}
}

// respond returns the responses of a new server.
func respond(t *testing.T, calls []call, quirks ...string) (out []string) {
	t.Helper()
	srv := mockserver.New(mockserver.Config{Quirks: quirks, FreezeClock: true, Now: time.Unix(1_700_000_000, 0), Logger: slog.New(slog.DiscardHandler)})
	defer srv.Close()
	for _, c := range calls {
		out = append(out, do(srv, c))
	}
	return out
}

func do(srv *mockserver.Server, c call) string {
	r := httptest.NewRequest(c.method, c.path, strings.NewReader(c.body))
	r.Header.Set("Authorization", "Bearer "+srv.Token())
	if c.body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	srv.ServeHTTP(w, r)
	return w.Result().Status + " " + w.Header().Get("Content-Type") + " " + w.Header().Get("Retry-After") + "\n" + strings.TrimSpace(w.Body.String())
}

// A lookup accepts the number of an email as its id. A lookup above the rate limit has no
// Retry-After.
func TestEmailIDs(t *testing.T) {
	srv := mockserver.New(mockserver.Config{Quirks: []string{"numeric-email-ids", "no-retry-after"}})
	defer srv.Close()
	send := call{"POST", "/v2/emails", `{"email":"a@example.org","sender":{"email":"s@example.com"},"content":{"subject":"x","text":"x"}}`, ""}
	assert.Contains(t, do(srv, send), `"id":9007199254740993,`)
	assert.Contains(t, do(srv, send), `"id":9007199254740994,`)
	assert.Contains(t, do(srv, call{"GET", "/v2/emails/9007199254740994", "", ""}), `"id":9007199254740994,`)
	limited := do(srv, call{"GET", "/v2/emails/9007199254740994", "", ""})
	assert.True(t, strings.HasPrefix(limited, "429 Too Many Requests application/json \n"), limited)
}

// Faults apply to servers with quirks.
func TestFaults(t *testing.T) {
	srv := mockserver.Start(mockserver.Config{Quirks: []string{"float-integers"}})
	defer srv.Close()
	for action, want := range map[mockserver.FaultAction]error{
		mockserver.FaultTruncate: io.ErrUnexpectedEOF, mockserver.FaultReset: io.EOF,
	} {
		srv.ClearFaults()
		_, err := srv.Inject(mockserver.Fault{Action: action})
		require.NoError(t, err)
		_, _, err = rawhttp.Do(http.DefaultClient, rawhttp.NewRequest(t, http.MethodGet, srv.URL()+"/lists", srv.Token(), ""))
		assert.ErrorIs(t, err, want, "%s", action)
	}
}
