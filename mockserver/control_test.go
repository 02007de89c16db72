package mockserver_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// controlled is a server with a webhook, a list and an email to its contact.
type controlled struct {
	probe
	list, contact, email, hook string
}

func newControlled(t *testing.T) controlled {
	receiver := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	p := newProbe(t, mockserver.Config{RecordEvents: true, Targets: map[string]http.Handler{
		"app.test": receiver, "127.0.0.1:9000": receiver,
	}})
	c := controlled{probe: p}
	c.hook = p.must("POST", "/webhooks", `{"url":"http://app.test/hook","events":["Email.Bounced",`+
		`"Email.Opened"]}`).id("webhook_id")
	c.list = p.list()
	c.contact = p.contact(c.list, "ada@example.org")
	c.email = p.email("ada@example.org")
	return c
}

// records returns the data of a list route.
func (c controlled) records(path string) []map[string]any {
	c.t.Helper()
	var out []map[string]any
	for _, record := range c.must("GET", path, nil).object["data"].([]any) {
		out = append(out, record.(map[string]any))
	}
	return out
}

// ids returns the ids of a list route.
func (c controlled) ids(path string) string {
	c.t.Helper()
	ids := []string{}
	for _, record := range c.records(path) {
		ids = append(ids, record["id"].(string))
	}
	return strings.Join(ids, " ")
}

func TestControlRecipients(t *testing.T) {
	tests := []struct {
		action, body string
		status       int
		contains     string
	}{
		{action: "bounce", status: 200, contains: `"bounce_category":"bounce_hb"`},
		{
			action: "bounce",
			body:   `{"category":"bounce_fm","diagnostic":"452 full"}`, status: 200,
			contains: `"bounce_category":"bounce_fm"`,
		},
		{action: "bounce", body: `{"category":"bounce_xx"}`, status: 422, contains: `"category"`},
		{action: "bounce", body: `{"catgory":"bounce_hb"}`, status: 422, contains: `"catgory"`},
		{action: "bounce", body: `{"category":1}`, status: 422, contains: `"category"`},
		{action: "bounce", body: `{`, status: 400, contains: `json_invalid`},
		{action: "bounce", body: `{} {}`, status: 400, contains: `json_invalid`},
		{action: "complain", body: `{"provider":"Example"}`, status: 200, contains: `"reported_as_spam":true`},
		{action: "open", body: `{}`, status: 200, contains: `"opens":1`},
		{action: "click", body: `{"url":"https://shop.example/"}`, status: 200, contains: `"clicks":1`},
		{action: "click", status: 422, contains: `"url"`}, // the message has no link
		{action: "unsubscribe", status: 200, contains: `"unsubscribed":true`},
		{action: "global-unsubscribe", status: 200, contains: `"global_unsubscribed":true`},
		{action: "confirm", status: 409, contains: `invalid_state`}, // it is not a confirmation email
		{action: "dance", status: 404, contains: `not_found`},
	}
	for _, tt := range tests {
		t.Run(tt.action+tt.body, func(t *testing.T) {
			c := newControlled(t)
			a := c.do("POST", "/_mock/outbox/"+c.email+"/"+tt.action, tt.body)
			if a.status != tt.status || !strings.Contains(a.text, tt.contains) {
				t.Errorf("got %d %s, want %d with %s", a.status, a.text, tt.status, tt.contains)
			}
			if other := c.do("POST", "/_mock/outbox/nobody/"+tt.action, nil); other.status != 404 {
				t.Errorf("an unknown message: %d %s", other.status, other.text)
			}
		})
	}
}

func TestControlClickDefaultLink(t *testing.T) {
	c := newControlled(t)
	id := c.must("POST", "/v2/emails", `{"email":"b@example.org","sender":{"email":"s@example.com"},
		"content":{"subject":"x","html":"<a href=\"https://a.example/?x=1&amp;y=2\">a</a>"}}`).id("id")
	a := c.must("POST", "/_mock/outbox/"+id+"/click", nil)
	if !strings.Contains(a.text, `"links":["https://a.example/?x=1\u0026y=2"]`) ||
		!strings.Contains(a.text, `\"url\":\"https://a.example/?x=1`) {
		t.Errorf("got %s, want the message with its links", a.text)
	}
}

