package mockserver_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"example.com/emailplatform/mockserver"
)

func snapshotOf(t *testing.T, srv *mockserver.Server) string {
	t.Helper()
	var out bytes.Buffer
	must(t, srv.Snapshot(&out))
	var indented bytes.Buffer // so that a test finds its way
	must(t, json.Indent(&indented, out.Bytes(), "", " "))
	return indented.String()
}

// populated is a server with records of every kind.
func populated(t *testing.T, cfg mockserver.Config) probe {
	t.Helper()
	cfg.RecordEvents = true
	cfg.Tokens = []mockserver.Token{{Value: "one"}, {Value: "two", UserID: 2, AccountID: 2}}
	p := newProbe(t, cfg)
	p.must("POST", "/webhooks", `{"url":"http://app.test/hook","events":["Email.Opened","Contact.Added"]}`)
	tpl := p.must("POST", "/templates",
		`{"name":"Welcome","content":{"html":"<p>Hello {{name}}</p>","text":"Hello"}}`).id("template_id")
	list := p.list()
	p.must(
		"POST",
		"/workflows",
		`{"name":"Greeting","list_id":`+strings.TrimPrefix(list, "/lists/")+`,"trigger":"subscribed",
		"sender":{"email":"s@example.com"},"content":{"subject":"Hi","template_id":`+tpl+`}}`,
	)
	p.must("POST", list+"/contacts/import", map[string]any{"contacts": []any{
		map[string]any{
			"email":             "Ada@example.org",
			"tags":              []string{"vip"},
			"interests":         []string{"go"},
			"custom_attributes": []any{map[string]any{"name": "name", "value": "Ada"}},
		},
		map[string]any{"email": "bob@example.org"},
		map[string]any{"email": "bounce+hb@mock.test"},
	}})
	p.must("POST", list+"/contacts?send_double_opt_in=true", `{"email":"pending@example.org"}`)
	p.must("POST", "/suppressed-emails", `{"email":"*@example.net"}`)
	campaign := p.must("POST", "/campaigns", `{"name":"May","list_id":`+strings.TrimPrefix(list, "/lists/")+`,
		"sender":{"email":"s@example.com"},"content":{"subject":"May","template_id":`+tpl+`}}`).id("campaign_id")
	p.must("POST", "/campaigns/"+campaign+"/schedule", nil)
	must(t, p.Open(p.email("ada@example.org")))
	p.email("x@example.net") // is refused
	p.as("two").must("POST", "/lists", `{"name":"Of another account"}`)
	must(t, p.Wait(t.Context()))
	return p
}

// A restored snapshot has the same snapshot and the same responses.
func TestSnapshotRoundTrip(t *testing.T) {
	receiver := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	targets := map[string]http.Handler{"app.test": receiver}
	p := populated(t, mockserver.Config{Targets: targets})
	saved := snapshotOf(t, p.Server)
	q := newProbe(
		t,
		mockserver.Config{
			RecordEvents: true,
			Targets:      targets,
			Tokens:       []mockserver.Token{{Value: "one"}, {Value: "two", UserID: 2, AccountID: 2}},
		},
	)
	must(t, q.Restore(strings.NewReader(saved)))
	if again := snapshotOf(t, q.Server); again != saved {
		t.Errorf("the snapshot changed:\n%s\n%s", saved, again)
	}
	for _, path := range []string{
		"/lists", "/lists/3/contacts", "/lists/3/contacts?filter=tag:vip", "/lists/3/contacts?filter=status:bounced",
		"/lists/3/contacts?sort=email:desc",
		"/templates", "/campaigns", "/workflows", "/webhooks", "/suppressed-emails", "/tags",
		"/_mock/outbox", "/_mock/deliveries", "/_mock/events",
	} {
		want, got := p.must("GET", path, nil).text, q.must("GET", path, nil).text
		if want != got || strings.Contains(want, `"data":[]`) {
			t.Errorf("%s:\n%s\n%s", path, want, got)
		}
	}
	must(t, q.Wait(t.Context()))
	first, second := p.must("POST", "/lists", `{"name":"Next"}`), q.must("POST", "/lists", `{"name":"Next"}`)
	if first.id("list_id") != second.id("list_id") {
		t.Errorf("the next id is %s, not %s", second.id("list_id"), first.id("list_id"))
	}
}

