package mockserver_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver"
)

func snapshotOf(t *testing.T, srv *mockserver.Server) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, srv.Snapshot(&out))
	var indented bytes.Buffer // tests replace parts of the indented text
	require.NoError(t, json.Indent(&indented, out.Bytes(), "", " "))
	return indented.String()
}

// populated returns a server with records of every kind.
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
	require.NoError(t, p.Open(p.email("ada@example.org")))
	p.email("x@example.net") // is rejected
	p.as("two").must("POST", "/lists", `{"name":"Of another account"}`)
	require.NoError(t, p.Wait(t.Context()))
	return p
}

// A restored server returns the same snapshot and the same responses.
func TestSnapshotRoundTrip(t *testing.T) {
	p := populated(t, mockserver.Config{Targets: receiver()})
	saved := snapshotOf(t, p.Server)
	q := newProbe(t, mockserver.Config{
		RecordEvents: true, Targets: receiver(), Tokens: []mockserver.Token{{Value: "one"}, {Value: "two", UserID: 2, AccountID: 2}},
	})
	require.NoError(t, q.Restore(strings.NewReader(saved)))
	if again := snapshotOf(t, q.Server); again != saved {
		t.Errorf("the snapshot changed:\n%s", difference(saved, again))
	}
	for _, path := range []string{
		"/lists", "/lists/3/contacts", "/lists/3/contacts?filter=tag:vip", "/lists/3/contacts?filter=status:bounced",
		"/lists/3/contacts?sort=email:desc", "/templates", "/campaigns", "/workflows", "/webhooks", "/suppressed-emails", "/tags",
		"/_mock/outbox", "/_mock/deliveries", "/_mock/events",
	} {
		want, got := p.must("GET", path, nil).text, q.must("GET", path, nil).text
		if want != got || strings.Contains(want, `"data":[]`) {
			t.Errorf("%s:\n%s\n%s", path, want, got)
		}
	}
	require.NoError(t, q.Wait(t.Context()))
	first, second := p.must("POST", "/lists", `{"name":"Next"}`), q.must("POST", "/lists", `{"name":"Next"}`)
	if first.id("list_id") != second.id("list_id") {
		t.Errorf("the next id is %s, not %s", second.id("list_id"), first.id("list_id"))
	}
}

// After a restore, pending deliveries are attempted at the same times as without it, with the same bytes and rate
// limits.
func TestSnapshotResumesDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hookServer{status: func(int) int { return http.StatusServiceUnavailable }}
		p := newProbe(t, mockserver.Config{Targets: h.targets()})
		p.webhook("Email.Opened")
		p.must("POST", "/webhooks",
			`{"url":"http://app.test/","events":["Email.Opened"],"rate_limit":1,"rate_limit_period":"hour"}`)
		p.must("POST", p.webhook("Email.Clicked")+"/archive", nil)
		id := p.email("a@example.org")
		for range 2 {
			require.NoError(t, p.Open(id))
		}
		require.NoError(t, p.Wait(t.Context()))
		saved, bodies := snapshotOf(t, p.Server), map[string]bool{}
		for _, d := range p.Deliveries() {
			bodies[string(d.Body)] = true
		}
		p.Close()

		begin, h := time.Now(), &hookServer{}
		q := newProbe(t, mockserver.Config{Targets: h.targets()})
		require.NoError(t, q.Restore(strings.NewReader(saved)))
		require.NoError(t, q.Drain(t.Context()))
		if took := time.Since(begin); took < time.Hour || took > 2*time.Hour+time.Minute {
			t.Errorf("took %v, want 1 to 2 h, because the rate limit counts the attempts before the snapshot", took)
		}
		if n := len(h.bodies); n != 4 || slices.ContainsFunc(h.bodies, func(body string) bool { return !bodies[body] }) {
			t.Errorf("got %d deliveries %q, want 4 with the bytes %v", n, h.bodies, bodies)
		}
		for _, d := range q.Deliveries() {
			if d.State != mockserver.DeliveryDelivered {
				t.Errorf("%s is %s, want delivered", d.ID, d.State)
			}
		}
	})
}

// A body that is not UTF-8 keeps its bytes, because they are signed.
func TestSnapshotKeepsBytes(t *testing.T) {
	const body = "\xff\xfe caf\xe9"
	h := &hookServer{}
	p := newProbe(t, mockserver.Config{Targets: h.targets()})
	hook := strings.TrimPrefix(p.webhook("Email.Opened"), "/webhooks/")
	id, err := p.SendEvent(hook, []byte(body))
	require.NoError(t, err)
	require.NoError(t, p.Wait(t.Context()))
	require.NoError(t, p.Restore(strings.NewReader(snapshotOf(t, p.Server))))
	require.NoError(t, p.Redeliver(id))
	require.NoError(t, p.Wait(t.Context()))
	if len(h.bodies) != 2 || h.bodies[1] != body || h.sigs[1] != h.sigs[0] {
		t.Errorf("delivered %q, want %q twice with one signature", h.bodies, body)
	}
}

