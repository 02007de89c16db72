package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

var (
	modelSeed      = flag.Uint64("model.seed", 0, "the first `seed` of the random sequences; 0 takes a new one")
	modelSequences = flag.Int("model.sequences", 400, "how many random sequences are compared with the model")
)

// step is one random operation. Its numbers select among the existing records, so every sequence of steps is valid.
type step struct{ act, a, b, c byte }

// Most mismatches need few steps.
const maxSteps = 24

func randomSteps(seed uint64) []step {
	random := rand.New(rand.NewPCG(seed, 1))
	steps := make([]step, 4+random.IntN(maxSteps-3))
	for i := range steps {
		steps[i] = step{byte(random.UintN(256)), byte(random.UintN(256)), byte(random.UintN(256)), byte(random.UintN(256))}
	}
	return steps
}

// TestModel compares the responses, messages, events and statuses of random sequences with the model.
func TestModel(t *testing.T) {
	proves(t, "decision/36/nothing", "decision/24/order", "decision/12/once", "decision/33", "decision/32")
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // fewer garbage collections, because sequences are short
	first := *modelSeed
	if first == 0 {
		first = rand.Uint64()
	}
	n := *modelSequences
	if testing.Short() {
		n /= 2
	}
	var next atomic.Int64
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && !t.Failed(); i = int(next.Add(1)) - 1 {
				seed := first + uint64(i)
				if steps := randomSteps(seed); compareWithModel(steps) != nil {
					steps = shrink(steps)
					t.Errorf("seed %d (run again with -model.seed=%[1]d -model.sequences=1), shrunk to:\n%s", seed, explain(steps))
				}
			}
		})
	}
	workers.Wait()
	t.Logf("%d sequences from seed %d", n, first)
}

// shrink removes steps while a mismatch remains.
func shrink(steps []step) []step {
	for size := len(steps) / 2; size > 0; size /= 2 {
		for from := 0; from+size <= len(steps); {
			fewer := slices.Delete(slices.Clone(steps), from, from+size)
			if compareWithModel(fewer) != nil {
				steps = fewer
			} else {
				from++
			}
		}
	}
	return steps
}

func explain(steps []step) string {
	t := newTrial()
	t.explain = true
	return fmt.Sprintf("%s\n%v", strings.Join(t.run(steps).log, "\n"), t.failure)
}

// compareWithModel returns the first mismatch, or nil.
func compareWithModel(steps []step) error { return newTrial().run(steps).failure }

// trial is a server and a model that process the same steps.
type trial struct {
	*model
	srv     *mockserver.Server
	hooks   []string
	outbox  int        // messages that have been compared
	heard   [][]string // expected deliveries by step
	explain bool
	log     []string // requests and actions, if explain is true
	failure error
}

func newTrial() *trial {
	ignore := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	t := &trial{
		model: &model{suppressed: map[string]bool{}},
		srv:   mockserver.New(mockserver.Config{Targets: map[string]http.Handler{"hook.test": ignore}}),
	}
	for range 2 {
		_, body := t.call("POST", "/webhooks", `{"url":"http://hook.test/","events":`+show(eventNames())+`}`)
		t.hooks, t.archived = append(t.hooks, body["webhook_id"].(string)), append(t.archived, false)
		_, body = t.call("POST", "/lists", `{"name":"News"}`)
		t.lists = append(t.lists, &modelList{id: number(body["list_id"])})
	}
	t.call("POST", f("/lists/%d/accept-policy", t.lists[0].id), "")
	t.lists[0].accepted = true
	for _, l := range t.lists {
		_, body := t.call("POST", "/workflows",
			f(`{"name":"A","list_id":%d,"trigger":"subscribed","sender":%s,"content":%s}`, l.id, shop, greeting))
		if id := number(body["workflow_id"]); l.accepted {
			t.call("POST", f("/workflows/%d/activate", id), "")
			l.workflow = true
		}
	}
	return t
}

// number returns an integer field, or 0.
func number(v any) int64 {
	n, _ := v.(json.Number)
	i, _ := n.Int64()
	return i
}