func TestControlLists(t *testing.T) {
	c := newControlled(t)
	var sent []string
	for i := range 5 {
		sent = append(sent, c.probe.email(fmt.Sprintf("user%d@example.org", i), fmt.Sprintf("Offer %d", i)))
	}
	for _, id := range sent {
		must(t, c.Open(id))
	}
	must(t, c.Wait(t.Context()))
	newest := slices.Clone(sent)
	slices.Reverse(newest)
	all := strings.Join(append(slices.Clone(newest), c.email), " ")
	tests := []struct{ path, want string }{
		{"/_mock/outbox", all},
		{"/_mock/outbox?limit=2", strings.Join(newest[:2], " ")},
		{"/_mock/outbox?limit=2&before=" + newest[1], strings.Join(newest[2:4], " ")},
		{"/_mock/outbox?before=" + newest[4], c.email},
		{"/_mock/outbox?before=unknown", ""},
		{"/_mock/outbox?search=OFFER+user3", sent[3]},
		{"/_mock/outbox?search=offer&limit=1", newest[0]},
		{"/_mock/outbox?to=user1@example.org", sent[1]},
		{"/_mock/outbox?account_id=2", ""},
		{"/_mock/outbox?status=bounced", ""},
		{"/_mock/outbox?sent_by=email_api&limit=1", newest[0]},
		{"/_mock/outbox?to=user1@example.org&before=" + newest[0], sent[1]},
		{"/_mock/deliveries", "dlv-5 dlv-4 dlv-3 dlv-2 dlv-1"},
		{"/_mock/deliveries?state=delivered&limit=1", "dlv-5"},
		{"/_mock/deliveries?state=failed", ""},
		{"/_mock/deliveries?webhook_id=" + c.hook + "&search=user2", "dlv-3"},
		{"/_mock/deliveries?event=Email.Bounced", ""},
		{"/_mock/events?event=Email.Opened&limit=2", "evt-6 evt-5"},
		{"/_mock/events?message_id=" + sent[0], "evt-2"},
		{"/_mock/events?search=contact.added", "evt-1"},
		{"/_mock/requests?operation=createWebhook", "req-00000001"},
		{"/_mock/requests?status=2xx&method=POST&search=createList", "req-00000002"},
		{"/_mock/requests?status=500", ""},
		{"/_mock/requests?account_id=2", ""},
		{"/_mock/requests?account_id=1&operation=createWebhook", "req-00000001"},
		{"/_mock/deliveries?account_id=2", ""},
		{"/_mock/events?account_id=2", ""},
		{"/_mock/events?event=Contact.Added&before=evt-6", "evt-1"},
		{"/_mock/requests?operation=createWebhook&before=req-00000002", "req-00000001"},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			if got := c.ids(tt.path); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	page := c.must("GET", "/_mock/outbox?search=offer&limit=2&before="+newest[0], nil).object
	if page["total"] != 5.0 || page["has_more"] != true {
		t.Errorf("total %v, more %v, want 5 and true", page["total"], page["has_more"])
	}
	for _, bad := range []string{"0", "1001", "x"} {
		if a := c.do("GET", "/_mock/outbox?limit="+bad, nil); a.status != 422 {
			t.Errorf("limit=%s: %d, want 422", bad, a.status)
		}
	}
}

// Lists without records are empty arrays, not null.
func TestControlEmpty(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	for _, path := range []string{"/_mock/outbox", "/_mock/deliveries", "/_mock/events", "/_mock/requests"} {
		if a := p.must("GET", path, nil); strings.TrimSpace(a.text) != `{"data":[],"total":0,"offset":0,"has_more":false}` {
			t.Errorf("%s: %s, want an empty page", path, a.text)
		}
	}
	if a := p.must("GET", "/_mock/faults", nil); !strings.Contains(a.text, `"data":[]`) ||
		!strings.Contains(a.text, `"operation":"submitEmail"`) {
		t.Errorf("faults: %s, want one rule for submitEmail", a.text)
	}
	var info struct {
		Accounts []struct {
			AccountID int64 `json:"account_id"`
			Users     []struct{ Email string }
		}
		Events     []events.Name
		Categories []struct{ Category string } `json:"bounce_categories"`
		Schedule   []int                       `json:"retry_schedule_ms"`
	}
	must(t, json.Unmarshal([]byte(p.must("GET", "/_mock/info", nil).text), &info))
	if info.Accounts[0].Users[0].Email != "user@example.com" || info.Schedule[3] != 120_000 {
		t.Errorf("info: %+v, want user@example.com and 120,000 ms before the fourth retry", info)
	}
	if got, want := slices.Sorted(slices.Values(info.Events)), slices.Sorted(
		slices.Values(everything)); !slices.Equal(got, want) {
		t.Errorf("the events of /_mock/info are %q, want %q", got, want)
	}
	var categories []string
	for _, c := range info.Categories {
		categories = append(categories, strings.TrimPrefix(c.Category, "bounce_"))
	}
	if got, want := strings.Join(slices.Sorted(slices.Values(categories)), " "), "ac ar cr df fm hb mb sb tr"; got != want {
		t.Errorf("its bounce categories are %s, want %s", got, want)
	}
}

func TestControlRecords(t *testing.T) {
	c := newControlled(t)
	c.must("POST", "/_mock/outbox/"+c.email+"/bounce", nil)
	c.must("POST", "/_mock/wait", nil)
	c.do("GET", "/list/7/contcts", nil)
	requests := c.records("/_mock/requests")
	tests := []struct {
		path     string
		status   int
		contains []string
	}{
		{
			path:   "/_mock/outbox/" + c.email,
			status: 200, contains: []string{`"html":`, `"headers":[{`, `"links":[]`, `"event":"Email.Bounced"`},
		},
		{path: "/_mock/outbox/" + c.email + "/source", status: 200, contains: []string{"Subject: Hello\n", "MIME-Version: 1.0"}},
		{
			path:     "/_mock/deliveries/dlv-1",
			status:   200,
			contains: []string{`"secret":"`, `"hash_function":"sha256"`, `"state":"delivered"`, `"max_attempts":8`, `"body":"{`},
		},
		{path: "/_mock/deliveries/dlv-1/body", status: 200, contains: []string{`{"id":"`}},
		{path: "/_mock/events/evt-2", status: 200, contains: []string{`"deliveries":["dlv-1"]`, `"message_id":"` + c.email}},
		{
			path:   "/_mock/requests/" + requests[0]["id"].(string),
			status: 200,
			contains: []string{
				`"response":`,
				`"closest":{"operation":"listContacts","method":"GET","path":"/lists/{list_id}/contacts"}`,
			},
		},
		{
			path:   "/_mock/requests/req-00000001",
			status: 200, contains: []string{`"operation":"createWebhook"`, `"body":"{\"url\"`},
		},
		{path: "/_mock/outbox/nothing", status: 404, contains: []string{"not_found"}},
		{path: "/_mock/outbox/nothing/html", status: 404, contains: []string{"not_found"}},
		{path: "/_mock/outbox/nothing/source", status: 404, contains: []string{"not_found"}},
		{path: "/_mock/deliveries/nothing", status: 404, contains: []string{"not_found"}},
		{path: "/_mock/deliveries/nothing/body", status: 404, contains: []string{"not_found"}},
		{path: "/_mock/events/nothing", status: 404, contains: []string{"not_found"}},
		{path: "/_mock/requests/nothing", status: 404, contains: []string{"not_found"}},
		{path: "/_mock/nothing", status: 404, contains: []string{"not_found"}},
	}
	for _, tt := range tests {
		t.Run(tt.path, func(t *testing.T) {
			a := c.do("GET", tt.path, nil)
			if a.status != tt.status {
				t.Fatalf("got %d: %s, want %d", a.status, a.text, tt.status)
			}
			for _, want := range tt.contains {
				if !strings.Contains(a.text, want) {
					t.Errorf("no %s in %s", want, a.text)
				}
			}
		})
	}
	if a := c.do("POST", "/_mock/outbox", nil); a.status != 405 || a.header.Get("Allow") != "GET, HEAD" {
		t.Errorf("a wrong method: %d, Allow: %s, want 405 and GET, HEAD", a.status, a.header.Get("Allow"))
	}
}

// The HTML of an email runs no script and loads nothing.
func TestControlMailPolicy(t *testing.T) {
	c := newControlled(t)
	id := c.must("POST", "/v2/emails", map[string]any{
		"email":  "a@example.org",
		"sender": map[string]any{"email": "s@example.com"},
		"content": map[string]any{
			"subject": "x",
			"html":    "<!DOCTYPE html><html><head><title>x</title></head><script>alert(1)</script></html>",
		},
	}).id("id")
	a := c.must("GET", "/_mock/outbox/"+id+"/html", nil)
	policy := a.header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none';") ||
		strings.Contains(policy, "http") || strings.Contains(policy, "allow-scripts") ||
		strings.Contains(policy, "allow-same-origin") {
		t.Errorf("the policy is %s, want no scripts and no network", policy)
	}
	if !strings.HasPrefix(a.text, `<!DOCTYPE html><html><head><base target="_blank"><title>`) {
		t.Errorf("the page is %s, want links to open a new tab", a.text)
	}
	remote := c.must("GET", "/_mock/outbox/"+id+"/html?remote=1", nil).header.Get("Content-Security-Policy")
	if !strings.Contains(remote, "img-src data: https: http:") || strings.Contains(remote, "script-src") ||
		!strings.Contains(remote, "default-src 'none'") {
		t.Errorf("with remote content the policy is %s, want images by http and nothing else", remote)
	}
	for _, path := range []string{"/_mock/outbox/" + id + "/source", "/_mock/outbox/" + id} {
		a := c.must("GET", path, nil)
		if kind := a.header.Get("Content-Type"); strings.Contains(kind, "html") ||
			a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s is %s, want its type and nosniff", path, kind)
		}
	}
}