// After a restore, pending deliveries are attempted at their time, with the same bytes and rate limits.
func TestSnapshotResumesDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := mockserver.Config{Targets: map[string]http.Handler{
			"app.test": http.HandlerFunc(
				func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }),
		}}
		p := newProbe(t, cfg)
		p.must("POST", "/webhooks", `{"url":"http://app.test/","events":["Email.Opened"]}`)
		p.must("POST", "/webhooks",
			`{"url":"http://app.test/","events":["Email.Opened"],"rate_limit":1,"rate_limit_period":"hour"}`)
		archived := p.must("POST", "/webhooks", `{"url":"http://app.test/","events":["Email.Clicked"]}`).id("webhook_id")
		id := p.email("a@example.org")
		for range 2 {
			must(t, p.Open(id))
		}
		p.must("POST", "/webhooks/"+archived+"/archive", nil)
		must(t, p.Wait(t.Context()))
		saved := snapshotOf(t, p.Server)
		p.Close()

		begin := time.Now()
		var bodies atomic.Int64
		cfg.Targets = map[string]http.Handler{"app.test": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if strings.Contains(saved, string(quotedJSON(string(body)))) {
				bodies.Add(1)
			}
		})}
		q := newProbe(t, cfg)
		must(t, q.Restore(strings.NewReader(saved)))
		must(t, q.Drain(t.Context()))
		if took := time.Since(begin); took < time.Hour || took > 2*time.Hour+time.Minute {
			t.Errorf(
				"it took %v: the rate limit of one an hour counts what was attempted before, want between one hour and two", took)
		}
		if n := bodies.Load(); n != 4 {
			t.Errorf("%d deliveries arrived with the bytes of the snapshot, want 4", n)
		}
		for _, d := range q.Deliveries() {
			if d.State != mockserver.DeliveryDelivered {
				t.Errorf("%s is %s, want delivered", d.ID, d.State)
			}
		}
	})
}

func quotedJSON(s string) []byte {
	out, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return out
}

// A body that is not UTF-8 keeps its bytes, because they are signed.
func TestSnapshotKeepsBytes(t *testing.T) {
	const body = "\xff\xfe caf\xe9"
	h := &hookServer{}
	p := newProbe(t, mockserver.Config{Targets: h.targets()})
	hook := strings.TrimPrefix(p.webhook("Email.Opened"), "/webhooks/")
	id, err := p.SendEvent(hook, []byte(body))
	must(t, err)
	must(t, p.Wait(t.Context()))
	must(t, p.Restore(strings.NewReader(snapshotOf(t, p.Server))))
	must(t, p.Redeliver(id))
	must(t, p.Wait(t.Context()))
	if len(h.bodies) != 2 || h.bodies[1] != body || h.sigs[1] != h.sigs[0] {
		t.Errorf("delivered %q, want %q twice with one signature", h.bodies, body)
	}
}

// slow is a receiver that takes five seconds.
func slow() map[string]http.Handler {
	return map[string]http.Handler{
		"app.test": http.HandlerFunc(func(http.ResponseWriter, *http.Request) { time.Sleep(5 * time.Second) }),
	}
}

// An attempt in progress counts against the rate limit after a restore, and the delivery is attempted again.
func TestSnapshotDuringAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, mockserver.Config{Targets: slow()})
		p.must("POST", "/webhooks",
			`{"url":"http://app.test/","events":["SuppressedEmail.Added"],"rate_limit":1,"rate_limit_period":"hour"}`)
		start := time.Now()
		p.must("POST", "/suppressed-emails", `{"email":"a@example.org"}`)
		time.Sleep(time.Second)
		for range 2 { // a snapshot of what was restored says the same
			must(t, p.Restore(strings.NewReader(snapshotOf(t, p.Server))))
		}
		must(t, p.Drain(t.Context()))
		d := p.Deliveries()[0]
		var at []time.Duration
		for _, a := range d.Attempts {
			at = append(at, a.Time.Sub(start))
		}
		if want := []time.Duration{0, time.Hour}; !slices.Equal(at, want) || d.State != mockserver.DeliveryDelivered {
			t.Errorf("%s after attempts at %v, want %v", d.State, at, want)
		} else if d.Attempts[0].Error != "the state was saved before there was a response" {
			t.Errorf("the first attempt: %+v, want it to say that it was cut short", d.Attempts[0])
		}
	})
}

