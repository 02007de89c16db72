package conformance_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/tests/probe"
	"example.com/emailplatform/mockserver"
)

// TestModel runs random sequences of operations, and compares the responses, messages, events and statuses with the
// model. The flag -rapid.checks sets the number of sequences.
func TestModel(t *testing.T) {
	proves(t, "decision/36/nothing", "decision/24/order", "decision/12/once", "decision/33", "decision/32")
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // fewer garbage collections, because sequences are short
	rapid.Check(t, func(r *rapid.T) {
		m := newModelTest(r)
		defer m.srv.Close()
		r.Repeat(rapid.StateMachineActions(m))
		m.compareDeliveries()
		m.compareState()
	})
}

// modelTest is a server and a model that process the same operations. Each exported method except Check is an
// operation.
type modelTest struct {
	*rapid.T
	*model

	srv       *mockserver.Server
	hooks     []string
	outbox    int        // messages that have been compared
	delivered [][]string // expected deliveries by step
}

func newModelTest(r *rapid.T) *modelTest {
	ignore := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	t := &modelTest{
		T:     r,
		model: &model{suppressed: map[string]bool{}},
		srv:   mockserver.New(mockserver.Config{Targets: map[string]http.Handler{"hook.test": ignore}}),
	}
	for range 2 {
		_, body := t.call("POST", "/webhooks", `{"url":"http://hook.test/","events":`+probe.Show(eventNames())+`}`)
		t.hooks, t.archived = append(t.hooks, body["webhook_id"].(string)), append(t.archived, false)
		_, body = t.call("POST", "/lists", `{"name":"News"}`)
		t.lists = append(t.lists, &modelList{id: number(body["list_id"])})
	}
	t.call("POST", fmt.Sprintf("/lists/%d/accept-policy", t.lists[0].id), "")
	t.lists[0].accepted = true
	for _, l := range t.lists {
		_, body := t.call("POST", "/workflows",
			fmt.Sprintf(`{"name":"A","list_id":%d,"trigger":"subscribed","sender":%s,"content":%s}`, l.id, shop, greeting))
		if id := number(body["workflow_id"]); l.accepted {
			t.call("POST", fmt.Sprintf("/workflows/%d/activate", id), "")
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

// call sends a request and returns the status and the body.
func (t *modelTest) call(method, path, body string) (int, map[string]any) {
	req, err := http.NewRequestWithContext(context.Background(), method, path, strings.NewReader(body))
	if err != nil {
		panic(err) // all paths are valid
	}
	req.Header["Authorization"] = []string{"Bearer " + t.srv.Token()}
	req.Header["Content-Type"] = []string{"application/json"}
	res := httptest.NewRecorder()
	t.srv.ServeHTTP(res, req)
	t.Logf("%s %s %s → %d", method, path, body, res.Code)
	var out map[string]any
	if res.Body.Len() == 0 {
		return res.Code, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(res.Body.Bytes()))
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil {
		t.equal(path, err, "JSON")
	}
	return res.Code, out
}

// equal fails the test if two values have different printed forms.
func (t *modelTest) equal(what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%s: the platform returned %v, the model %v", what, got, want)
	}
}

// Check compares the messages of the last operation, and stores the expected events.
func (t *modelTest) Check(*rapid.T) {
	if err := t.srv.Wait(context.Background()); err != nil {
		t.equal("Wait", err, nil)
	}
	var heard []string
	for i, hook := range t.hooks {
		for _, fired := range t.fired {
			if !t.archived[i] {
				heard = append(heard, hook+" "+fired)
			}
		}
	}
	t.delivered = append(t.delivered, heard)
	outbox := t.srv.Outbox()[t.outbox:]
	t.outbox += len(outbox)
	t.equal("messages sent", len(outbox), len(t.sent))
	for i, m := range t.sent {
		t.equal("sent", fmt.Sprintf("%s to %s", outbox[i].SentBy, outbox[i].To), fmt.Sprintf("%s to %s", m.by, m.to))
		m.id = outbox[i].ID
		t.messages = append(t.messages, &m)
	}
	t.sent, t.fired = nil, nil
}

// compareDeliveries compares the events. Within one step, their order does not matter.
func (t *modelTest) compareDeliveries() {
	var got []string
	for _, d := range t.srv.Deliveries() {
		got = append(got, fmt.Sprintf("%s %s %s", d.WebhookID, d.Event, recipientOf(d.Body)))
		if d.State != mockserver.DeliveryDelivered || len(d.Attempts) != 1 {
			t.equal("the delivery", d.State, mockserver.DeliveryDelivered)
		}
	}
	for i, want := range t.delivered {
		n := min(len(want), len(got))
		slices.Sort(want)
		slices.Sort(got[:n])
		t.equal(fmt.Sprintf("fired by step %d", i+1), got[:n], want)
		got = got[n:]
	}
	t.equal("fired in the end", got, []string{})
}

// recipientOf returns the recipient of an event, and the reason or status.
func recipientOf(body []byte) string {
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
func (t *modelTest) compareState() {
	for _, l := range t.lists {
		var want []string
		for _, c := range l.contacts {
			want = append(want, fmt.Sprintf("%d %s %s", c.id, c.email, c.status))
		}
		t.equal("contacts", t.items(fmt.Sprintf("/lists/%d/contacts", l.id), "id", "email", "status"), want)
	}
	var want []string
	for email := range t.suppressed {
		want = append(want, email)
	}
	got := t.items("/suppressed-emails", "email")
	slices.Sort(want)
	slices.Sort(got)
	t.equal("suppression list", got, want)
	want = nil
	for i := range t.hooks {
		want = append(want, map[bool]string{true: "archived", false: "active"}[t.archived[i]])
	}
	t.equal("webhooks", t.items("/webhooks", "status"), want)
}

// items returns some fields of every item of a page.
func (t *modelTest) items(path string, members ...string) []string {
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

// oneOf draws an element.
func oneOf[T any](r *rapid.T, what string, from []T) T {
	return from[rapid.IntRange(0, len(from)-1).Draw(r, what)]
}

func oneIn(r *rapid.T, n int, what string) bool { return rapid.IntRange(1, n).Draw(r, what) == 1 }

func (t *modelTest) Create(r *rapid.T) {
	l, email, optIn, resubscribe := oneOf(r, "list", t.lists), oneOf(r, "email", addresses), oneIn(r, 3, "opt-in"), oneIn(r, 2, "resubscribe")
	want, contact := t.create(l, email, optIn, resubscribe)
	got, body := t.call("POST", fmt.Sprintf("/lists/%d/contacts?send_double_opt_in=%t&resubscribe=%t", l.id, optIn, resubscribe), fmt.Sprintf(`{"email":%q}`, email))
	t.equal("status", got, want)
	if contact == nil {
		return
	}
	if contact.id == 0 {
		contact.id = number(body["id"])
	}
	t.equal("contact", fmt.Sprintf("%v %v", body["id"], body["status"]), fmt.Sprintf("%d %s", contact.id, contact.status))
}

func (t *modelTest) Leave(r *rapid.T) {
	l := oneOf(r, "list", t.lists)
	if len(l.contacts) == 0 {
		r.Skip("no contacts")
	}
	c := oneOf(r, "contact", l.contacts)
	method, path, status := "DELETE", fmt.Sprintf("/lists/%d/contacts/%d", l.id, c.id), "deleted"
	if oneIn(r, 2, "unsubscribe") {
		method, path, status = "POST", path+"/unsubscribe", "unsubscribed"
	}
	got, _ := t.call(method, path, "")
	t.equal("status", got, t.leave(c, status))
}

func (t *modelTest) Import(r *rapid.T) {
	l, resubscribe := oneOf(r, "list", t.lists), oneIn(r, 3, "resubscribe")
	status := oneOf(r, "status", []string{"active", "active", "unsubscribed", "deleted"})
	batch := rapid.SliceOfN(rapid.SampledFrom(addresses), 3, 3).Draw(r, "batch")
	imported := 0
	var entries []string
	for _, email := range batch {
		entries = append(entries, fmt.Sprintf(`{"email":%q}`, email))
		if t.importOne(l, email, status, resubscribe) {
			imported++
		}
	}
	_, body := t.call("POST", fmt.Sprintf("/lists/%d/contacts/import", l.id),
		fmt.Sprintf(`{"contacts":[%s],"import_to":%q,"resubscribe":%t}`, strings.Join(entries, ","), status, resubscribe))
	t.equal("imported, updated", fmt.Sprintf("%v %v", body["imported"], body["updated"]), fmt.Sprintf("%d %d", imported, len(batch)-imported))
	for _, c := range l.contacts {
		if c.id == 0 {
			_, page := t.call("GET", fmt.Sprintf("/lists/%d/contacts?filter=email:%s", l.id, c.email), "")
			c.id = number(page["data"].([]any)[0].(map[string]any)["id"])
		}
	}
}

func (t *modelTest) AcceptPolicy(r *rapid.T) {
	l := oneOf(r, "list", t.lists)
	got, _ := t.call("POST", fmt.Sprintf("/lists/%d/accept-policy", l.id), "")
	t.equal("status", got, 204)
	l.accepted = true
}

func (t *modelTest) Submit(r *rapid.T) {
	email, kind := oneOf(r, "email", addresses), oneOf(r, "type", []string{"marketing", "transactional"})
	l, more := oneOf(r, "list", append(t.lists, nil)), ""
	if l != nil {
		more = fmt.Sprintf(`,"list_id":%d`, l.id)
	}
	want, status := t.submit(email, l, kind == "transactional")
	got, body := t.call("POST", "/v2/emails",
		fmt.Sprintf(`{"email":%q,"sender":%s,"content":{"subject":"S","text":"T","type":%q}%s}`, email, shop, kind, more))
	t.equal("status", got, want)
	if want == 201 {
		t.equal("the submission", body["status"], status)
	}
}

func (t *modelTest) SendTransactional(r *rapid.T) {
	email := oneOf(r, "email", addresses)
	l, c := t.addedLast(email)
	t.send(modelMessage{by: events.SendingTypeTransactional, to: email, contact: c, list: l})
	got, _ := t.call("POST", "/emails", submission(email, ""))
	t.equal("status", got, 201)
}

func (t *modelTest) SendCampaign(r *rapid.T) {
	l := oneOf(r, "list", t.lists)
	_, body := t.call("POST", "/campaigns", fmt.Sprintf(`{"name":"A","list_id":%d,"sender":%s,"content":%s}`, l.id, shop, greeting))
	want := t.sendCampaign(l)
	got, _ := t.call("POST", fmt.Sprintf("/campaigns/%v/schedule", body["campaign_id"]), "{}")
	t.equal("status", got, want)
}

func (t *modelTest) Suppress(r *rapid.T) {
	email := oneOf(r, "pattern", suppressions)
	t.suppress(email)
	got, _ := t.call("POST", "/suppressed-emails", fmt.Sprintf(`{"email":%q}`, email))
	t.equal("status", got, 201)
}

func (t *modelTest) Unsuppress(r *rapid.T) {
	email, want := oneOf(r, "pattern", suppressions), 404
	if t.suppressed[email] {
		delete(t.suppressed, email)
		want = 204
	}
	got, _ := t.call("DELETE", "/suppressed-emails/"+email, "")
	t.equal("status", got, want)
}

func (t *modelTest) Archive(r *rapid.T) {
	i, to := rapid.IntRange(0, len(t.hooks)-1).Draw(r, "webhook"), oneOf(r, "to", []string{"archive", "unarchive"})
	got, _ := t.call("POST", "/webhooks/"+t.hooks[i]+"/"+to, "")
	t.equal("status", got, 204)
	t.archived[i] = to == "archive"
}

// message draws a sent message, or skips the operation if there is none.
func (t *modelTest) message(r *rapid.T) *modelMessage {
	if len(t.messages) == 0 {
		r.Skip("no messages")
	}
	m := oneOf(r, "message", t.messages)
	t.Logf("%s message to %s", m.by, m.to)
	return m
}

func (t *modelTest) Bounce(r *rapid.T) {
	m, category := t.message(r), oneOf(r, "category", events.BounceCategories())
	if oneIn(r, 2, "hard") {
		category = events.BounceCategoryHard
	}
	t.bounce(m, category.Hard())
	t.equal("bounce", t.srv.Bounce(m.id, category), nil)
}

func (t *modelTest) Complain(r *rapid.T) {
	m := t.message(r)
	t.complain(m)
	t.equal("complain", t.srv.Complain(m.id, ""), nil)
}

func (t *modelTest) Unsubscribe(r *rapid.T) {
	m := t.message(r)
	t.equal("unsubscribe is possible", t.srv.Unsubscribe(m.id) == nil, t.unsubscribe(m))
}

func (t *modelTest) GlobalUnsubscribe(r *rapid.T) {
	m := t.message(r)
	t.globalUnsubscribe(m)
	t.equal("global unsubscribe", t.srv.GlobalUnsubscribe(m.id), nil)
}

func (t *modelTest) Confirm(r *rapid.T) {
	m := t.message(r)
	t.equal("confirm is possible", t.srv.Confirm(m.id) == nil, t.confirm(m))
}

func (t *modelTest) Open(r *rapid.T) {
	m := t.message(r)
	t.fire("Email.Opened", m.to)
	t.equal("open", t.srv.Open(m.id), nil)
}

func (t *modelTest) Click(r *rapid.T) {
	m := t.message(r)
	t.fire("Email.Clicked", m.to)
	t.equal("click", t.srv.Click(m.id, "https://shop.example/"), nil)
}
