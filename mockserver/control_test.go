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

// controlled is a server with a webhook and a list. One email was sent to a contact of the list.
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

// ids returns the ids of a list route.
func (c controlled) ids(path string) string {
	c.t.Helper()
	ids := []string{}
	for _, record := range c.must("GET", path, nil).object["data"].([]any) {
		ids = append(ids, record.(map[string]any)["id"].(string))
	}
	return strings.Join(ids, " ")
}

func TestControlRecipients(t *testing.T) {
	for _, tt := range []struct {
		action, body string
		status       int
		contains     string
	}{
		{"bounce", "", 200, `"bounce_category":"bounce_hb"`},
		{"bounce", `{"category":"bounce_fm","diagnostic":"452 full"}`, 200, `"bounce_category":"bounce_fm"`},
		{"bounce", `{"category":"bounce_xx"}`, 422, `"category"`},
		{"bounce", `{"catgory":"bounce_hb"}`, 422, `"catgory"`},
		{"complain", `{"provider":"Example"}`, 200, `"reported_as_spam":true`},
		{"open", `{}`, 200, `"opens":1`},
		{"click", `{"url":"https://shop.example/"}`, 200, `"clicks":1`},
		{"click", "", 422, `"url"`}, // the message has no link
		{"unsubscribe", "", 200, `"unsubscribed":true`},
		{"global-unsubscribe", "", 200, `"global_unsubscribed":true`},
		{"confirm", "", 409, `invalid_state`}, // it is not a confirmation email
		{"dance", "", 404, `not_found`},
	} {
		t.Run(tt.action+tt.body, func(t *testing.T) {
			c := newControlled(t)
			a := c.do("POST", "/_mock/outbox/"+c.email+"/"+tt.action, tt.body)
			if a.status != tt.status || !strings.Contains(a.text, tt.contains) {
				t.Errorf("got %d %s, want %d with %s", a.status, a.text, tt.status, tt.contains)
			}
			if other := c.do("POST", "/_mock/outbox/unknown/"+tt.action, nil); other.status != 404 {
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
	all := c.email
	for _, id := range sent {
		all = id + " " + all
	}
	for _, tt := range []struct{ path, want string }{
		{"outbox", all},
		{"outbox?limit=2&before=" + sent[3], sent[2] + " " + sent[1]},
		{"outbox?search=OFFER+user3", sent[3]},
		{"outbox?to=user1@example.org", sent[1]},
		{"outbox?account_id=2", ""},
		{"outbox?status=bounced", ""},
		{"outbox?sent_by=email_api&limit=1", sent[4]},
		{"deliveries", "dlv-5 dlv-4 dlv-3 dlv-2 dlv-1"},
		{"deliveries?state=delivered&limit=1", "dlv-5"},
		{"deliveries?state=failed", ""},
		{"deliveries?webhook_id=" + c.hook + "&search=user2", "dlv-3"},
		{"deliveries?event=Email.Bounced", ""},
		{"deliveries?account_id=2", ""},
		{"events?event=Email.Opened&limit=2", "evt-6 evt-5"},
		{"events?message_id=" + sent[0], "evt-2"},
		{"events?search=contact.added", "evt-1"},
		{"events?account_id=2", ""},
		{"requests?account_id=1&operation=createWebhook", "req-00000001"},
		{"requests?status=2xx&method=POST&search=createList", "req-00000002"},
		{"requests?status=500", ""},
		{"requests?account_id=2", ""},
	} {
		if got := c.ids("/_mock/" + tt.path); got != tt.want {
			t.Errorf("%s: got  %s\nwant %s", tt.path, got, tt.want)
		}
	}
	page := c.must("GET", "/_mock/outbox?search=offer&limit=2&before="+sent[4], nil).object
	if page["total"] != 5.0 || page["has_more"] != true {
		t.Errorf("total %v, more %v, want 5 and true", page["total"], page["has_more"])
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
}

func TestControlInfo(t *testing.T) {
	var info struct {
		Accounts   []struct{ Users []struct{ Email string } }
		Events     []events.Name
		Categories []struct{ Category string } `json:"bounce_categories"`
		Schedule   []int                       `json:"retry_schedule_ms"`
	}
	must(t, json.Unmarshal([]byte(newProbe(t, mockserver.Config{}).must("GET", "/_mock/info", nil).text), &info))
	if info.Accounts[0].Users[0].Email != "user@example.com" || info.Schedule[3] != 120_000 {
		t.Errorf("info: %+v, want user@example.com and 120,000 ms before the fourth retry", info)
	}
	if got, want := slices.Sorted(slices.Values(info.Events)), slices.Sorted(slices.Values(everything)); !slices.Equal(got, want) {
		t.Errorf("the events are %q, want %q", got, want)
	}
	var categories []string
	for _, c := range info.Categories {
		categories = append(categories, strings.TrimPrefix(c.Category, "bounce_"))
	}
	if got, want := strings.Join(slices.Sorted(slices.Values(categories)), " "), "ac ar cr df fm hb mb sb tr"; got != want {
		t.Errorf("the bounce categories are %s, want %s", got, want)
	}
}

func TestControlRecords(t *testing.T) {
	c := newControlled(t)
	c.must("POST", "/_mock/outbox/"+c.email+"/bounce", nil)
	c.must("POST", "/_mock/wait", nil)
	c.do("GET", "/list/7/contcts", nil)
	const closest = `"closest":{"operation":"listContacts","method":"GET","path":"/lists/{list_id}/contacts"}`
	for path, contains := range map[string][]string{
		"outbox/" + c.email:             {`"html":`, `"headers":[{`, `"links":[]`, `"event":"Email.Bounced"`},
		"outbox/" + c.email + "/source": {"Subject: Hello\n", "MIME-Version: 1.0"},
		"deliveries/dlv-1":              {`"secret":"`, `"hash_function":"sha256"`, `"state":"delivered"`, `"max_attempts":8`, `"body":"{`},
		"deliveries/dlv-1/body":         {`{"id":"`},
		"events/evt-2":                  {`"deliveries":["dlv-1"]`, `"message_id":"` + c.email},
		"requests/" + strings.Fields(c.ids("/_mock/requests"))[0]: {`"response":`, closest},
		"requests/req-00000001":                                   {`"operation":"createWebhook"`, `"body":"{\"url\"`},
		"deliveries/unknown":                                      nil,
		"deliveries/unknown/body":                                 nil,
		"events/unknown":                                          nil,
		"requests/unknown":                                        nil,
	} {
		a, status := c.do("GET", "/_mock/"+path, nil), 200
		if contains == nil {
			status, contains = 404, []string{"not_found"}
		}
		for _, want := range contains {
			if a.status != status || !strings.Contains(a.text, want) {
				t.Errorf("%s: got %d %s, want %d with %s", path, a.status, a.text, status, want)
			}
		}
	}
}

// The policy of an email's HTML forbids scripts and, by default, remote content.
func TestControlMailPolicy(t *testing.T) {
	c := newControlled(t)
	id := c.must("POST", "/v2/emails", map[string]any{
		"email": "a@example.org", "sender": map[string]any{"email": "s@example.com"},
		"content": map[string]any{"subject": "x", "html": "<!DOCTYPE html><html><head><title>x</title></head><script>alert(1)</script></html>"},
	}).id("id")
	path := "/_mock/outbox/" + id
	if text := c.must("GET", path+"/html", nil).text; !strings.HasPrefix(text, `<!DOCTYPE html><html><head><base target="_blank"><title>`) {
		t.Errorf("the page is %s, want links to open a new tab", text)
	}
	for query, images := range map[string]string{"": "img-src data:;", "?remote=1": "img-src data: https: http:;"} {
		policy := c.must("GET", path+"/html"+query, nil).header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none';") ||
			!strings.Contains(policy+";", images) || strings.Contains(policy, "script") || strings.Contains(policy, "allow-same-origin") ||
			query == "" && strings.Contains(policy, "http") {
			t.Errorf("%q: the policy is %s", query, policy)
		}
	}
	for _, path := range []string{path + "/source", path} {
		header := c.must("GET", path, nil).header
		if strings.Contains(header.Get("Content-Type"), "html") || header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v, want its type and nosniff", path, header)
		}
	}
}

func TestControlFaults(t *testing.T) {
	c := newControlled(t)
	rule := c.must("POST", "/_mock/faults", `{"operation":"listLists","action":"status","status":418,"delay_ms":1}`)
	if rule.object["id"] != "fault-1" || rule.object["enabled"] != true || rule.object["delay_ms"] != 1.0 {
		t.Fatalf("added %s, want fault-1, enabled, with a delay of 1 ms", rule.text)
	}
	for _, step := range []struct {
		method, path, body string
		status             int
		lists              int // expected status of a later GET /lists
	}{
		{"GET", "faults", "", 200, 418},
		{"PATCH", "faults/fault-1", `{"enabled":false}`, 200, 200},
		{"PATCH", "faults/fault-1", `{"enabled":true}`, 200, 418},
		{"PATCH", "faults/fault-1", `{}`, 422, 418},
		{"PATCH", "faults/fault-9", `{"enabled":true}`, 404, 418},
		{"PUT", "faults/seed", `{"seed":7}`, 200, 418},
		{"PUT", "faults/seed", `{"seed":-1}`, 422, 418},
		{"DELETE", "faults/fault-9", "", 404, 418},
		{"DELETE", "faults/fault-1", "", 204, 200},
		{"POST", "faults", `{"action":"status","path":"/lists"}`, 200, 503},
		{"DELETE", "faults", "", 204, 200},
		{"POST", "faults", `{"action":"status","delay_ms":-5}`, 422, 200},
		{"PUT", "lookup-limit", `{"mode":"never"}`, 422, 200},
	} {
		if a := c.do(step.method, "/_mock/"+step.path, step.body); a.status != step.status {
			t.Errorf("%+v: got %d %s", step, a.status, a.text)
		}
		if got := c.do("GET", "/lists", nil).status; got != step.lists {
			t.Errorf("%+v: GET /lists returns %d", step, got)
		}
	}
	typo := c.do("POST", "/_mock/faults", `{"action":"status","operation":"submitEmial"}`)
	if !strings.Contains(typo.text, "did you mean submitEmail? There are acceptListPolicy, ") {
		t.Errorf("a misspelled operation: %s, want a suggestion", typo.text)
	}
	mistakes := c.do("POST", "/_mock/faults", `{"action":"status","nth":-1,"status":1}`)
	if strings.Count(mistakes.text, "value_error") != 2 || !strings.Contains(mistakes.text, `["body","nth"]`) {
		t.Errorf("two invalid fields: %s, want a value_error for each", mistakes.text)
	}
	c.must("PUT", "/_mock/lookup-limit", `{"mode":"fixed_window"}`)
	if limit := c.must("GET", "/_mock/info", nil).object["lookup_limit"]; limit != "fixed_window" {
		t.Errorf("the lookup limit is %v, want fixed_window", limit)
	}
}

func TestControlSend(t *testing.T) {
	c := newControlled(t)
	webhook := `{"webhook_id":"` + c.hook + `"`
	for _, tt := range []struct {
		name, body string
		status     int
		want       string // the event or the location of the error
	}{
		{"to a webhook", webhook + `,"body":{"event":"Email.Bounced","id":"e-1"}}`, 200, "Email.Bounced"},
		{"to a URL", `{"url":"http://app.test/other","secret":"s","hash_function":"sha512","body":{"event":"Made.Up"}}`, 200, "Made.Up"},
		{"no event", webhook + `,"body":[1]}`, 200, ""},
		{"no body", webhook + `}`, 422, "[body body]"},
		{"unknown webhook", `{"webhook_id":"99","body":{}}`, 404, "[body webhook_id]"},
		{"neither webhook nor URL", `{"body":{}}`, 422, "[body webhook_id]"},
		{"webhook and URL", webhook + `,"url":"http://app.test/","secret":"s","body":{}}`, 422, "[body webhook_id]"},
		{"no secret", `{"url":"http://app.test/","body":{}}`, 422, "[body secret]"},
		{"blank secret", `{"url":"http://app.test/","secret":" ","body":{}}`, 422, "[body secret]"},
		{"unknown function", `{"url":"http://app.test/","secret":"s","hash_function":"md5","body":{}}`, 422, "[body hash_function]"},
		{"invalid URL", `{"url":"app.test","secret":"s","body":{}}`, 422, "[body url]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := c.do("POST", "/_mock/events", tt.body)
			if _, loc := a.detail(); a.status != tt.status || tt.status != 200 && loc != tt.want {
				t.Fatalf("got %d %s, want %d %s", a.status, a.text, tt.status, tt.want)
			}
			if tt.status != 200 {
				return
			}
			c.must("POST", "/_mock/wait?drain=true", nil)
			d := c.must("GET", "/_mock/deliveries/"+a.id("id"), nil)
			if d.object["state"] != "delivered" || d.object["event"] != tt.want || d.object["signature"] == "" {
				t.Errorf("the delivery is %s, want a signed %s, delivered", d.text, tt.want)
			}
		})
	}
	if a := c.do("POST", "/_mock/deliveries/unknown/redeliver", nil); a.status != 404 {
		t.Errorf("an unknown delivery: %d, want 404", a.status)
	}
}

// A request with an invalid token is logged with its operation. The error states the cause.
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
		req.Header["Authorization"] = []string{header}
		if a := p.send(req); a.status != 401 || !strings.Contains(a.text, want) || strings.Contains(a.text, "wrong secret") {
			t.Errorf("%q: %d %s, want 401: %s", header, a.status, a.text, want)
		}
		r := p.Requests()[0]
		if a := p.must("GET", "/_mock/requests/"+r.ID, nil); r.Operation != "listContacts" || r.Status != 401 || a.object["closest"] != nil {
			t.Errorf("%q: %s, want listContacts and no similar operation", header, a.text)
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

// A browser that requests the root is redirected to the console, if there is one. Other clients get an API response.
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

// changeReader reads the stream of changes as server-sent events.
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

// until returns the record of the next change of the given kind.
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

// Shutdown and Close end open streams.
func TestControlStreamShutdown(t *testing.T) {
	for name, stop := range map[string]func(*mockserver.Server) error{
		"shutdown": func(s *mockserver.Server) error { return s.Shutdown(t.Context()) },
		"close":    func(s *mockserver.Server) error { s.Close(); return nil },
	} {
		srv := mockserver.Start(mockserver.Config{})
		t.Cleanup(srv.Close)
		stream := probe{srv, t, srv.Token()}.stream(t, http.DefaultClient)
		stream.next()
		must(t, stop(srv))
		if event, data := stream.next(); event != "" {
			t.Errorf("%s: the stream continues with %s %s, want its end", name, event, data)
		}
	}
}

// The search finds parts of addresses in one list. The newest contact is first.
func TestControlContactSearch(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	list := p.list()
	p.contact(list, "ada@example.org")
	p.contact(list, "Grace@example.org")
	p.in("unsubscribed", list, "adam@example.com")
	p.contact(p.list(), "ada@elsewhere.example")
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