func TestControlFaults(t *testing.T) {
	c := newControlled(t)
	rule := c.must("POST", "/_mock/faults", `{"operation":"listLists","action":"status","status":418,"delay_ms":1}`)
	if rule.object["id"] != "fault-1" || rule.object["enabled"] != true || rule.object["delay_ms"] != 1.0 {
		t.Fatalf("added %s, want fault-1, enabled, of 1 ms", rule.text)
	}
	steps := []struct {
		method, path, body string
		status             int
		lists              int // the status of GET /lists afterwards
	}{
		{method: "GET", path: "/_mock/faults", status: 200, lists: 418},
		{method: "PATCH", path: "/_mock/faults/fault-1", body: `{"enabled":false}`, status: 200, lists: 200},
		{method: "PATCH", path: "/_mock/faults/fault-1", body: `{"enabled":true}`, status: 200, lists: 418},
		{method: "PATCH", path: "/_mock/faults/fault-1", body: `{}`, status: 422, lists: 418},
		{method: "PATCH", path: "/_mock/faults/fault-9", body: `{"enabled":true}`, status: 404, lists: 418},
		{method: "PUT", path: "/_mock/faults/seed", body: `{"seed":7}`, status: 200, lists: 418},
		{method: "PUT", path: "/_mock/faults/seed", body: `{"seed":-1}`, status: 422, lists: 418},
		{method: "DELETE", path: "/_mock/faults/fault-9", status: 404, lists: 418},
		{method: "DELETE", path: "/_mock/faults/fault-1", status: 204, lists: 200},
		{method: "POST", path: "/_mock/faults", body: `{"action":"status","path":"/lists"}`, status: 200, lists: 503},
		{method: "DELETE", path: "/_mock/faults", status: 204, lists: 200},
		{method: "POST", path: "/_mock/faults", body: `{"action":"explode"}`, status: 422, lists: 200},
		{method: "POST", path: "/_mock/faults", body: `{"action":"status","delay_ms":-5}`, status: 422, lists: 200},
		{method: "POST", path: "/_mock/faults", body: `{"action":"status","operation":"nothing"}`, status: 422, lists: 200},
		{method: "PUT", path: "/_mock/lookup-limit", body: `{"mode":"fixed_window"}`, status: 200, lists: 200},
		{method: "PUT", path: "/_mock/lookup-limit", body: `{"mode":"never"}`, status: 422, lists: 200},
	}
	for _, step := range steps {
		if a := c.do(step.method, step.path, step.body); a.status != step.status {
			t.Errorf("%s %s %s: %d %s, want %d", step.method, step.path, step.body, a.status, a.text, step.status)
		}
		if got := c.do("GET", "/lists", nil).status; got != step.lists {
			t.Errorf("after %s %s %s: GET /lists is %d, want %d", step.method, step.path, step.body, got, step.lists)
		}
	}
	typo := c.do("POST", "/_mock/faults", `{"action":"status","operation":"submitEmial"}`)
	if !strings.Contains(typo.text, "did you mean submitEmail? There are acceptListPolicy, ") {
		t.Errorf("a misspelled operation: %s, want what there is", typo.text)
	}
	mistakes := c.do("POST", "/_mock/faults", `{"action":"status","nth":-1,"status":1}`)
	if strings.Count(mistakes.text, "value_error") != 2 || !strings.Contains(mistakes.text, `["body","nth"]`) {
		t.Errorf("two mistakes: %s, want a value_error each", mistakes.text)
	}
	if limit := c.must("GET", "/_mock/info", nil).object["lookup_limit"]; limit != "fixed_window" {
		t.Errorf("the lookup limit is %v, want fixed_window", limit)
	}
}

