package engine_test

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/probe"
	"example.com/emailplatform/mockserver"
)

// populated returns a server with records of every kind.
func populated(t *testing.T, cfg mockserver.Config) probe.Probe {
	t.Helper()
	cfg.RecordEvents = true
	cfg.Tokens = []mockserver.Token{{Value: "one"}, {Value: "two", UserID: 2, AccountID: 2}}
	p := probe.New(t, cfg)
	p.Post("/webhooks", `{"url":"http://app.test/hook","events":["Email.Opened","Contact.Added"]}`).OK()
	tpl := p.Post("/templates",
		`{"name":"Welcome","content":{"html":"<p>Hello {{name}}</p>","text":"Hello"}}`).OK().Text("template_id")
	list := p.List()
	p.Post(

		"/workflows",
		`{"name":"Greeting","list_id":`+strings.TrimPrefix(list, "/lists/")+`,"trigger":"subscribed",
		"sender":{"email":"s@example.com"},"content":{"subject":"Hi","template_id":`+tpl+`}}`).OK()
	p.Post(list+"/contacts/import", map[string]any{"contacts": []any{
		map[string]any{
			"email":             "Ada@example.org",
			"tags":              []string{"vip"},
			"interests":         []string{"go"},
			"custom_attributes": []any{map[string]any{"name": "name", "value": "Ada"}},
		},
		map[string]any{"email": "bob@example.org"},
		map[string]any{"email": "bounce+hb@mock.test"},
	}}).OK()
	p.Post(list+"/contacts?send_double_opt_in=true", `{"email":"pending@example.org"}`).OK()
	p.Post("/suppressed-emails", `{"email":"*@example.net"}`).OK()
	campaign := p.Post("/campaigns", `{"name":"May","list_id":`+strings.TrimPrefix(list, "/lists/")+`,
		"sender":{"email":"s@example.com"},"content":{"subject":"May","template_id":`+tpl+`}}`).OK().Text("campaign_id")
	p.Post("/campaigns/"+campaign+"/schedule", nil).OK()
	require.NoError(t, p.Open(p.Email("ada@example.org")))
	p.Email("x@example.net") // is rejected
	p.As("two").Post("/lists", `{"name":"Of another account"}`).OK()
	require.NoError(t, p.Wait(t.Context()))
	return p
}

// A restored server returns the same snapshot and the same responses.
func TestSnapshotRoundTrip(t *testing.T) {
	p := populated(t, mockserver.Config{Targets: new(probe.Receiver).Targets()})
	saved := p.State()
	q := probe.New(t, mockserver.Config{
		RecordEvents: true, Targets: new(probe.Receiver).Targets(), Tokens: []mockserver.Token{{Value: "one"}, {Value: "two", UserID: 2, AccountID: 2}},
	})
	require.NoError(t, q.Restore(strings.NewReader(saved)))
	if again := q.State(); again != saved {
		t.Errorf("the snapshot changed:\n%s", difference(saved, again))
	}
	for _, path := range []string{
		"/lists", "/lists/3/contacts", "/lists/3/contacts?filter=tag:vip", "/lists/3/contacts?filter=status:bounced",
		"/lists/3/contacts?sort=email:desc", "/templates", "/campaigns", "/workflows", "/webhooks", "/suppressed-emails", "/tags",
		"/_mock/outbox", "/_mock/deliveries", "/_mock/events",
	} {
		want, got := p.Get(path).OK().Body, q.Get(path).OK().Body
		assert.Equal(t, want, got, path)
		assert.NotContains(t, want, `"data":[]`, path)
	}
	require.NoError(t, q.Wait(t.Context()))
	first, second := p.Post("/lists", `{"name":"Next"}`).OK(), q.Post("/lists", `{"name":"Next"}`).OK()
	if first.Text("list_id") != second.Text("list_id") {
		t.Errorf("the next id is %s, not %s", second.Text("list_id"), first.Text("list_id"))
	}
}