// A redelivery stays at the end of the queue after a restore.
func TestSnapshotDeliveryOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hookServer{}
		p := newProbe(t, mockserver.Config{Targets: h.targets()})
		p.must("POST", "/webhooks",
			`{"url":"http://app.test/","events":["SuppressedEmail.Added"],"rate_limit":1,"rate_limit_period":"minute"}`)
		for _, name := range []string{"a", "b", "c"} {
			p.must("POST", "/suppressed-emails", `{"email":"`+name+`@example.org"}`)
		}
		must(t, p.Wait(t.Context()))
		must(t, p.Redeliver("dlv-1"))
		must(t, p.Restore(strings.NewReader(snapshotOf(t, p.Server))))
		must(t, p.Drain(t.Context()))
		var order []string
		for _, body := range h.bodies {
			_, address, _ := strings.Cut(body, `"email":"`)
			order = append(order, address[:1])
		}
		if want := []string{"a", "b", "c", "a"}; !slices.Equal(order, want) {
			t.Errorf("delivered %v, want %v", order, want)
		}
		if attempts := p.Deliveries()[0].Attempts; len(attempts) != 2 || !attempts[1].Manual {
			t.Errorf("the attempt that was asked for does not say so: %+v", attempts)
		}
	})
}

// A restore resumes scheduled campaigns and campaigns in progress.
func TestSnapshotResumesCampaigns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newProbe(t, mockserver.Config{})
		list := p.list()
		p.contact(list, "a@example.org")
		p.contact(list, "b@example.org")
		body := `{"name":"x","list_id":` + strings.TrimPrefix(list,
			"/lists/") + `,"sender":{"email":"s@example.com"},"content":{"subject":"x","text":"x"}}`
		later := p.must("POST", "/campaigns", body).id("campaign_id")
		p.must("POST", "/campaigns/"+later+"/schedule", fmt.Sprintf(`{"scheduled_for":%d}`, time.Now().Add(time.Hour).Unix()))
		underWay := p.must("POST", "/campaigns", body).id("campaign_id")
		saved := snapshotOf(t, p.Server)
		saved = strings.Replace(saved, `"status": "incomplete"`, `"status": "delivering", "next": 1`, 1)
		p.Reset()
		time.Sleep(2 * time.Hour) // what was forgotten does not come back
		if n := len(p.Outbox()); n != 0 {
			t.Errorf("after a reset %d messages were sent, want none", n)
		}
		p.Close()

		q := newProbe(t, mockserver.Config{})
		saved = strings.ReplaceAll(saved, fmt.Sprint(time.Now().Add(-time.Hour).Unix()),
			fmt.Sprint(time.Now().Add(time.Hour).Unix()))
		must(t, q.Restore(strings.NewReader(saved)))
		must(t, q.Wait(t.Context()))
		if sent := q.Outbox(); len(sent) != 1 || sent[0].To != "b@example.org" || fmt.Sprint(sent[0].CampaignID) != underWay {
			t.Errorf("at once: %+v, want b@example.org alone", sent)
		}
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		if n := len(q.Outbox()); n != 3 {
			t.Errorf("an hour later: %d messages, want 3", n)
		}
	})
}

