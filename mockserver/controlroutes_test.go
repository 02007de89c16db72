package mockserver_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"

	"example.com/emailplatform/mockserver"
)

// The console uses the API without a token. Its requests are not logged, and faults do not apply to them.
func TestControlAsAccount(t *testing.T) {
	p := newProbe(t, mockserver.Config{Tokens: []mockserver.Token{
		{Value: "reader", UserID: 1, ReadOnly: true}, {Value: "owner", UserID: 2}, {Value: "other", UserID: 3, AccountID: 9},
	}}).as("owner")
	list := p.list()
	lookup := "/v2/emails/" + p.email("a@example.org")
	logged := len(p.Requests())
	p.must("POST", "/_mock/faults", `{"action":"status"}`)
	p = p.as("")
	for _, tt := range []struct {
		name, method, path, body string
		status                   int
	}{
		{"read", "GET", "1/api/lists?page=1", "", 200},
		{"write as the user who can", "POST", "1/api" + list + "/contacts", `{"email":"a@example.org"}`, 201},
		{"write as the user who cannot", "POST", "1/api/lists?user_id=1", `{"name":"x"}`, 403},
		{"encoded slashes", "GET", "1/api/" + strings.ReplaceAll(list[1:]+"/contacts", "/", "%2F") + "?page=1", "", 200},
		{"unknown address", "DELETE", "1/api/suppressed-emails/a%2Fb@example.org", "", 404},
		{"address with a slash", "POST", "1/api/suppressed-emails", `{"email":"a/b@example.org"}`, 201},
		{"address with a slash, encoded twice", "DELETE", "1/api/suppressed-emails%2Fa%252Fb%40example.org", "", 204},
		{"list of another account", "GET", "9/api" + list, "", 404},
		{"unknown account", "GET", "8/api/lists", "", 404},
		{"unknown path", "GET", "1/api/nothing", "", 404},
		{"wrong method", "DELETE", "1/api/lists", "", 405},
		{"missing field", "POST", "1/api/lists", `{}`, 422},
		{"unknown field", "POST", "1/api/lists", `{"name":"x","color":1}`, 422},
		{"unknown parameter", "GET", "1/api/lists?perpage=1", "", 422},
		{"email", "GET", "1/api" + lookup, "", 200},
		{"same email, without the lookup limit", "GET", "1/api" + lookup, "", 200},
	} {
		if a := p.do(tt.method, "/_mock/accounts/"+tt.path, tt.body); a.status != tt.status {
			t.Errorf("%s: got %d %s, want %d", tt.name, a.status, a.text, tt.status)
		}
	}
	if n := len(p.Requests()); n != logged {
		t.Errorf("%d requests were logged, want none", n-logged)
	}
	if calls := p.Faults()[0].Calls; calls != 0 {
		t.Errorf("the fault counted %d, want 0 calls", calls)
	}
}

// FuzzControl sends random requests to the control routes. No request may panic or cause a 5xx, and each error has the
// error format.
func FuzzControl(f *testing.F) {
	for _, seed := range [][3]string{
		{"GET", "outbox?search=a&limit=2&before=x", ""},
		{"POST", "outbox/x/bounce", `{"category":"bounce_hb"}`},
		{"GET", "deliveries/dlv-1", ""},
		{"GET", "requests?status=4xx", ""},
		{"GET", "requests/req-00000001", ""},
		{"POST", "faults", `{"action":"status","probability":0.5,"delay_ms":1}`},
		{"PATCH", "faults/fault-1", `{"enabled":true}`},
		{"POST", "events", `{"url":"http://app.test","secret":"s","body":{"event":"x"}}`},
		{"PUT", "state", `{"version":4}`},
		{"POST", "seed", `{"lists":[{"name":"x"}]}`},
		{"GET", "accounts/1/api/lists/1/contacts?page=2", ""},
		{"POST", "accounts/1/api/lists", `{"name":"x"}`},
		{"PUT", "lookup-limit", `{"mode":"token_bucket"}`},
	} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, method, target, body string) {
		path, query, _ := strings.Cut(target, "?")
		if strings.HasPrefix(path, "stream") || strings.HasPrefix(path, "wait") || !validMethod(method) {
			t.Skip() // skips blocking routes and invalid methods
		}
		srv := mockserver.New(mockserver.Config{Targets: map[string]http.Handler{"app.test": http.NotFoundHandler()}})
		defer srv.Close()
		for range 2 { // the second request finds the records of the first
			req := httptest.NewRequest(http.MethodGet, "/", strings.NewReader(body))
			req.Method, req.URL = method, &url.URL{Path: "/_mock/" + path, RawQuery: query}
			req.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			srv.ServeHTTP(w, req)
			if w.Code >= 500 {
				t.Errorf("%s %s %s: %d %s, want no 5xx", method, target, body, w.Code, w.Body)
			}
			if w.Code >= 400 && !strings.HasPrefix(w.Body.String(), `{"detail":[{"loc":[`) {
				t.Errorf("%s %s %s: %d %s, want the shape of an error", method, target, body, w.Code, w.Body)
			}
		}
	})
}