// After a restore, pending deliveries are attempted at the same times as without the restore. Their bytes and
// rate limits are the same too.
func TestSnapshotResumesDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &probe.Receiver{Status: func(int) int { return http.StatusServiceUnavailable }}
		p := probe.New(t, mockserver.Config{Targets: h.Targets()})
		p.Webhook("Email.Opened")
		p.Post("/webhooks",
			`{"url":"http://app.test/","events":["Email.Opened"],"rate_limit":1,"rate_limit_period":"hour"}`).OK()
		p.Post(p.Webhook("Email.Clicked")+"/archive", nil).OK()
		id := p.Email("a@example.org")
		for range 2 {
			require.NoError(t, p.Open(id))
		}
		require.NoError(t, p.Wait(t.Context()))
		saved, bodies := p.State(), map[string]bool{}
		for _, d := range p.Deliveries() {
			bodies[string(d.Body)] = true
		}
		p.Close()

		begin, h := time.Now(), &probe.Receiver{}
		q := probe.New(t, mockserver.Config{Targets: h.Targets()})
		require.NoError(t, q.Restore(strings.NewReader(saved)))
		require.NoError(t, q.Drain(t.Context()))
		took := time.Since(begin)
		assert.GreaterOrEqual(t, took, time.Hour)
		assert.LessOrEqual(t, took, 2*time.Hour+time.Minute)
		assert.Len(t, h.Bodies, 4)
		for _, body := range h.Bodies {
			assert.True(t, bodies[body], body)
		}
		for _, d := range q.Deliveries() {
			assert.Equal(t, mockserver.DeliveryDelivered, d.State, d.ID)
		}
	})
}

// A body that is not UTF-8 keeps its bytes, because they are signed.
func TestSnapshotKeepsBytes(t *testing.T) {
	const body = "\xff\xfe caf\xe9"
	h := &probe.Receiver{}
	p := probe.New(t, mockserver.Config{Targets: h.Targets()})
	hook := strings.TrimPrefix(p.Webhook("Email.Opened"), "/webhooks/")
	id, err := p.SendEvent(hook, []byte(body))
	require.NoError(t, err)
	require.NoError(t, p.Wait(t.Context()))
	require.NoError(t, p.Restore(strings.NewReader(p.State())))
	require.NoError(t, p.Redeliver(id))
	require.NoError(t, p.Wait(t.Context()))
	require.Len(t, h.Bodies, 2)
	assert.Equal(t, body, h.Bodies[1])
	assert.Equal(t, h.Signatures[0], h.Signatures[1])
}

