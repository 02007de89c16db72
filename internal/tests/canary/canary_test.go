package canary

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/tests/rawhttp"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

// calls returns operations of each kind: reading, setting a state, creating, sending,
// paging, importing, looking up, and the operations that return a secret.
func calls(ctx context.Context, c *client.Client) map[string]error {
	contacts := client.ContactsFromSlice([]client.ImportContact{{Email: "ann@example.com"}})
	hook := client.WebhookCreate{URL: "http://127.0.0.1/hook", Events: []events.Name{"Email.Bounced"}}
	var page error
	for _, page = range c.Contacts.All(ctx, 1, client.ListContactsParams{}) {
		if page != nil {
			break
		}
	}
	return map[string]error{
		"read":             failure(c.Templates.Get(ctx, 1)),
		"set a state":      c.Lists.AcceptPolicy(ctx, 1),
		"delete":           c.Templates.Delete(ctx, 1),
		"create":           failure(c.Lists.Create(ctx, client.ListCreate{Name: "L"})),
		"send":             failure(c.Emails.Send(ctx, client.EmailSubmission{To: "ann@example.com"})),
		"look up":          failure(c.Emails.Get(ctx, "e1")),
		"render":           failure(c.Templates.Render(ctx, 1)),
		"page":             page,
		"import":           failure(c.Contacts.Import(ctx, 1, contacts, client.ImportOptions{})),
		"create a webhook": failure(c.Webhooks.Create(ctx, hook)),
		"get a webhook":    failure(c.Webhooks.Get(ctx, "1")),
	}
}

func failure[T any](_ T, err error) error { return err }

// leakingHandlers returns handlers whose responses contain a secret, although responses must not contain one.
func leakingHandlers() map[string]http.HandlerFunc {
	say := func(status int, contentType, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.Header().Set("X-Request-Id", r.Header.Get("Authorization"))
			w.Header().Set("Location", "/"+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")+"?token="+r.Header.Get("Authorization"))
			w.Header().Set("Retry-After", r.Header.Get("Authorization"))
			w.WriteHeader(status)
			fmt.Fprintf(w, strings.ReplaceAll(text, "TOKEN", "%[1]s"), r.Header.Get("Authorization"))
		}
	}
	page := template.Must(template.New("").Parse(`<p>No such token: {{.}}</p>`))
	escape := strings.NewReplacer("/", `\/`, "<", `\u003C`, "+", `\u002b`)
	return map[string]http.HandlerFunc{
		"JSON that escapes": func(w http.ResponseWriter, r *http.Request) {
			token := r.Header.Get("Authorization")
			w.Header().Set("X-Request-Id", url.QueryEscape(token))
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = fmt.Fprintf(w, `{"detail":[{"loc":["header","%[1]s"],"msg":"bad %[1]s","type":"%[1]s"}],"seen":"%[1]s"}`,
				escape.Replace(token))
		},
		"HTML that escapes": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusUnauthorized)
			_ = page.Execute(w, r.Header.Get("Authorization"))
		},
		"JSON that echoes": say(422, "application/json",
			`{"detail":[{"loc":["header","TOKEN"],"msg":"bad TOKEN","type":"TOKEN"}]}`),
		"HTML that echoes": say(500, "text/html", `<pre>GET / HTTP/1.1\nAuthorization: TOKEN</pre>`),
		"a 401 response":   say(401, "text/plain", `no such token: TOKEN`),
		"too many":         say(429, "application/json", `"TOKEN"`),
		"a redirect":       say(307, "text/html", `<a href="/?TOKEN">`),
		"not JSON at all":  say(200, "text/html", `hello TOKEN`),
		"a wrong type": say(200, "application/json",
			`{"template_id":"TOKEN","list_id":"TOKEN","id":{"TOKEN":1},"data":"TOKEN","imported":"TOKEN","webhook_id":["TOKEN"]}`),
		"a secret, broken": say(201, "application/json", `{"webhook_id":"1","secret":"`+canaryKey+`","url":`),
		"a secret, ill-typed": say(200, "application/json", `{"webhook_id":"1","secret":"`+canaryKey+
			`","url":{"a":1},"template_id":[],"list_id":[],"id":[],"data":1,"imported":[]}`),
		"a lost connection": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"cut short": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "9999")
			_, _ = fmt.Fprint(w, r.Header.Get("Authorization"), canaryKey)
			panic(http.ErrAbortHandler)
		},
	}
}