// An invalid snapshot is rejected and changes nothing.
func TestRestoreInvalidSnapshot(t *testing.T) {
	p := populated(t, mockserver.Config{Targets: receiver()})
	saved := snapshotOf(t, p.Server)
	for _, tt := range []struct {
		old, new, want string
		status         int
	}{
		{`{`, `{,`, "invalid character", 400},
		{`"accounts"`, `"acounts"`, "acounts: unknown field: did you mean accounts?", 422},
		{`"template_id": 2,`, `"template_id": 2, "shade": "x",`, `accounts[0]: unknown field \"shade\"`, 422},
		{`"webhook_id": "1"`, `"webhook_id": "77"`, "webhook_id", 422},
	} {
		response := p.do("PUT", "/_mock/state", strings.Replace(saved, tt.old, tt.new, 1))
		if response.status != tt.status || !strings.Contains(response.text, tt.want) {
			t.Errorf("%s: got %d %s, want %d with %s", tt.new, response.status, response.text, tt.status, tt.want)
		}
		assert.Equal(t, saved, snapshotOf(t, p.Server), "%s: the state has changed", tt.new)
	}
	p.Close()
	assert.Error(t, p.Restore(strings.NewReader(saved)), "a closed server was restored")
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
			if response := p.do("GET", path, nil); response.status >= 500 {
				t.Errorf("%s: %d %s, want no 5xx", path, response.status, response.text)
			}
		}
		assert.NoError(t, srv.Snapshot(io.Discard))
	})
}

// dice performs random operations.
type dice struct {
	probe

	random *rand.Rand
	emails []string
}

func (d *dice) one(of []string) string {
	if len(of) == 0 {
		return "none"
	}
	return of[d.random.IntN(len(of))]
}

func (d *dice) ids(path, member string) (out []string) {
	items, _ := d.do("GET", path, nil).object["data"].([]any)
	for _, item := range items {
		out = append(out, fmt.Sprint(item.(map[string]any)[member]))
	}
	return out
}

func (d *dice) list() string { return "/lists/" + d.one(d.ids("/lists", "list_id")) }

func (d *dice) contact() string {
	list := d.list()
	return list + "/contacts/" + d.one(d.ids(list+"/contacts", "id"))
}

func (d *dice) address() string { return fmt.Sprintf("user%d@example.org", d.random.IntN(40)) }

// act performs one operation, which may fail.
func (d *dice) act() {
	const sender = `"sender":{"email":"s@example.com"},"content":{"subject":"x","text":"x"}`
	email := d.one(d.emails)
	acts := []func(){
		func() { d.do("POST", "/lists", `{"name":"x"}`) },
		func() { d.do("POST", d.list()+"/accept-policy", nil) },
		func() { d.do("POST", d.list()+"/contacts", `{"email":"`+d.address()+`","tags":["new"]}`) },
		func() { d.do("POST", d.list()+"/contacts?send_double_opt_in=true", `{"email":"`+d.address()+`"}`) },
		func() {
			d.do("POST", d.list()+"/contacts/import",
				`{"resubscribe":true,"contacts":[{"email":"`+d.address()+`"},{"email":"`+d.address()+`","interests":["go"]}]}`)
		},
		func() { d.do("PATCH", d.contact(), `{"custom_attributes":[{"name":"city","value":"Paris"}]}`) },
		func() { d.do("DELETE", d.contact(), nil) },
		func() { d.do("POST", d.contact()+"/unsubscribe", nil) },
		func() {
			list := d.list()
			d.do("POST", list+"/contacts/tag", `{"contact_ids":[`+d.one(d.ids(list+"/contacts", "id"))+`],"tags":["late"]}`)
		},
		func() { d.do("POST", "/templates", `{"name":"x","content":{"html":"<p>"}}`) },
		func() { d.do("DELETE", "/templates/"+d.one(d.ids("/templates", "template_id")), nil) },
		func() { d.do("POST", "/suppressed-emails", `{"email":"`+d.address()+`"}`) },
		func() { d.do("DELETE", "/suppressed-emails/"+d.address(), nil) },
		func() {
			d.do("POST", "/campaigns", `{"name":"x","list_id":`+strings.TrimPrefix(d.list(), "/lists/")+`,`+sender+`}`)
		},
		func() { d.do("POST", "/campaigns/"+d.one(d.ids("/campaigns", "campaign_id"))+"/schedule", nil) },
		func() {
			d.do("POST", "/webhooks", `{"url":"http://app.test/","events":["Contact.Added","Email.Opened","Email.Bounced"]}`)
		},
		func() { d.do("POST", "/webhooks/"+d.one(d.ids("/webhooks", "webhook_id"))+"/archive", nil) },
		func() { d.do("POST", "/webhooks/"+d.one(d.ids("/webhooks", "webhook_id"))+"/unarchive", nil) },
		func() {
			d.emails = append(d.emails, d.do("POST", "/v2/emails", `{"email":"`+d.address()+`",`+sender+`}`).id("id"))
		},
		func() { _ = d.Open(email) },
		func() { _ = d.Bounce(email, mockserver.HardBounce) },
		func() { _ = d.Complain(email, "") },
		func() { _ = d.Unsubscribe(email) },
		func() { _ = d.GlobalUnsubscribe(email) },
		func() { _ = d.DeleteMessage(email) },
		func() { _ = d.Redeliver(fmt.Sprintf("dlv-%d", 1+d.random.IntN(20))) },
		func() { _ = d.SetNow(d.Now().Add(time.Hour)) },
		func() { _, _ = d.Inject(mockserver.Fault{Action: mockserver.FaultReorder, Times: 1}) },
		func() { _, _ = d.Inject(mockserver.Fault{Action: mockserver.FaultDuplicate, Times: 1}) },
	}
	acts[d.random.IntN(len(acts))]()
}

