package conformance_test

import (
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
func (l *fixture) list() int64 {
	l.Helper()
	id := l.closedList()
	l.post(f("/lists/%d/accept-policy", id), "").is(204, "")
	return id
}

// closedList creates a list without an accepted policy.
func (l *fixture) closedList() int64 {
	l.Helper()
	return l.post("/lists", `{"name":"News"}`).ok().int("list_id")
}

func (l *fixture) contact(list int64, email string) int64 {
	l.Helper()
	return l.post(f("/lists/%d/contacts", list), f(`{"email":%q}`, email)).ok().int("id")
}

// member adds an address to a list and gives the contact a status.
func (l *fixture) member(list int64, email, status string) int64 {
	l.Helper()
	if status == "pending" {
		return l.post(f("/lists/%d/contacts?send_double_opt_in=true", list), f(`{"email":%q}`, email)).ok().int("id")
	}
	id := l.contact(list, email)
	switch status {
	case "unsubscribed":
		l.post(f("/lists/%d/contacts/%d/unsubscribe", list, id), "").ok()
	case "deleted":
		l.delete(f("/lists/%d/contacts/%d", list, id)).ok()
	case "spam":
		l.complain(l.submitTo(list, email))
		l.delete("/suppressed-emails/" + email).ok() // keep only the contact's status
	case "bounced":
		l.bounce(l.submitTo(list, email), "bounce_hb")
	case "suppressed":
		l.post("/suppressed-emails", f(`{"email":%q}`, email)).ok()
	}
	return id
}

// isSuppressed reports whether an address is on the suppression list.
func (l *fixture) isSuppressed(email string) bool {
	l.Helper()
	return len(l.get("/suppressed-emails?filter=email:"+email).column("email")) == 1
}

// submission is the body of POST /v2/emails, with further fields such as `,"list_id":1`.
func submission(email, more string) string {
	return f(`{"email":%q,"sender":%s,"content":%s%s}`, email, shop, greeting, more)
}

// submit submits an email without a list.
func (l *fixture) submit(email, more string) reply {
	l.Helper()
	return l.post("/v2/emails", submission(email, more))
}

// submitTo submits an email to a contact of a list and returns its id.
func (l *fixture) submitTo(list int64, email string) string {
	l.Helper()
	return l.submit(email, f(`,"list_id":%d`, list)).ok().text("id")
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
	send func(l *fixture) sent
}

// sendings are the four ways to send an email, in these tests to Ada. Each waits until the events are delivered.
var sendings = []sending{
	{"campaign", (*fixture).sendByCampaign},
	{"workflow", (*fixture).sendByWorkflow},
	{"transactional", (*fixture).sendByTransactional},
	{"email API", (*fixture).sendByEmailAPI},
}

func (l *fixture) sendByCampaign() sent {
	l.Helper()
	list := l.list()
	s := sent{list: list, contact: l.contact(list, ada), campaign: l.campaign(list)}
	l.post(f("/campaigns/%d/schedule", s.campaign), "").ok()
	return l.lastSent(s)
}

// campaign creates a campaign that can be scheduled.
func (l *fixture) campaign(list int64) int64 {
	l.Helper()
	body := f(`{"name":"Spring","list_id":%d,"sender":%s,"content":%s}`, list, shop, greeting)
	return l.post("/campaigns", body).ok().int("campaign_id")
}

func (l *fixture) sendByWorkflow() sent {
	l.Helper()
	list := l.list()
	workflow := l.workflow(list)
	return l.lastSent(sent{list: list, contact: l.contact(list, ada), workflow: workflow})
}

// workflow creates an active workflow.
func (l *fixture) workflow(list int64) int64 {
	l.Helper()
	body := f(`{"name":"Welcome","list_id":%d,"trigger":"subscribed","sender":%s,"content":%s}`, list, shop, greeting)
	id := l.post("/workflows", body).ok().int("workflow_id")
	l.post(f("/workflows/%d/activate", id), "").is(204, "")
	return id
}

func (l *fixture) sendByTransactional() sent {
	l.Helper()
	body := f(`{"email":%q,"sender":%s,"content":%s,"additional_headers":[{"name":"X-Order","value":"7"}]}`, ada, shop,
		greeting)
	id := l.post("/emails", body).ok().text("id")
	l.deliveries()
	return sent{id: id}
}

func (l *fixture) sendByEmailAPI() sent {
	l.Helper()
	list := l.list()
	s := sent{list: list, contact: l.contact(list, ada), id: l.submitTo(list, ada)}
	l.deliveries()
	return s
}

func (l *fixture) lastSent(s sent) sent {
	l.Helper()
	l.deliveries()
	s.id = l.lastMessage().ID
	return s
}

// The following methods simulate recipient actions.

func (l *fixture) bounce(id, category string) {
	l.Helper()
	l.must(l.srv.Bounce(id, events.BounceCategory(category)))
}

func (l *fixture) complain(id string)          { l.Helper(); l.must(l.srv.Complain(id, "Mailbox.example")) }
func (l *fixture) open(id string)              { l.Helper(); l.must(l.srv.Open(id)) }
func (l *fixture) click(id, url string)        { l.Helper(); l.must(l.srv.Click(id, url)) }
func (l *fixture) unsubscribe(id string)       { l.Helper(); l.must(l.srv.Unsubscribe(id)) }
func (l *fixture) globalUnsubscribe(id string) { l.Helper(); l.must(l.srv.GlobalUnsubscribe(id)) }

func (l *fixture) must(err error) {
	l.Helper()
	require.NoError(l, err)
}

// lastMessage returns the last message in the outbox.
func (l *fixture) lastMessage() mockserver.Message {
	l.Helper()
	outbox := l.srv.Outbox()
	if len(outbox) == 0 {
		l.Fatal("nothing was sent")
	}
	return outbox[len(outbox)-1]
}

// recipients returns the recipients of all messages, in order.
func (l *fixture) recipients() string {
	var to []string
	for _, m := range l.srv.Outbox() {
		to = append(to, m.To)
	}
	return strings.Join(to, " ")
}