// TestClientErrors searches the errors of the client, their fields and its log.
func TestClientErrors(t *testing.T) {
	for name, response := range leakingHandlers() {
		t.Run(name, func(t *testing.T) {
			w := newDetector(t)
			srv := httptest.NewServer(response)
			defer srv.Close()
			c, err := client.New(client.Config{
				BaseURL: srv.URL, Token: canaryToken, Logger: w.logger("the client"),
				Retry: client.RetryConfig{MaxAttempts: 1}, LookupLimiter: client.NoLookupLimit{},
			})
			require.NoError(t, err)
			failed := 0
			for op, err := range calls(t.Context(), c) {
				if err == nil {
					continue
				}
				failed++
				w.showError(op, err)
				e, ok := errors.AsType[*client.Error](err)
				if !ok {
					t.Fatalf("%s: %T is not a *client.Error", op, err)
				}
				w.search(op+": its body", string(e.Body))
				w.show(op+": its fields", e.Op, e.Path, e.RequestID, e.Details, *e)
			}
			if failed == 0 {
				t.Error("nothing failed, so no error was searched")
			}
		})
	}
}

// ask sends a request with the token and returns the response.
func ask(w *detector, srv *mockserver.Server, method, path, token, body string) (int, string) {
	w.Helper()
	resp, text := rawhttp.Send(w, http.DefaultClient, rawhttp.NewRequest(w, method, srv.URL()+path, token, body))
	w.show("the headers of "+method+" "+path, resp.Header)
	return resp.StatusCode, text
}

// TestPlatformErrors searches the responses to invalid requests for secrets.
func TestPlatformErrors(t *testing.T) {
	w := newDetector(t)
	srv := newPlatform(t, w)
	for name, r := range map[string]struct{ method, path, token, body string }{
		"unknown token":   {"GET", "/lists", canaryPassword, ""},
		"token twice":     {"GET", "/lists", canaryToken + " " + canaryToken, ""},
		"unknown list":    {"GET", "/lists/9", canaryToken, ""},
		"unknown path":    {"GET", "/nothing", canaryToken, ""},
		"wrong method":    {"PUT", "/lists", canaryToken, ""},
		"malformed":       {"POST", "/lists", canaryToken, "{"},
		"wrong type":      {"POST", "/lists", canaryToken, `{"name":1}`},
		"bad webhook":     {"POST", "/webhooks", canaryToken, `{"url":"hook","events":["Email.Bounced"]}`},
		"unknown webhook": {"GET", "/webhooks/9", canaryToken, ""},
		"unknown control": {"GET", "/_mock/nothing", canaryToken, ""},
		"bad fault":       {"POST", "/_mock/faults", canaryToken, `{"action":"explode"}`},
	} {
		status, response := ask(w, srv, r.method, r.path, r.token, r.body)
		if status < 400 {
			t.Errorf("%s: status %d, so no error was searched", name, status)
		}
		w.search("the response to "+name, response)
	}
	w.show("what was asked", srv.Requests())
	w.show("the server", srv)
}