func validMethod(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < 'A' || r > 'Z' })
}

// command matches a curl example in the manual.
var command = regexp.MustCompile(`(?m)^curl(?: -X ([A-Z]+))? "\$MOCK/([^"]*)"(?: --json '(.*)')?$`)

// TestManualExamples runs each example of docs/control-api.md on a new server, and validates the response with
// /_mock/openapi.json. A missing or additional field fails.
func TestManualExamples(t *testing.T) {
	manual, err := os.ReadFile(filepath.Join("..", "docs", "control-api.md"))
	must(t, err)
	doc := controlDocument(t)
	examples := command.FindAllStringSubmatch(string(manual), -1)
	if n := strings.Count(string(manual), "\ncurl "); n != len(examples) || n < 40 {
		t.Errorf("%d examples are commands, of %d", len(examples), n)
	}
	for _, example := range examples {
		t.Run(example[0], func(t *testing.T) {
			c := newControlled(t)
			c.must("POST", "/_mock/outbox/"+c.email+"/bounce", nil)
			c.must("POST", "/_mock/faults", `{"action":"status","operation":"listTags"}`)
			method, path, body := example[1], c.filled(example[2]), c.filled(example[3])
			if method == "" {
				method = map[bool]string{true: "GET", false: "POST"}[body == ""]
			}
			c.must("POST", "/_mock/wait", nil)
			c.makes(doc, method, path, body)
		})
	}
}

// filled replaces placeholders such as $ID.
func (c controlled) filled(text string) string {
	c.t.Helper()
	if text == "@snapshot.json" {
		return c.must("GET", "/_mock/state", nil).text
	}
	if strings.Contains(text, "$CONFIRMATION") {
		c.must("POST", c.list+"/contacts?send_double_opt_in=true", `{"email":"new@example.org"}`)
		return strings.ReplaceAll(text, "$CONFIRMATION", c.ids("/_mock/outbox?to=new@example.org"))
	}
	resource, _, _ := strings.Cut(text, "/")
	if resource == "templates" {
		return strings.ReplaceAll(text, "$ID", c.must("POST", "/templates", `{"name":"Welcome","content":{"html":"{{name}}"}}`).id("template_id"))
	}
	switch {
	case resource == "campaigns":
		return strings.ReplaceAll(text, "$ID", c.must("POST", "/campaigns", `{"name":"May","content":{"html":"{{name}}"}}`).id("campaign_id"))
	case strings.HasSuffix(text, "/restore"):
		c.must("DELETE", "/_mock/outbox/"+c.email, nil)
	}
	id := map[string]string{
		"outbox": c.email, "lists": strings.TrimPrefix(c.list, "/lists/"), "events": "evt-1", "deliveries": "dlv-1", "requests": "req-00000001", "faults": "fault-1",
	}[resource]
	return strings.ReplaceAll(text, "$ID", id)
}

