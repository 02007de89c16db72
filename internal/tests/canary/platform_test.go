package canary

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// ask sends a request with the token and returns the response.
func ask(w *watch, srv *mockserver.Server, method, path, token, body string) (int, string) {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), method, srv.URL()+path, strings.NewReader(body))
	must(w, err)
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	must(w, err)
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	must(w, err)
	w.show("the headers of "+method+" "+path, resp.Header)
	return resp.StatusCode, string(text)
}

// TestPlatformErrors sends the platform what it refuses.
func TestPlatformErrors(t *testing.T) {
	w := newWatch(t)
	srv := newPlatform(t, w)
	for name, r := range map[string]struct{ method, path, token, body string }{
		"unknown token":   {method: "GET", path: "/lists", token: canaryPassword},
		"token twice":     {method: "GET", path: "/lists", token: canaryToken + " " + canaryToken},
		"unknown list":    {method: "GET", path: "/lists/9", token: canaryToken},
		"unknown path":    {method: "GET", path: "/nothing", token: canaryToken},
		"wrong method":    {method: "PUT", path: "/lists", token: canaryToken},
		"malformed":       {method: "POST", path: "/lists", token: canaryToken, body: "{"},
		"wrong type":      {method: "POST", path: "/lists", token: canaryToken, body: `{"name":1}`},
		"bad webhook":     {method: "POST", path: "/webhooks", token: canaryToken, body: `{"url":"hook","events":["Email.Bounced"]}`},
		"unknown webhook": {method: "GET", path: "/webhooks/9", token: canaryToken},
		"unknown control": {method: "GET", path: "/_mock/nothing", token: canaryToken},
		"bad fault":       {method: "POST", path: "/_mock/faults", token: canaryToken, body: `{"action":"explode"}`},
	} {
		status, answer := ask(w, srv, r.method, r.path, r.token, r.body)
		if status < 400 {
			t.Errorf("%s: status %d, so that no error was looked at", name, status)
		}
		w.listen("the answer to "+name, answer)
	}
	w.show("what was asked", srv.Requests())
	w.show("the server", srv)
}

// TestPlatformDumps looks for the token in all that the platform tells of itself. A webhook's secret is in some of it:
// snapshots restore it, and the console computes signatures with it.
func TestPlatformDumps(t *testing.T) {
	w := newWatch(t)
	srv := newPlatform(t, w)
	status, hook := ask(w, srv, "POST", "/webhooks", canaryToken,
		`{"url":"http://hook.test/","events":["Contact.Added","Email.Bounced"]}`)
	if status != http.StatusCreated || !strings.Contains(hook, `"secret"`) {
		t.Fatal(status)
	}
	ask(w, srv, "POST", "/lists", canaryToken, `{"name":"L"}`)
	ask(w, srv, "POST", "/lists/1/contacts", canaryToken, `{"email":"ann@example.com"}`)
	ask(w, srv, "POST", "/v2/emails", canaryToken,
		`{"email":"ann@example.com","sender":{"name":"S","email":"s@example.com"},"content":{"subject":"S","text":"T"}}`)
	must(t, srv.Bounce(srv.Outbox()[0].ID, events.BounceCategoryHard))
	must(t, srv.Wait(t.Context()))
	for _, what := range []string{"health", "info", "requests", "outbox", "deliveries", "events", "faults", "state"} {
		status, text := ask(w, srv, "GET", "/_mock/"+what, canaryToken, "")
		if status != http.StatusOK || text == "" {
			t.Errorf("/_mock/%s: %d %q, want 200 and a text", what, status, text)
		}
		w.listen("/_mock/"+what, text)
	}
	var snapshot bytes.Buffer
	must(t, srv.Snapshot(&snapshot))
	w.listen("the snapshot", snapshot.String())
	w.show("what a test sees", srv.Requests(), srv.Outbox(), srv.Deliveries(), srv.Events(), srv.Faults())
}

func newPlatform(t *testing.T, w *watch) *mockserver.Server {
	srv := mockserver.Start(mockserver.Config{
		Tokens:       []mockserver.Token{{Value: canaryToken}},
		Logger:       w.logger("the platform"),
		RecordEvents: true,
		Targets:      map[string]http.Handler{"hook.test": http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})},
	})
	t.Cleanup(srv.Close)
	return srv
}
