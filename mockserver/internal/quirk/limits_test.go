package quirk_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver"
)

func serverWith(t *testing.T, cfg mockserver.Config, faults ...mockserver.Fault) *mockserver.Server {
	t.Helper()
	srv := mockserver.New(cfg)
	t.Cleanup(srv.Close)
	_, err := srv.Inject(faults...)
	require.NoError(t, err)
	return srv
}

func createWebhooks(srv *mockserver.Server, n int) {
	for i := range n {
		do(srv, call{"POST", "/webhooks", fmt.Sprintf(`{"name":"w","url":"https://example.com/%d","events":["Contact.Added"]}`, i), ""})
	}
}

// A fault rule that applies to every page ends the list.
func TestFaultBodyForEveryPage(t *testing.T) {
	for _, body := range []string{
		`{"data":[{"webhook_id":"1"}],"pagination":{}}`,
		`{"data":[` + strings.Repeat(`1,`, 99) + `1],"pagination":{"page":1}}`,
	} {
		srv := serverWith(t, mockserver.Config{Quirks: []string{"webhooks-unpaged"}},
			mockserver.Fault{Operation: "listWebhooks", Action: mockserver.FaultStatus, Status: http.StatusOK, Body: body})
		got := do(srv, call{"GET", "/webhooks", "", ""})
		assert.True(t, strings.HasPrefix(got, "200 OK"), got)
		assert.Contains(t, got, `"pagination"`)
	}
}

// The list of webhooks needs one request for each 100 webhooks. If one of them fails, its error is the
// response.
func TestPagesOfWebhooks(t *testing.T) {
	srv := serverWith(t, mockserver.Config{Quirks: []string{"webhooks-unpaged", "max-page=2"}})
	for _, want := range []struct{ webhooks, requests int }{{5, 1}, {101, 2}} {
		srv.Clear()
		createWebhooks(srv, want.webhooks)
		got := do(srv, call{"GET", "/webhooks?page=3", "", ""})
		assert.Equal(t, want.webhooks, strings.Count(got, `"webhook_id"`), got)
		assert.Equal(t, want.webhooks+want.requests, len(srv.Requests()), "requests")
	}
	_, err := srv.Inject(mockserver.Fault{Operation: "listWebhooks", Nth: 2, Action: mockserver.FaultStatus})
	require.NoError(t, err)
	got := do(srv, call{"GET", "/webhooks", "", ""})
	assert.True(t, strings.HasPrefix(got, "503 "), got)
}

// Quirks do not store the body of the action oversize, not even for a further page.
func TestOversize(t *testing.T) {
	const size = 200 << 20
	for _, c := range []struct{ quirk, path string }{
		{"float-integers", "/lists"}, {"webhooks-unpaged", "/webhooks"}, {"repeat-last-page", "/lists?page=9"},
	} {
		fault := mockserver.Fault{Method: "GET", Action: mockserver.FaultOversize, Size: size}
		if c.quirk == "repeat-last-page" {
			fault.Nth = 2
		}
		srv := serverWith(t, mockserver.Config{Quirks: []string{c.quirk}}, fault)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		w := &counter{header: http.Header{}}
		r := httptest.NewRequest(http.MethodGet, c.path, http.NoBody)
		r.Header.Set("Authorization", "Bearer "+srv.Token())
		srv.ServeHTTP(w, r)
		runtime.ReadMemStats(&after)
		assert.Equal(t, size, w.size, c.quirk)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(size/4), c.quirk)
	}
}

// counter counts the bytes of a response.
type counter struct {
	header http.Header
	size   int
}

func (w *counter) Header() http.Header { return w.header }

func (*counter) WriteHeader(int) {}

func (w *counter) Write(b []byte) (int, error) {
	w.size += len(b)
	return io.Discard.Write(b)
}

// The quirk max-page changes only operations with pages, and no invalid parameters.
func TestMaxPageParameters(t *testing.T) {
	srv := serverWith(t, mockserver.Config{Quirks: []string{"max-page=2"}, RejectUnknownFields: true})
	do(srv, call{"POST", "/lists", `{"name":"A"}`, ""})
	for path, status := range map[string]string{
		"/lists/1": "200 ", "/lists": "200 ", "/lists?per_page=0": "422 ", "/lists?per_page=": "422 ", "/lists?per_page=1&per_page=9": "422 ",
	} {
		got := do(srv, call{"GET", path, "", ""})
		assert.True(t, strings.HasPrefix(got, status), "%s: %s", path, got)
	}
}

// A rejected parameter is an error only for an authenticated request, and the request log contains it.
func TestRejectedParameter(t *testing.T) {
	srv := serverWith(t, mockserver.Config{Quirks: []string{"strict-parameters"}, SkipValidation: true})
	for token, status := range map[string]int{"": http.StatusUnauthorized, srv.Token(): http.StatusUnprocessableEntity} {
		r := httptest.NewRequest(http.MethodGet, "/lists?with_count=true", http.NoBody)
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		srv.ServeHTTP(w, r)
		assert.Equal(t, status, w.Code)
		all := srv.Requests()
		if assert.NotEmpty(t, all) {
			assert.Equal(t, status, all[len(all)-1].Status)
			assert.Equal(t, all[len(all)-1].ID, w.Header().Get("X-Request-Id"))
		}
	}
}