func TestControlInternalError(t *testing.T) {
	c := newControlled(t)
	c.must("POST", "/_mock/faults", `{"action":"internal_error","times":1,"body":"the queue is full"}`)
	if a := c.do("POST", "/v2/emails", `{"email":"not an address"}`); a.status != 422 {
		t.Fatalf("an invalid submission: %d, want 422", a.status)
	}
	failed := c.probe.email("x@example.org")
	if a := c.must("GET", "/v2/emails/"+failed, nil); a.object["status"] != "error" ||
		a.object["error"] != "internal error; the queue is full" {
		t.Errorf("the message is %s, want the error of the fault", a.text)
	}
	if record := c.must("GET", "/_mock/outbox/"+failed, nil); !strings.Contains(record.text, `"event":"Email.Error"`) {
		t.Errorf("the record is %s, want its Email.Error", record.text)
	}
	if next := c.must(
		"POST", "/v2/emails",
		`{"email":"y@example.org","sender":{"email":"s@example.com"},"content":{"subject":"y","text":"y"}}`,
	); next.object["status"] != "queued" {
		t.Errorf("the next message is %s, want queued", next.text)
	}
}

func TestControlSend(t *testing.T) {
	c := newControlled(t)
	tests := []struct {
		name, body string
		status     int
		want       string // the event, or the invalid field
	}{
		{
			name: "to a webhook",
			body: `{"webhook_id":"` + c.hook + `","body":{"event":"Email.Bounced","id":"e-1"}}`, status: 200,
			want: "Email.Bounced",
		},
		{
			name:   "to a URL",
			body:   `{"url":"http://app.test/other","secret":"s","hash_function":"sha512","body":{"event":"Made.Up"}}`,
			status: 200, want: "Made.Up",
		},
		{name: "no event at all", body: `{"webhook_id":"` + c.hook + `","body":[1]}`, status: 200},
		{name: "no body", body: `{"webhook_id":"` + c.hook + `"}`, status: 422, want: "[body body]"},
		{name: "an unknown webhook", body: `{"webhook_id":"99","body":{}}`, status: 404, want: "[body webhook_id]"},
		{name: "nowhere", body: `{"body":{}}`, status: 422, want: "[body webhook_id]"},
		{
			name: "both",
			body: `{"webhook_id":"` + c.hook + `","url":"http://app.test/","secret":"s","body":{}}`, status: 422,
			want: "[body webhook_id]",
		},
		{name: "no secret", body: `{"url":"http://app.test/","body":{}}`, status: 422, want: "[body secret]"},
		{name: "a blank secret", body: `{"url":"http://app.test/","secret":" ","body":{}}`, status: 422, want: "[body secret]"},
		{
			name: "an unknown function",
			body: `{"url":"http://app.test/","secret":"s","hash_function":"md5","body":{}}`, status: 422,
			want: "[body hash_function]",
		},
		{name: "no URL", body: `{"url":"app.test","secret":"s","body":{}}`, status: 422, want: "[body url]"},
	}
	if a := c.do("POST", "/_mock/deliveries/nothing/redeliver", nil); a.status != 404 {
		t.Errorf("an unknown delivery: %d, want 404", a.status)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := c.do("POST", "/_mock/events", tt.body)
			if a.status != tt.status {
				t.Fatalf("got %d %s, want %d", a.status, a.text, tt.status)
			}
			if tt.status != 200 {
				if _, loc := a.detail(); loc != tt.want {
					t.Errorf("it says %s, want %s", a.text, tt.want)
				}
				return
			}
			c.must("POST", "/_mock/wait?drain=true", nil)
			d := c.must("GET", "/_mock/deliveries/"+a.id("id"), nil)
			if d.object["state"] != "delivered" || d.object["event"] != tt.want || d.object["signature"] == "" {
				t.Errorf("the delivery is %s, want a signed %s, delivered", d.text, tt.want)
			}
		})
	}
}