// note records a step for the explanation.
func (t *trial) note(format string, args ...any) {
	if t.explain {
		t.log = append(t.log, fmt.Sprintf(format, args...))
	}
}

// call sends a request and returns the status and the body.
func (t *trial) call(method, path, body string) (int, map[string]any) {
	req, err := http.NewRequestWithContext(context.Background(), method, path, strings.NewReader(body))
	if err != nil {
		panic(err) // all paths are valid
	}
	req.Header["Authorization"] = []string{"Bearer " + t.srv.Token()}
	req.Header["Content-Type"] = []string{"application/json"}
	res := httptest.NewRecorder()
	t.srv.ServeHTTP(res, req)
	t.note("%s %s %s → %d", method, path, body, res.Code)
	var out map[string]any
	if res.Body.Len() == 0 {
		return res.Code, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(res.Body.Bytes()))
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil {
		t.disagree(path, err, "JSON")
	}
	return res.Code, out
}

func (t *trial) run(steps []step) *trial {
	defer t.srv.Close()
	for _, s := range steps {
		t.step(s)
		t.compareMessages()
		if t.failure != nil {
			return t
		}
	}
	t.compareDeliveries()
	t.compareState()
	return t
}

// disagree records the first mismatch.
func (t *trial) disagree(what string, got, want any) {
	if t.failure == nil && fmt.Sprint(got) != fmt.Sprint(want) {
		t.failure = fmt.Errorf("%s: the platform returned %v, the model %v", what, got, want)
	}
}

// compareMessages compares the messages of the last step, and stores the expected events.
func (t *trial) compareMessages() {
	if err := t.srv.Wait(context.Background()); err != nil {
		t.disagree("Wait", err, nil)
	}
	var heard []string
	for i, hook := range t.hooks {
		for _, fired := range t.fired {
			if !t.archived[i] {
				heard = append(heard, hook+" "+fired)
			}
		}
	}
	t.heard = append(t.heard, heard)
	outbox := t.srv.Outbox()[t.outbox:]
	t.outbox += len(outbox)
	t.disagree("messages sent", len(outbox), len(t.sent))
	for i, m := range t.sent {
		if t.failure == nil {
			t.disagree("sent", f("%s to %s", outbox[i].SentBy, outbox[i].To), f("%s to %s", m.by, m.to))
			m.id = outbox[i].ID
			t.messages = append(t.messages, &m)
		}
	}
	t.sent, t.fired = nil, nil
}

// compareDeliveries compares the events. The events of one step are adjacent, in any order.
func (t *trial) compareDeliveries() {
	var got []string
	for _, d := range t.srv.Deliveries() {
		got = append(got, f("%s %s %s", d.WebhookID, d.Event, who(d.Body)))
		if d.State != mockserver.DeliveryDelivered || len(d.Attempts) != 1 {
			t.disagree("the delivery", d.State, mockserver.DeliveryDelivered)
		}
	}
	for i, want := range t.heard {
		n := min(len(want), len(got))
		slices.Sort(want)
		slices.Sort(got[:n])
		t.disagree(f("fired by step %d", i+1), got[:n], want)
		got = got[n:]
	}
	t.disagree("fired in the end", got, []string{})
}

// who returns the recipient of an event, and the reason or status.
func who(body []byte) string {
	var d struct {
		Event string
		Data  struct {
			EmailAddress    string `json:"email_address"`
			SuppressedEmail struct{ Email string }
			Contact         struct{ Email, Status string }
			Reason          string
		}
	}
	if err := json.Unmarshal(body, &d); err != nil {
		return err.Error()
	}
	out := d.Data.EmailAddress + d.Data.SuppressedEmail.Email + d.Data.Contact.Email
	if out == "" {
		out = "-"
	}
	switch d.Event {
	case "Contact.Removed":
		out += " " + d.Data.Contact.Status
	case "Email.Rejected":
		out += " " + d.Data.Reason
	}
	return out
}