// TestPlatformDumps searches the control responses, the snapshot and the records of the mock server for the token. A
// webhook's secret is allowed in some of them, because snapshots restore it and the console computes signatures with
// it.
func TestPlatformDumps(t *testing.T) {
	w := newDetector(t)
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
	require.NoError(t, srv.Bounce(srv.Outbox()[0].ID, events.BounceCategoryHard))
	require.NoError(t, srv.Wait(t.Context()))
	for _, what := range []string{"health", "info", "requests", "outbox", "deliveries", "events", "faults", "state"} {
		status, text := ask(w, srv, "GET", "/_mock/"+what, canaryToken, "")
		if status != http.StatusOK || text == "" {
			t.Errorf("/_mock/%s: %d %q, want 200 and a text", what, status, text)
		}
		w.search("/_mock/"+what, text)
	}
	var snapshot bytes.Buffer
	require.NoError(t, srv.Snapshot(&snapshot))
	w.search("the snapshot", snapshot.String())
	w.show("what a test sees", srv.Requests(), srv.Outbox(), srv.Deliveries(), srv.Events(), srv.Faults())
}

func newPlatform(t *testing.T, w *detector) *mockserver.Server {
	srv := mockserver.Start(mockserver.Config{
		Tokens:       []mockserver.Token{{Value: canaryToken}},
		Logger:       w.logger("the platform"),
		RecordEvents: true,
		Targets:      map[string]http.Handler{"hook.test": http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})},
	})
	t.Cleanup(srv.Close)
	return srv
}

// delivery is a test case of TestReceiver.
type delivery struct {
	body     string
	signWith string
	handle   error
	panic    any
}

// TestReceiver searches the log, the outcome and the response of each delivery.
// The body of a delivery counts as a secret, because it contains an email address.
func TestReceiver(t *testing.T) {
	const good = `{"id":"e1","event":"Email.Error","data":{"error":"internal error; ` + canaryPassword + `"}}`
	for name, d := range map[string]delivery{
		"handled":                 {body: good, signWith: canaryKey},
		"signed with another key": {body: good, signWith: "another key"},
		"not signed":              {body: good},
		"not an event":            {body: `{"event":["` + canaryPassword + `"]}`, signWith: canaryKey},
		"not JSON":                {body: canaryPassword, signWith: canaryKey},
		"cut short":               {body: good[:len(good)-3], signWith: canaryKey},
		"too large":               {body: good + strings.Repeat(" ", 2<<20), signWith: canaryKey},
		"the function fails":      {body: good, signWith: canaryKey, handle: errors.New("no space left")},
		"the function panics":     {body: good, signWith: canaryKey, panic: "out of memory"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newDetector(t)
			var outcomes []webhook.Outcome
			parsed, err := webhook.ParseSecret(canaryKey, "")
			require.NoError(t, err)
			v, err := webhook.NewVerifier(parsed)
			require.NoError(t, err)
			h := webhook.NewHandler(v, func(context.Context, *events.Event) error {
				if d.panic != nil {
					panic(d.panic)
				}
				return d.handle
			}, webhook.Options{Logger: w.logger("the receiver"), Observe: func(_ context.Context, o webhook.Outcome) {
				outcomes = append(outcomes, o)
			}})
			req := httptest.NewRequestWithContext(t.Context(), "POST", "/hook", strings.NewReader(d.body))
			if d.signWith != "" {
				parsed, err := webhook.ParseSecret(d.signWith, "")
				require.NoError(t, err)
				signature, err := webhook.Sign(parsed, []byte(d.body))
				require.NoError(t, err)
				w.addSecret("signature", signature)
				req.Header.Set(webhook.DefaultSignatureHeader, signature)
			}
			response := httptest.NewRecorder()
			h.ServeHTTP(response, req)
			w.search("the response", response.Body.String())
			w.show("the response headers", response.Header())
			if len(outcomes) != 1 || w.searched == 0 {
				t.Fatalf("%d outcomes and %d texts, want 1 outcome and at least 1 text", len(outcomes), w.searched)
			}
			o := outcomes[0]
			o.Event = nil // the event belongs to the application
			w.show("the outcome", o)
			if response.Code/100 != 2 {
				w.showError("the outcome's error", o.Err)
			}
		})
	}
}
