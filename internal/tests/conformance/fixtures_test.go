package conformance_test

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

const (
	ada      = "ada@example.org"
	shop     = `{"name":"Shop","email":"hello@shop.example"}`
	design   = `{"name":"Shipped","content":{"html":"<p>Hi {{name}}</p>","text":"Hi {{name}}"}}`
	greeting = `{"subject":"Hello {{name}}","html":"<p>Hello {{name}}</p>","text":"Hello {{name}}"}`
)

// list creates a list with an accepted policy.
func (f *fixture) list() int64 {
	f.Helper()
	id := f.closedList()
	f.post(fmt.Sprintf("/lists/%d/accept-policy", id), "").is(204, "")
	return id
}

// closedList creates a list without an accepted policy.
func (f *fixture) closedList() int64 {
	f.Helper()
	return f.post("/lists", `{"name":"News"}`).ok().int("list_id")
}

func (f *fixture) contact(list int64, email string) int64 {
	f.Helper()
	return f.post(fmt.Sprintf("/lists/%d/contacts", list), fmt.Sprintf(`{"email":%q}`, email)).ok().int("id")
}

// member adds an address to a list and gives the contact a status.
func (f *fixture) member(list int64, email, status string) int64 {
	f.Helper()
	if status == "pending" {
		return f.post(fmt.Sprintf("/lists/%d/contacts?send_double_opt_in=true", list), fmt.Sprintf(`{"email":%q}`, email)).ok().int("id")
	}
	id := f.contact(list, email)
	switch status {
	case "unsubscribed":
		f.post(fmt.Sprintf("/lists/%d/contacts/%d/unsubscribe", list, id), "").ok()
	case "deleted":
		f.delete(fmt.Sprintf("/lists/%d/contacts/%d", list, id)).ok()
	case "spam":
		f.complain(f.submitTo(list, email))
		f.delete("/suppressed-emails/" + email).ok() // keep only the contact's status
	case "bounced":
		f.bounce(f.submitTo(list, email), "bounce_hb")
	case "suppressed":
		f.post("/suppressed-emails", fmt.Sprintf(`{"email":%q}`, email)).ok()
	}
	return id
}

// isSuppressed reports whether an address is on the suppression list.
func (f *fixture) isSuppressed(email string) bool {
	f.Helper()
	return len(f.get("/suppressed-emails?filter=email:"+email).column("email")) == 1
}

// submission is the body of POST /v2/emails, with further fields such as `,"list_id":1`.
func submission(email, more string) string {
	return fmt.Sprintf(`{"email":%q,"sender":%s,"content":%s%s}`, email, shop, greeting, more)
}

// submit submits an email without a list.
func (f *fixture) submit(email, more string) reply {
	f.Helper()
	return f.post("/v2/emails", submission(email, more))
}

// submitTo submits an email to a contact of a list and returns its id.
func (f *fixture) submitTo(list int64, email string) string {
	f.Helper()
	return f.submit(email, fmt.Sprintf(`,"list_id":%d`, list)).ok().text("id")
}

// sent is an email with the ids of the records that it belongs to, or 0.
type sent struct {
	id                                string
	list, contact, campaign, workflow int64
}

// fill replaces the ids in a pattern.
func (s sent) fill(pattern string) string {
	id := func(n int64) string { return strconv.FormatInt(n, 10) }
	return strings.NewReplacer("$id", s.id, "$list", id(s.list), "$contact", id(s.contact), "$campaign", id(s.campaign),
		"$workflow", id(s.workflow)).Replace(pattern)
}

type sending struct {
	name string
	send func(f *fixture) sent
}

// sendings are the four ways to send an email, in these tests to Ada. Each waits until the events are delivered.
var sendings = []sending{
	{"campaign", (*fixture).sendByCampaign},
	{"workflow", (*fixture).sendByWorkflow},
	{"transactional", (*fixture).sendByTransactional},
	{"email API", (*fixture).sendByEmailAPI},
}

func (f *fixture) sendByCampaign() sent {
	f.Helper()
	list := f.list()
	s := sent{list: list, contact: f.contact(list, ada), campaign: f.campaign(list)}
	f.post(fmt.Sprintf("/campaigns/%d/schedule", s.campaign), "").ok()
	return f.lastSent(s)
}

// campaign creates a campaign that can be scheduled.
func (f *fixture) campaign(list int64) int64 {
	f.Helper()
	body := fmt.Sprintf(`{"name":"Spring","list_id":%d,"sender":%s,"content":%s}`, list, shop, greeting)
	return f.post("/campaigns", body).ok().int("campaign_id")
}

func (f *fixture) sendByWorkflow() sent {
	f.Helper()
	list := f.list()
	workflow := f.workflow(list)
	return f.lastSent(sent{list: list, contact: f.contact(list, ada), workflow: workflow})
}

// workflow creates an active workflow.
func (f *fixture) workflow(list int64) int64 {
	f.Helper()
	body := fmt.Sprintf(`{"name":"Welcome","list_id":%d,"trigger":"subscribed","sender":%s,"content":%s}`, list, shop, greeting)
	id := f.post("/workflows", body).ok().int("workflow_id")
	f.post(fmt.Sprintf("/workflows/%d/activate", id), "").is(204, "")
	return id
}

func (f *fixture) sendByTransactional() sent {
	f.Helper()
	body := fmt.Sprintf(`{"email":%q,"sender":%s,"content":%s,"additional_headers":[{"name":"X-Order","value":"7"}]}`, ada, shop,
		greeting)
	id := f.post("/emails", body).ok().text("id")
	f.deliveries()
	return sent{id: id}
}

func (f *fixture) sendByEmailAPI() sent {
	f.Helper()
	list := f.list()
	s := sent{list: list, contact: f.contact(list, ada), id: f.submitTo(list, ada)}
	f.deliveries()
	return s
}

func (f *fixture) lastSent(s sent) sent {
	f.Helper()
	f.deliveries()
	s.id = f.lastMessage().ID
	return s
}

// The following methods simulate recipient actions.

func (f *fixture) bounce(id, category string) {
	f.Helper()
	f.must(f.srv.Bounce(id, events.BounceCategory(category)))
}

func (f *fixture) complain(id string)          { f.Helper(); f.must(f.srv.Complain(id, "Mailbox.example")) }
func (f *fixture) open(id string)              { f.Helper(); f.must(f.srv.Open(id)) }
func (f *fixture) click(id, url string)        { f.Helper(); f.must(f.srv.Click(id, url)) }
func (f *fixture) unsubscribe(id string)       { f.Helper(); f.must(f.srv.Unsubscribe(id)) }
func (f *fixture) globalUnsubscribe(id string) { f.Helper(); f.must(f.srv.GlobalUnsubscribe(id)) }

func (f *fixture) must(err error) {
	f.Helper()
	require.NoError(f, err)
}

// lastMessage returns the last message in the outbox.
func (f *fixture) lastMessage() mockserver.Message {
	f.Helper()
	outbox := f.srv.Outbox()
	if len(outbox) == 0 {
		f.Fatal("nothing was sent")
	}
	return outbox[len(outbox)-1]
}

// recipients returns the recipients of all messages, in order.
func (f *fixture) recipients() string {
	var to []string
	for _, m := range f.srv.Outbox() {
		to = append(to, m.To)
	}
	return strings.Join(to, " ")
}