// compareState compares contacts, suppressed addresses and webhooks.
func (t *trial) compareState() {
	for _, l := range t.lists {
		var want []string
		for _, c := range l.contacts {
			want = append(want, f("%d %s %s", c.id, c.email, c.status))
		}
		t.disagree("contacts", t.items(f("/lists/%d/contacts", l.id), "id", "email", "status"), want)
	}
	var want []string
	for email := range t.suppressed {
		want = append(want, email)
	}
	got := t.items("/suppressed-emails", "email")
	slices.Sort(want)
	slices.Sort(got)
	t.disagree("suppression list", got, want)
	want = nil
	for i := range t.hooks {
		want = append(want, map[bool]string{true: "archived", false: "active"}[t.archived[i]])
	}
	t.disagree("webhooks", t.items("/webhooks", "status"), want)
}

// items returns some fields of every item of a page.
func (t *trial) items(path string, members ...string) []string {
	_, page := t.call("GET", path+"?per_page=100", "")
	var out []string
	for _, item := range page["data"].([]any) {
		var values []string
		for _, name := range members {
			values = append(values, fmt.Sprint(item.(map[string]any)[name]))
		}
		out = append(out, strings.Join(values, " "))
	}
	return out
}

var (
	addresses    = []string{"ada@example.org", "bob@example.org", "ada@example.com"} // few, so steps share addresses
	suppressions = []string{"ada@example.org", "*@example.com", "bob@*"}
)

func pick[T any](from []T, by byte) T { return from[int(by)%len(from)] }

// step runs one random operation. If act is odd and a message exists, a recipient acts.
func (t *trial) step(s step) {
	users := []func(step){
		t.stepCreate, t.stepCreate, t.stepLeave, t.stepImport, t.stepAccept, t.stepSubmit, t.stepSubmit, t.stepLegacy,
		t.stepCampaign, t.stepSuppress, t.stepUnsuppress, t.stepArchive,
	}
	if s.act%2 == 1 && len(t.messages) > 0 {
		t.stepRecipient(s)
		return
	}
	pick(users, s.act/2)(s)
}

func (t *trial) stepCreate(s step) {
	l, email, optIn, resubscribe := pick(t.lists, s.a), pick(addresses, s.b), s.c%3 == 0, s.c%5 > 1
	want, contact := t.create(l, email, optIn, resubscribe)
	got, body := t.call("POST", f("/lists/%d/contacts?send_double_opt_in=%t&resubscribe=%t", l.id, optIn, resubscribe), f(`{"email":%q}`, email))
	t.disagree("status", got, want)
	if contact == nil || t.failure != nil {
		return
	}
	if contact.id == 0 {
		contact.id = number(body["id"])
	}
	t.disagree("contact", f("%v %v", body["id"], body["status"]), f("%d %s", contact.id, contact.status))
}

func (t *trial) stepLeave(s step) {
	l := pick(t.lists, s.a)
	if len(l.contacts) == 0 {
		return
	}
	c := pick(l.contacts, s.b)
	if s.c%2 == 0 {
		got, _ := t.call("DELETE", f("/lists/%d/contacts/%d", l.id, c.id), "")
		t.disagree("status", got, t.leave(c, "deleted"))
		return
	}
	got, _ := t.call("POST", f("/lists/%d/contacts/%d/unsubscribe", l.id, c.id), "")
	t.disagree("status", got, t.leave(c, "unsubscribed"))
}

func (t *trial) stepImport(s step) {
	l, status, resubscribe := pick(t.lists, s.a), pick([]string{"active", "active", "unsubscribed", "deleted"}, s.c), s.c%3 == 0
	batch := []string{pick(addresses, s.b), pick(addresses, s.b/4), pick(addresses, s.b/16)}
	imported := 0
	var entries []string
	for _, email := range batch {
		entries = append(entries, f(`{"email":%q}`, email))
		if t.importOne(l, email, status, resubscribe) {
			imported++
		}
	}
	_, body := t.call("POST", f("/lists/%d/contacts/import", l.id),
		f(`{"contacts":[%s],"import_to":%q,"resubscribe":%t}`, strings.Join(entries, ","), status, resubscribe))
	t.disagree("imported, updated", f("%v %v", body["imported"], body["updated"]), f("%d %d", imported, len(batch)-imported))
	for _, c := range l.contacts {
		if c.id == 0 {
			_, page := t.call("GET", f("/lists/%d/contacts?filter=email:%s", l.id, c.email), "")
			c.id = number(page["data"].([]any)[0].(map[string]any)["id"])
		}
	}
}