// makes calls a control route and validates the response.
func (c controlled) makes(doc *openapi3.T, method, path, body string) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.URL()+"/_mock/"+path, strings.NewReader(body))
	must(c.t, err)
	req.Header.Set("Content-Type", "application/json")
	res, err := (&http.Client{Transport: c.Transport()}).Do(req)
	must(c.t, err)
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		text, _ := io.ReadAll(res.Body)
		c.t.Fatalf("got %s %s, want a success", res.Status, text)
	}
	if strings.HasPrefix(path, "accounts/") {
		return // openapi.yaml describes this response
	}
	media, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	op := operationAt(doc, method, req.URL.Path)
	if op == nil {
		c.t.Fatalf("the document has no %s %s", method, req.URL.Path)
	}
	declared := op.Responses.Status(res.StatusCode)
	if declared == nil || media != "" && declared.Value.Content.Get(media) == nil {
		c.t.Fatalf("the document does not describe %d %s", res.StatusCode, media)
	}
	if media != "application/json" || declared.Value.Content.Get(media).Schema == nil {
		return
	}
	var value any
	must(c.t, json.NewDecoder(res.Body).Decode(&value))
	if err := declared.Value.Content.Get(media).Schema.Value.VisitJSON(value); err != nil {
		c.t.Error(err)
	}
}

func operationAt(doc *openapi3.T, method, path string) *openapi3.Operation {
	if item := doc.Paths.Value(path); item != nil {
		return item.GetOperation(method)
	}
	for pattern, item := range doc.Paths.Map() {
		parts := regexp.MustCompile(`\{[a-z_]+\}`).ReplaceAllString(pattern, "[^/]+")
		if regexp.MustCompile("^" + parts + "$").MatchString(path) {
			return item.GetOperation(method)
		}
	}
	return nil
}

// controlDocument returns /_mock/openapi.json. Its objects reject additional fields.
func controlDocument(t *testing.T) *openapi3.T {
	t.Helper()
	text := newProbe(t, mockserver.Config{}).must("GET", "/_mock/openapi.json", nil).text
	text = strings.ReplaceAll(text, `"additionalProperties":false,`, "") // the next line adds it to each object
	text = strings.ReplaceAll(text, `"type":"object"`, `"type":"object","additionalProperties":false`)
	doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
	must(t, err)
	doc.OpenAPI = "3.0.3" // the 3.0 validator is faster and supports all schemas of the control routes
	return doc
}

// overview is the response of GET /_mock/overview.
type overview struct {
	Now      time.Time
	Messages map[string]int64
	Failed   int64
	Minutes  []struct {
		Minute                             time.Time
		Messages, Events, Attempts, Failed int64
	}
	Waiting []struct {
		Why   string
		N     int
		Until time.Time
	}
}

func (p probe) overview(query string) (out overview) {
	p.t.Helper()
	must(p.t, json.Unmarshal([]byte(p.must("GET", "/_mock/overview"+query, nil).text), &out))
	return out
}

// The overview lists pending work with its reason, ordered by time.
func TestOverviewPending(t *testing.T) {
	status := http.StatusInternalServerError
	p := newProbe(t, mockserver.Config{
		FreezeClock: true, Now: time.Date(2026, 3, 1, 12, 0, 30, 0, time.UTC), RetrySchedule: []time.Duration{time.Hour},
		Targets: map[string]http.Handler{"app.test": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })},
	})
	list := p.list()
	p.in("pending", list, "pending@example.org")
	p.webhook("Email.Opened")
	p.must("POST", "/webhooks", `{"url":"http://app.test/slow","events":["Email.Clicked"],"rate_limit":1,"rate_limit_period":"minute"}`)
	archived := p.webhook("Email.Bounced")
	email := p.email("ada@example.org")
	must(t, p.Open(email))
	must(t, p.Bounce(email, mockserver.HardBounce))
	must(t, p.Wait(t.Context()))
	status = http.StatusNoContent
	for range 3 {
		must(t, p.Click(email, "https://example.org/"))
	}
	p.must("POST", archived+"/archive", nil)
	p.must("POST", p.campaign(list, `"subject":"A","html":"<p>x</p>"`)+"/schedule",
		map[string]any{"scheduled_for": time.Date(2026, 3, 1, 12, 30, 0, 0, time.UTC).Unix()})
	must(t, p.Wait(t.Context()))
	var got []string
	view := p.overview("")
	for _, w := range view.Waiting {
		until := ""
		if !w.Until.IsZero() {
			until = " " + w.Until.Sub(view.Now).Round(time.Second).String()
		}
		got = append(got, fmt.Sprintf("%s %d%s", w.Why, w.N, until))
	}
	if text := strings.Join(got, ", "); text != "rate_limit 2 1m0s, campaign 1 29m30s, retry 1 1h0m0s, archived 1, confirmation 1" {
		t.Errorf("pending work: %s", text)
	}
	if first := view.Minutes; len(first) != 1 || first[0].Attempts != 3 || first[0].Failed != 2 || !first[0].Minute.Equal(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)) {
		t.Errorf("the minute is %+v", first)
	}
	p.advance(2 * time.Hour)
	if minutes := p.overview("?minutes=5").Minutes; len(minutes) != 0 {
		t.Errorf("within the last five minutes: %+v", minutes)
	}
	if minutes := p.overview("?minutes=180").Minutes; len(minutes) < 3 || minutes[0].Messages != 2 {
		t.Errorf("within three hours: %+v", minutes)
	}
	if a := p.do("GET", "/_mock/overview?account_id=3", nil); a.status != 404 || !strings.Contains(a.text, `["query","account_id"]`) {
		t.Errorf("an unknown account: %d %s, want 404", a.status, a.text)
	}
}