// During random operations, the revision grows whenever the snapshot changes, even if the response is lost. It does
// not grow after requests that only read.
func TestRevision(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newProbe(t, mockserver.Config{SkipValidation: true, Targets: lingering()})
				d := &dice{probe: p, random: rand.New(rand.NewPCG(seed, 0))}
				_, err := p.Inject(mockserver.Fault{Action: mockserver.FaultStatus, Status: 503, AfterProcessing: true, Probability: 0.2})
				require.NoError(t, err)
				p.do("GET", "/lists", nil) // adds the account
				for step := range 300 {
					revision, before := p.Revision(), snapshotOf(t, p.Server)
					switch d.act(); step {
					case 100:
						p.Reset()
					case 200:
						require.NoError(t, p.ClearAccount(1))
					}
					p.do("GET", "/lists", nil) // adds the account again
					time.Sleep(time.Duration(d.random.IntN(7)) * time.Second)
					synctest.Wait()
					if after := snapshotOf(t, p.Server); after != before && p.Revision() == revision {
						t.Fatalf("step %d: the revision is still %d: %s", step, revision, difference(before, after))
					}
				}
				revision := p.Revision()
				for _, path := range []string{"/lists", "/templates", "/campaigns", "/webhooks", "/suppressed-emails", "/_mock/state"} {
					p.do("GET", path, nil)
					p.do("HEAD", path, nil)
				}
				assert.Equal(t, revision, p.Revision(), "after requests that only read")
			})
		})
	}
}

// lingering returns a receiver that responds after 5 s.
func lingering() map[string]http.Handler {
	return map[string]http.Handler{"app.test": http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(5 * time.Second):
		case <-r.Context().Done():
		}
	})}
}

// difference returns the first different line with some lines around it.
func difference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			from := max(0, i-20)
			return fmt.Sprintf("want\n%s\ngot\n%s", strings.Join(a[from:i+1], "\n"), strings.Join(b[from:min(len(b), i+5)], "\n"))
		}
	}
	return "one text is longer than the other"
}

// Snapshots, restores and resets run concurrently with requests. Nevertheless, each snapshot can be restored.
func TestSnapshotConcurrentChanges(t *testing.T) {
	receiver := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	cfg := mockserver.Config{RecordEvents: true, SkipValidation: true, Targets: map[string]http.Handler{"app.test": receiver}}
	p, other := newProbe(t, cfg), newProbe(t, cfg)
	done := make(chan struct{})
	var busy sync.WaitGroup
	for i := range 3 {
		d := &dice{probe: p, random: rand.New(rand.NewPCG(uint64(i), 1))}
		busy.Go(func() {
			for range 80 {
				d.act()
			}
		})
	}
	go func() { busy.Wait(); close(done) }()
	for i, more := 0, true; more; i++ {
		select {
		case <-done:
			more = false
		default:
		}
		var saved bytes.Buffer
		require.NoError(t, p.Snapshot(&saved))
		require.NoError(t, other.Restore(bytes.NewReader(saved.Bytes())))
		switch i % 20 {
		case 10:
			p.Reset()
		case 0:
			require.NoError(t, p.Restore(&saved))
		}
	}
}