// A request with an invalid token is logged with its operation, and its error explains what is wrong.
func TestControlRequestsWithInvalidToken(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	for header, want := range map[string]string{
		"":                      "the Authorization header is missing",
		"Basic b25lOg==":        "the Authorization header must be Bearer and an access token",
		"Bearer":                "the Authorization header must be Bearer and an access token",
		"Bearer a wrong secret": "the access token is missing or unknown",
	} {
		p.must("DELETE", "/_mock/state", nil)
		req := request(t, "GET", p.URL()+"/lists/7/contacts", "", "")
		req.Header.Del("Authorization")
		if header != "" {
			req.Header.Set("Authorization", header)
		}
		if a := p.send(req); a.status != 401 || !strings.Contains(a.text, want) || strings.Contains(a.text, "wrong secret") {
			t.Errorf("%q: %d %s, want 401: %s", header, a.status, a.text, want)
		}
		a := p.must("POST", "/_mock/wait", `{"for":"request","operation":"listContacts","status":"401","timeout_ms":1}`)
		found := a.object["data"].([]any)[0].(map[string]any)
		if found["closest"] != nil {
			t.Errorf("%q: %s, want no other operation", header, a.text)
		}
	}
	p.as("wrong").do("GET", "/nothing", nil)
	if r := p.Requests(); r[len(r)-1].Operation != "" {
		t.Errorf("an unknown path has the operation %s", r[len(r)-1].Operation)
	}
}