var restoreMistakes = []struct{ name, old, new, want string }{
	{name: "not JSON", old: `{`, new: `{,`, want: "invalid character"},
	{name: "an array", old: `{`, new: `[{`, want: "must be an object, got an array"},
	{name: "an unknown field", old: `"accounts"`, new: `"acounts"`, want: "acounts: no such field: did you mean accounts?"},
	{name: "an unknown field of a record", old: `"template_id": 2,`, new: `"template_id": 2, "shade": "x",`, want: "accounts[0]: shade: "},
	{name: "another version", old: `"version": 4`, new: `"version": 5`, want: "version"},
	{name: "an account twice", old: `"account_id": 2,`, new: `"account_id": 1,`, want: "accounts[1]"},
	{name: "a webhook without a secret", old: `"secret": "whsec`, new: `"secret": "", "was": "whsec`, want: "secret"},
	{name: "a webhook without an address", old: `"url": "http://app.test/hook"`, new: `"url": "app.test"`, want: "url"},
	{
		name: "a webhook of another account",
		old: `"id": 1,
     "account_id": 1`,
		new: `"id": 1, "account_id": 2`, want: "account_id",
	},
	{name: "an address twice", old: `"bob@example.org"`, new: `"ADA@example.org"`, want: "unique on the list"},
	{
		name: "a rate limit below nothing",
		old:  `"hash_function": "sha256"`, new: `"hash_function": "sha256", "rate_limit": -1`,
		want: "rate_limit",
	},
	{
		name: "a message twice",
		old:  `"messages": [`,
		new: `"messages": [{"id":"m","account_id":1,"sent_by":"email_api"},{"id":"m","account_id":1,` +
			`"sent_by":"email_api"},`,
		want: "messages[1]: id",
	},
	{
		name: "a message of no account",
		old:  `"messages": [`, new: `"messages": [{"id":"m","account_id":9,"sent_by":"email_api"},`,
		want: "messages[0]: account_id",
	},
	{
		name: "a bounce without a category",
		old:  `"messages": [`,
		new:  `"messages": [{"id":"m","account_id":1,"sent_by":"email_api","status":"bounced"},`,
		want: "bounce",
	},
	{
		name: "a message of no campaign",
		old:  `"messages": [`,
		new:  `"messages": [{"id":"m","account_id":1,"sent_by":"campaign","campaign_id":99},`,
		want: "campaign_id",
	},
	{name: "null for a contact", old: `"contacts": [`, new: `"contacts": [null,`, want: "contacts[0]"},
	{name: "an unknown way of sending", old: `"sent_by": "email_api"`, new: `"sent_by": "pigeon"`, want: "sent_by"},
	{name: "a delivery to nowhere", old: `"webhook_id": "1"`, new: `"webhook_id": "77"`, want: "webhook_id"},
}

// An invalid snapshot is rejected and changes nothing.
func TestRestoreInvalidSnapshot(t *testing.T) {
	receiver := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	p := populated(t, mockserver.Config{Targets: map[string]http.Handler{"app.test": receiver}})
	saved := snapshotOf(t, p.Server)
	tests := restoreMistakes
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			broken := strings.Replace(saved, tt.old, tt.new, 1)
			if broken == saved {
				t.Fatalf("the snapshot has no %s: %s", tt.old, saved)
			}
			status := 422
			if tt.name == "not JSON" {
				status = 400
			}
			a := p.do("PUT", "/_mock/state", broken)
			if a.status != status || !strings.Contains(a.text, tt.want) {
				t.Errorf("got %d %s, want an error about %s", a.status, a.text, tt.want)
			}
			if snapshotOf(t, p.Server) != saved {
				t.Error("the state has changed")
			}
		})
	}
	p.Close()
	if err := p.Restore(strings.NewReader(saved)); err == nil {
		t.Error("a closed server was restored")
	}
}

// A control body that is too large is rejected before it is read.
func TestControlBodyTooLarge(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	for route, limit := range map[string]int64{"PUT /_mock/state": 1 << 30, "POST /_mock/seed": 1 << 30, "POST /_mock/faults": 10 << 20} {
		method, path, _ := strings.Cut(route, " ")
		r := httptest.NewRequestWithContext(t.Context(), method, path, iotest.ErrReader(errors.New("the body was read")))
		r.ContentLength = limit + 1
		w := httptest.NewRecorder()
		p.ServeHTTP(w, r)
		if w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), fmt.Sprintf("larger than %d bytes", limit)) {
			t.Errorf("%s: got %d %s, want 413", route, w.Code, w.Body)
		}
	}
}

func TestRestoreEmpty(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	p.must("POST", "/lists", `{"name":"Stays"}`)
	for text, want := range map[string]string{"": "EOF", `{"change":1}`: "version must be 4, got 0"} {
		if err := p.Restore(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q in it", text, err, want)
		}
	}
	if text := p.must("GET", "/lists", nil).text; !strings.Contains(text, "Stays") {
		t.Errorf("the lists are %s", text)
	}
}