// The preview of a template replaces merge tags. It runs no script, so a template cannot call the control routes.
func TestTemplatePreview(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	id := p.must("POST", "/templates", `{"name":"W","content":{"html":"<p>Hello {{name}}, {{other}}<script>alert(1)</script>","text":"Hello {{ name }}"}}`).id("template_id")
	const attributes = "?attributes=%7B%22name%22:%22A%3Cda%3E%22%7D"
	for path, want := range map[string]struct{ text, header, value string }{
		"templates/" + id + "/html" + attributes:     {"<p>Hello A&lt;da&gt;, <script>", "Content-Security-Policy", "sandbox allow-popups"},
		"templates/" + id + "/text" + attributes:     {"Hello A<da>", "Content-Type", "text/plain"},
		"accounts/1/api/templates/" + id + "/render": {"<script>", "Content-Security-Policy", "sandbox; default-src 'none'"},
	} {
		a := p.must("GET", "/_mock/"+path, nil)
		policy := a.header.Get("Content-Security-Policy")
		if !strings.Contains(a.text, want.text) || !strings.Contains(a.header.Get(want.header), want.value) ||
			strings.Contains(policy, "allow-scripts") || a.header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %s %v", path, a.text, a.header)
		}
	}
	for path, status := range map[string]int{id + "/html?attributes=%7B%22a%22:1%7D": 422, id + "/text?attributes=x": 422, "77/html": 404, "x/text": 404} {
		if a := p.do("GET", "/_mock/templates/"+path, nil); a.status != status {
			t.Errorf("%s: %d %s, want %d", path, a.status, a.text, status)
		}
	}
}

// The list route returns the number of contacts by status, and can search by name.
func TestListContactCounts(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	list := p.list()
	want := map[string]int{}
	for i, status := range []string{"active", "active", "pending", "unsubscribed", "deleted", "spam", "bounced"} {
		p.in(status, list, fmt.Sprintf("%s%d@example.org", status, i))
		want[status]++
	}
	p.must("POST", "/lists", `{"name":"Unused"}`)
	var page struct {
		Total int
		Data  []struct {
			ID       string
			Contacts map[string]int
			Accepted bool `json:"policy_accepted"`
		}
	}
	must(t, json.Unmarshal([]byte(p.must("GET", "/_mock/lists?search=custom", nil).text), &page))
	if page.Total != 1 || "/lists/"+page.Data[0].ID != list || !page.Data[0].Accepted || !maps.Equal(page.Data[0].Contacts, want) {
		t.Errorf("found %+v, want %s with %v", page, list, want)
	}
}

// If the server responded without reading the body, the client could lose the response to a connection reset.
func TestGetRejectsBody(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	for _, path := range []string{"platform.yaml", "openapi.json", "stream", "outbox/x/html", "deliveries/x/body"} {
		if a := p.do("GET", "/_mock/"+path, `{"a":1}`); a.status != 422 || !strings.Contains(a.text, "no such field") {
			t.Errorf("GET %s with a body: got %d %s, want 422", path, a.status, a.text)
		}
	}
}