func TestControlRedirectsToSlash(t *testing.T) {
	w := httptest.NewRecorder()
	newProbe(t, mockserver.Config{}).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/_mock?token=x", nil))
	if to := w.Header().Get("Location"); w.Code != http.StatusPermanentRedirect || to != "_mock/?token=x" {
		t.Errorf("%d to %s, want 308 to /_mock/?token=x", w.Code, to)
	}
}

// A browser that requests the root is redirected to the console, if there is one. A program gets the API's response.
func TestConsole(t *testing.T) {
	for name, tt := range map[string]struct {
		console      http.Handler
		path, accept string
		want         int
	}{
		"browser":           {http.NotFoundHandler(), "/", "text/html,application/xhtml+xml", http.StatusSeeOther},
		"program":           {http.NotFoundHandler(), "/", "application/json", http.StatusUnauthorized},
		"without a console": {nil, "/", "text/html", http.StatusUnauthorized},
		"file":              {http.RedirectHandler("/", http.StatusTeapot), "/_mock/app.js", "*/*", http.StatusTeapot},
	} {
		p := newProbe(t, mockserver.Config{Console: tt.console})
		req := request(t, "GET", "http://127.0.0.1"+tt.path, "", "")
		req.Header.Set("Accept", tt.accept)
		rec := httptest.NewRecorder()
		p.ServeHTTP(rec, req)
		if to := rec.Header().Get("Location"); rec.Code != tt.want || tt.want == http.StatusSeeOther && to != "_mock/" {
			t.Errorf("%s: %d to %q, want %d", name, rec.Code, to, tt.want)
		}
	}
}

// changeReader reads the stream of changes.
type changeReader struct {
	t     *testing.T
	lines *bufio.Scanner
}

func (p probe) stream(t *testing.T, client *http.Client) changeReader {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.URL()+"/_mock/stream", nil)
	must(t, err)
	res, err := client.Do(req)
	must(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	if kind := res.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("the stream is %s, want text/event-stream", kind)
	}
	return changeReader{t, bufio.NewScanner(res.Body)}
}

// next returns the name and data of the next event, or empty strings at the end.
func (l changeReader) next() (name, data string) {
	for l.lines.Scan() {
		switch key, value, _ := strings.Cut(l.lines.Text(), ": "); {
		case key == "event":
			name = value
		case key == "data":
			data = value
		case key == "" && name != "":
			return name, data
		}
	}
	return "", ""
}

// until reads changes until one of this kind, and returns its record.
func (l changeReader) until(kind string) map[string]any {
	l.t.Helper()
	for {
		name, data := l.next()
		if name == "" {
			l.t.Fatalf("the stream ended before a change of a %s", kind)
		}
		var c struct {
			Kind   string
			Record map[string]any
		}
		if err := json.Unmarshal([]byte(data), &c); err != nil {
			l.t.Fatalf("%s: %v", data, err)
		}
		if c.Kind == kind {
			return c.Record
		}
	}
}