var changeMistakes = []struct{ name, change, want string }{
	{"a gap", `{"change":2,"last_id":9}`, "the change number must be 1"},
	{"no number", `{"last_id":9}`, "the change number must be 1"},
	{"another version", `{"version":9}`, "version"},
	{"no JSON", `{"change":1,`, "unexpected "}, // the rest differs between releases of Go,
	{"no content", `{"change":1,"last_id":9,"messages":[{"id":"m","account_id":1,"content":0}]}`, "content"},
	{"a delivery too far", `{"change":1,"last_id":9,"deliveries":[{"id":"dlv-2"}]}`, "deliveries[0]: id"},
	{"a delivery without an id", `{"change":1,"last_id":9,"deliveries":[{}]}`, "deliveries[0]: id"},
	{"a contact of no list", `{"change":1,"last_id":9,"contacts":[{"id":1,"list_id":7,"email":"a@b.example"}]}`, "contacts[0]: list_id"},
}

// An invalid change is rejected with the snapshot before it.
func TestRestoreInvalidChange(t *testing.T) {
	p := newProbe(t, mockserver.Config{})
	p.must("POST", "/lists", `{"name":"Before"}`)
	before := snapshotOf(t, p.Server)
	for _, tt := range changeMistakes {
		err := p.Restore(strings.NewReader(`{"version":4}` + "\n" + tt.change))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want an error about %s", tt.name, err, tt.want)
		}
	}
	if snapshotOf(t, p.Server) != before {
		t.Error("the state has changed")
	}
}

// FuzzRestore restores random snapshots and runs all actions on the restored records.
func FuzzRestore(f *testing.F) {
	f.Add(`{"version":4}`)
	f.Add(
		`{"version":4,"last_id":9,"accounts":[{"account_id":1,"lists":[{"list_id":1,"name":"x"}],
		"campaigns":[{"campaign_id":3,"list_id":1,"status":"scheduled"}],
		"workflows":[{"workflow_id":4,"list_id":1,"status":"active"}],
		"webhooks":[{"id":5,"account_id":1,"url":"http://app.test/","events":["Email.Bounced"],
			"secret":"s","hash_function":"sha256"}]}],
		"contacts":[{"list_id":1,"id":2,"email":"a@b.example","status":"active"}],
		"contents":[{"subject":"x","html":"<p>{{a}}"}],
		"messages":[{"id":"m","account_id":1,"sent_by":"campaign","campaign_id":3,
			"list_id":1,"contact_id":2,"content":0,"status":"bounced","bounce":{}},
		{"id":"n","account_id":1,"sent_by":"email_api","content":0,"status":"delivered"}],
		"deliveries":[{"id":"dlv-1","webhook_id":"5","state":"retrying","tries":3,"body":"{}"}],"events":[{"id":"evt-1"}]}`,
	)
	f.Add(
		`{"version":4,"last_id":2,"accounts":[{"account_id":1,"lists":[{"list_id":1,"name":"x"}]}],
		"contacts":[{"list_id":1,"id":2,"email":"a@b.example","status":"active"}]}
		{"change":1,"last_id":3,"contacts":[{"list_id":1,"id":3,"email":"c@b.example","status":"active"}],
		"messages":[{"id":"n","account_id":1,"sent_by":"email_api","content":0,"status":"delivered"}],"contents":[{}],
		"deliveries":[{"id":"dlv-1","state":"queued","body":"{}","place":-1}],"events":[{"id":"evt-1"}],"last_event":1}`,
	)
	receiver := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	f.Fuzz(func(t *testing.T, in string) {
		srv := mockserver.New(mockserver.Config{RecordEvents: true, Targets: map[string]http.Handler{"app.test": receiver}})
		defer srv.Close()
		p := probe{srv, t, srv.Token()}
		if srv.Restore(strings.NewReader(in)) != nil {
			return
		}
		for _, m := range srv.Outbox() {
			for _, act := range []func(string) error{srv.Open, srv.Confirm, srv.Unsubscribe, srv.GlobalUnsubscribe} {
				_ = act(m.ID)
			}
			_ = srv.Bounce(m.ID, mockserver.HardBounce)
			_ = srv.Complain(m.ID, "")
		}
		for _, path := range []string{
			"/lists", "/campaigns", "/workflows", "/webhooks", "/templates", "/suppressed-emails", "/_mock/outbox",
			"/_mock/deliveries", "/_mock/events",
		} {
			if a := p.do("GET", path, nil); a.status >= 500 {
				t.Errorf("%s: %d %s, want no 5xx", path, a.status, a.text)
			}
		}
		if err := srv.Snapshot(io.Discard); err != nil {
			t.Error(err)
		}
	})
}