// An invalid snapshot is rejected and changes nothing.
func TestRestoreInvalidSnapshot(t *testing.T) {
	p := populated(t, mockserver.Config{Targets: new(probe.Receiver).Targets()})
	saved := p.State()
	for _, tt := range []struct {
		old, new, want string
		status         int
	}{
		{`{`, `{,`, "invalid character", 400},
		{`"accounts"`, `"acounts"`, "acounts: unknown field: did you mean accounts?", 422},
		{`"template_id": 2,`, `"template_id": 2, "shade": "x",`, `accounts[0]: unknown field \"shade\"`, 422},
		{`"webhook_id": "1"`, `"webhook_id": "77"`, "webhook_id", 422},
	} {
		p.Do("PUT", "/_mock/state", strings.Replace(saved, tt.old, tt.new, 1)).Has(tt.status, tt.want)
		assert.Equal(t, saved, p.State(), "%s: the state has changed", tt.new)
	}
	p.Close()
	assert.Error(t, p.Restore(strings.NewReader(saved)), "a closed server was restored")
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
		"deliveries":[{"id":"dlv-1","account_id":1,"webhook_id":"5","state":"retrying","tries":1,
			"attempts":[{"error":"x"}],"body":"{}"}],"events":[{"id":"evt-1"}]}`,
	)
	receiver := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	f.Fuzz(func(t *testing.T, in string) {
		srv := mockserver.New(mockserver.Config{RecordEvents: true, Targets: map[string]http.Handler{"app.test": receiver}})
		defer srv.Close()
		p := probe.Of(t, srv)
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
			"/_mock/deliveries", "/_mock/events", "/_mock/overview", "/_mock/contacts", "/_mock/lists", "/_mock/campaigns",
		} {
			if response := p.Get(path); response.Status >= 500 {
				t.Errorf("%s: %d %s, want no 5xx", path, response.Status, response.Body)
			}
		}
		assert.NoError(t, srv.Snapshot(io.Discard))
	})
}

// randomOperations performs random operations.
type randomOperations struct {
	probe.Probe

	random *rand.Rand
	emails []string
}

func (d *randomOperations) one(of []string) string {
	if len(of) == 0 {
		return "none"
	}
	return of[d.random.IntN(len(of))]
}

func (d *randomOperations) ids(path, member string) (out []string) {
	items, _ := d.Get(path).Field("data").([]any)
	for _, item := range items {
		out = append(out, fmt.Sprint(item.(map[string]any)[member]))
	}
	return out
}

func (d *randomOperations) list() string { return "/lists/" + d.one(d.ids("/lists", "list_id")) }

func (d *randomOperations) contact() string {
	list := d.list()
	return list + "/contacts/" + d.one(d.ids(list+"/contacts", "id"))
}

func (d *randomOperations) address() string {
	return fmt.Sprintf("user%d@example.org", d.random.IntN(40))
}

// act performs one operation, which may fail.
func (d *randomOperations) act() {
	const sender = `"sender":{"email":"s@example.com"},"content":{"subject":"x","text":"x"}`
	email := d.one(d.emails)
	acts := []func(){
		func() { d.Post("/lists", `{"name":"x"}`) },
		func() { d.Post(d.list()+"/accept-policy", nil) },
		func() { d.Post(d.list()+"/contacts", `{"email":"`+d.address()+`","tags":["new"]}`) },
		func() { d.Post(d.list()+"/contacts?send_double_opt_in=true", `{"email":"`+d.address()+`"}`) },
		func() {
			d.Post(d.list()+"/contacts/import",
				`{"resubscribe":true,"contacts":[{"email":"`+d.address()+`"},{"email":"`+d.address()+`","interests":["go"]}]}`)
		},
		func() { d.Do("PATCH", d.contact(), `{"custom_attributes":[{"name":"city","value":"Paris"}]}`) },
		func() { d.Delete(d.contact()) },
		func() { d.Post(d.contact()+"/unsubscribe", nil) },
		func() {
			list := d.list()
			d.Post(list+"/contacts/tag", `{"contact_ids":[`+d.one(d.ids(list+"/contacts", "id"))+`],"tags":["late"]}`)
		},
		func() { d.Post("/templates", `{"name":"x","content":{"html":"<p>"}}`) },
		func() { d.Delete("/templates/" + d.one(d.ids("/templates", "template_id"))) },
		func() { d.Post("/suppressed-emails", `{"email":"`+d.address()+`"}`) },
		func() { d.Delete("/suppressed-emails/" + d.address()) },
		func() {
			d.Post("/campaigns", `{"name":"x","list_id":`+strings.TrimPrefix(d.list(), "/lists/")+`,`+sender+`}`)
		},
		func() { d.Post("/campaigns/"+d.one(d.ids("/campaigns", "campaign_id"))+"/schedule", nil) },
		func() {
			d.Post("/webhooks", `{"url":"http://app.test/","events":["Contact.Added","Email.Opened","Email.Bounced"]}`)
		},
		func() { d.Post("/webhooks/"+d.one(d.ids("/webhooks", "webhook_id"))+"/archive", nil) },
		func() { d.Post("/webhooks/"+d.one(d.ids("/webhooks", "webhook_id"))+"/unarchive", nil) },
		func() {
			if r := d.Post("/v2/emails", `{"email":"`+d.address()+`",`+sender+`}`); r.Status == http.StatusCreated {
				d.emails = append(d.emails, r.Text("id"))
			}
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
				p := probe.New(t, mockserver.Config{SkipValidation: true, Targets: lingering()})
				d := &randomOperations{Probe: p, random: rand.New(rand.NewPCG(seed, 0))}
				_, err := p.Inject(mockserver.Fault{Action: mockserver.FaultStatus, Status: 503, AfterProcessing: true, Probability: 0.2})
				require.NoError(t, err)
				p.Get("/lists") // adds the account
				for step := range 300 {
					revision, before := p.Revision(), p.State()
					switch d.act(); step {
					case 100:
						p.Reset()
					case 200:
						require.NoError(t, p.ClearAccount(1))
					}
					p.Get("/lists") // adds the account again
					time.Sleep(time.Duration(d.random.IntN(7)) * time.Second)
					synctest.Wait()
					if after := p.State(); after != before && p.Revision() == revision {
						t.Fatalf("step %d: the revision is still %d: %s", step, revision, difference(before, after))
					}
				}
				revision := p.Revision()
				for _, path := range []string{"/lists", "/templates", "/campaigns", "/webhooks", "/suppressed-emails", "/_mock/state"} {
					p.Get(path)
					p.Do("HEAD", path, nil)
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
	p, other := probe.New(t, cfg), probe.New(t, cfg)
	done := make(chan struct{})
	var busy sync.WaitGroup
	for i := range 3 {
		d := &randomOperations{Probe: p, random: rand.New(rand.NewPCG(uint64(i), 1))}
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