func TestControlStream(t *testing.T) {
	srv := mockserver.Start(mockserver.Config{RecordEvents: true, RetrySchedule: []time.Duration{time.Hour}})
	t.Cleanup(srv.Close)
	p := probe{srv, t, srv.Token()}
	for _, via := range []struct {
		name   string
		client *http.Client
	}{{"socket", http.DefaultClient}, {"in process", &http.Client{Transport: srv.Transport()}}} {
		t.Run(via.name, func(t *testing.T) {
			stream := p.stream(t, via.client)
			if name, data := stream.next(); name != "hello" || !strings.Contains(data, `"seq":`) {
				t.Fatalf("it begins with %s %s, want hello with a seq", name, data)
			}
			id := p.email("a@example.org")
			if r := stream.until("message"); r["id"] != id || r["html"] != nil {
				t.Errorf("a message: %v, want %s without its parts", r, id)
			}
			if r := stream.until("request"); r["operation"] != "submitEmail" || r["body"] != nil {
				t.Errorf("a request: %v, want submitEmail without its body", r)
			}
			stream.until("records")
			must(t, p.Open(id))
			if r := stream.until("message"); r["opens"] != 1.0 {
				t.Errorf("an opened message: %v, want 1 open", r)
			}
			if r := stream.until("event"); r["event"] != "Email.Opened" || r["body"] != nil {
				t.Errorf("an event: %v, want Email.Opened without its body", r)
			}
			if _, err := p.SendEventTo("http://127.0.0.1:1/", parsedSecret(t, "s"), []byte("{}")); err != nil {
				t.Fatal(err)
			}
			for _, state := range []string{"queued", "delivering", "failed"} {
				if r := stream.until("delivery"); r["state"] != state {
					t.Errorf("a delivery: %v, want it %s", r, state)
				}
			}
			p.inject(mockserver.Fault{Action: mockserver.FaultReset})
			stream.until("fault")
			p.Reset()
			stream.until("state")
		})
	}
}

// Shutdown ends open streams.
func TestControlStreamShutdown(t *testing.T) {
	for _, end := range []struct {
		name string
		stop func(*mockserver.Server) error
	}{
		{"shutdown", func(s *mockserver.Server) error { return s.Shutdown(t.Context()) }},
		{"close", func(s *mockserver.Server) error { s.Close(); return nil }},
	} {
		t.Run(end.name, func(t *testing.T) {
			srv := mockserver.Start(mockserver.Config{})
			t.Cleanup(srv.Close)
			stream := probe{srv, t, srv.Token()}.stream(t, http.DefaultClient)
			stream.next()
			must(t, end.stop(srv))
			if name, data := stream.next(); name != "" {
				t.Errorf("the stream goes on with %s %s, want its end", name, data)
			}
		})
	}
}

// The search finds parts of addresses in one list, newest first.
func TestControlContactSearch(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	list := p.list()
	for _, email := range []string{"ada@example.org", "Grace@example.org", "adam@example.com"} {
		p.contact(list, email)
	}
	p.contact(p.list(), "ada@elsewhere.example")
	p.must("POST", list+"/contacts/"+p.must("GET", "/_mock"+list+"/contacts?search=adam", nil).first("id")+"/unsubscribe", nil)
	for query, want := range map[string]string{
		"":                               "adam@example.com Grace@example.org ada@example.org",
		"?search=ADA":                    "adam@example.com ada@example.org",
		"?search=ada&status=active":      "ada@example.org",
		"?search=race":                   "Grace@example.org",
		"?search=elsewhere":              "",
		"?search=ada+com":                "adam@example.com",
		"?limit=1":                       "adam@example.com",
		"?status=unsubscribed&limit=200": "adam@example.com",
	} {
		var got []string
		for _, c := range p.must("GET", "/_mock"+list+"/contacts"+query, nil).object["data"].([]any) {
			got = append(got, c.(map[string]any)["email"].(string))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: got %q, want %s", query, got, want)
		}
	}
	for _, list := range []string{"999999", "x", "0"} {
		if a := p.do("GET", "/_mock/lists/"+list+"/contacts", nil); a.status != http.StatusNotFound {
			t.Errorf("list %s: %d, want 404", list, a.status)
		}
	}
}

// first returns a field of the first record of a list.
func (a answer) first(member string) string {
	return a.object["data"].([]any)[0].(map[string]any)[member].(string)
}