func (t *trial) stepAccept(s step) {
	l := pick(t.lists, s.a)
	got, _ := t.call("POST", f("/lists/%d/accept-policy", l.id), "")
	t.disagree("status", got, 204)
	l.accepted = true
}

func (t *trial) stepSubmit(s step) {
	email, kind := pick(addresses, s.a), pick([]string{"marketing", "transactional"}, s.b)
	var l *modelList
	more := ""
	if s.c%3 > 0 {
		l = pick(t.lists, s.c/3)
		more = f(`,"list_id":%d`, l.id)
	}
	want, status := t.submit(email, l, kind == "transactional")
	got, body := t.call("POST", "/v2/emails",
		f(`{"email":%q,"sender":%s,"content":{"subject":"S","text":"T","type":%q}%s}`, email, shop, kind, more))
	t.disagree("status", got, want)
	if want == 201 && t.failure == nil {
		t.disagree("the submission", body["status"], status)
	}
}

func (t *trial) stepLegacy(s step) {
	email := pick(addresses, s.a)
	l, c := t.addedLast(email)
	t.send(modelMessage{by: events.SendingTypeTransactional, to: email, contact: c, list: l})
	got, _ := t.call("POST", "/emails", submission(email, ""))
	t.disagree("status", got, 201)
}

func (t *trial) stepCampaign(s step) {
	l := pick(t.lists, s.a)
	_, body := t.call("POST", "/campaigns", f(`{"name":"A","list_id":%d,"sender":%s,"content":%s}`, l.id, shop, greeting))
	want := t.sendCampaign(l)
	got, _ := t.call("POST", f("/campaigns/%v/schedule", body["campaign_id"]), "{}")
	t.disagree("status", got, want)
}

func (t *trial) stepSuppress(s step) {
	email := pick(suppressions, s.a)
	t.suppress(email)
	got, _ := t.call("POST", "/suppressed-emails", f(`{"email":%q}`, email))
	t.disagree("status", got, 201)
}

func (t *trial) stepUnsuppress(s step) {
	email, want := pick(suppressions, s.a), 404
	if t.suppressed[email] {
		delete(t.suppressed, email)
		want = 204
	}
	got, _ := t.call("DELETE", "/suppressed-emails/"+email, "")
	t.disagree("status", got, want)
}

func (t *trial) stepArchive(s step) {
	i, archive := int(s.a)%len(t.hooks), s.b%2 == 0
	got, _ := t.call("POST", "/webhooks/"+t.hooks[i]+map[bool]string{true: "/archive", false: "/unarchive"}[archive], "")
	t.disagree("status", got, 204)
	t.archived[i] = archive
}

// stepRecipient simulates a recipient action.
func (t *trial) stepRecipient(s step) {
	m := pick(t.messages, s.a)
	can, err := true, error(nil)
	acts := []string{"bounce", "complain", "unsubscribe", "global unsubscribe", "confirm", "open", "click"}
	act := pick(acts, s.act/2)
	t.note("%s: %s message to %s", act, m.by, m.to)
	switch act {
	case "bounce":
		category := events.BounceCategory(pick(bounceCategories, s.b*(s.c%2))) // at least half of them are hard bounces
		t.bounce(m, category == "bounce_hb")
		err = t.srv.Bounce(m.id, category)
	case "complain":
		t.complain(m)
		err = t.srv.Complain(m.id, "")
	case "unsubscribe":
		can = t.unsubscribe(m)
		err = t.srv.Unsubscribe(m.id)
	case "global unsubscribe":
		t.globalUnsubscribe(m)
		err = t.srv.GlobalUnsubscribe(m.id)
	case "confirm":
		can = t.confirm(m)
		err = t.srv.Confirm(m.id)
	case "open":
		t.fire("Email.Opened", m.to)
		err = t.srv.Open(m.id)
	case "click":
		t.fire("Email.Clicked", m.to)
		err = t.srv.Click(m.id, "https://shop.example/")
	}
	t.disagree(act+" is possible", err == nil, can)
}
