package conformance_test

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/tests/probe"
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
	f.Post(fmt.Sprintf("/lists/%d/accept-policy", id), "").Is(204, "")
	return id
}

// closedList creates a list without an accepted policy.
func (f *fixture) closedList() int64 {
	f.Helper()
	return f.Post("/lists", `{"name":"News"}`).OK().Int("list_id")
}

func (f *fixture) contact(list int64, email string) int64 {
	f.Helper()
	return f.Post(fmt.Sprintf("/lists/%d/contacts", list), fmt.Sprintf(`{"email":%q}`, email)).OK().Int("id")
}

// member adds an address to a list and gives the contact a status.
func (f *fixture) member(list int64, email, status string) int64 {
	f.Helper()
	if status == "pending" {
		return f.Post(fmt.Sprintf("/lists/%d/contacts?send_double_opt_in=true", list), fmt.Sprintf(`{"email":%q}`, email)).OK().Int("id")
	}
	id := f.contact(list, email)
	switch status {
	case "unsubscribed":
		f.Post(fmt.Sprintf("/lists/%d/contacts/%d/unsubscribe", list, id), "").OK()
	case "deleted":
		f.Delete(fmt.Sprintf("/lists/%d/contacts/%d", list, id)).OK()
	case "spam":
		f.complain(f.submitTo(list, email))
		f.Delete("/suppressed-emails/" + email).OK() // keep only the contact's status
	case "bounced":
		f.bounce(f.submitTo(list, email), "bounce_hb")
	case "suppressed":
		f.Post("/suppressed-emails", fmt.Sprintf(`{"email":%q}`, email)).OK()
	}
	return id
}

// isSuppressed reports whether an address is on the suppression list.
func (f *fixture) isSuppressed(email string) bool {
	f.Helper()
	return len(f.Get("/suppressed-emails?filter=email:"+email).Column("email")) == 1
}

// submission is the body of POST /v2/emails, with further fields such as `,"list_id":1`.
func submission(email, more string) string {
	return fmt.Sprintf(`{"email":%q,"sender":%s,"content":%s%s}`, email, shop, greeting, more)
}

// submit submits an email without a list.
func (f *fixture) submit(email, more string) probe.Response {
	f.Helper()
	return f.Post("/v2/emails", submission(email, more))
}

// submitTo submits an email to a contact of a list and returns its id.
func (f *fixture) submitTo(list int64, email string) string {
	f.Helper()
	return f.submit(email, fmt.Sprintf(`,"list_id":%d`, list)).OK().Text("id")
}

// sent is an email with the ids of the records that it belongs to. If there is no such record, the id is 0.
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

// sendings are the four ways to send an email. In these tests, Ada receives all emails. Each function waits until the
// events are delivered.
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
	f.Post(fmt.Sprintf("/campaigns/%d/schedule", s.campaign), "").OK()
	return f.lastSent(s)
}

// campaign creates a campaign that can be scheduled.
func (f *fixture) campaign(list int64) int64 {
	f.Helper()
	body := fmt.Sprintf(`{"name":"Spring","list_id":%d,"sender":%s,"content":%s}`, list, shop, greeting)
	return f.Post("/campaigns", body).OK().Int("campaign_id")
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
	id := f.Post("/workflows", body).OK().Int("workflow_id")
	f.Post(fmt.Sprintf("/workflows/%d/activate", id), "").Is(204, "")
	return id
}

func (f *fixture) sendByTransactional() sent {
	f.Helper()
	body := fmt.Sprintf(`{"email":%q,"sender":%s,"content":%s,"additional_headers":[{"name":"X-Order","value":"7"}]}`, ada, shop,
		greeting)
	id := f.Post("/emails", body).OK().Text("id")
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
	require.NoError(f, f.Bounce(id, events.BounceCategory(category)))
}

func (f *fixture) complain(id string) {
	f.Helper()
	require.NoError(f, f.Complain(id, "Mailbox.example"))
}
func (f *fixture) open(id string)        { f.Helper(); require.NoError(f, f.Open(id)) }
func (f *fixture) click(id, url string)  { f.Helper(); require.NoError(f, f.Click(id, url)) }
func (f *fixture) unsubscribe(id string) { f.Helper(); require.NoError(f, f.Unsubscribe(id)) }
func (f *fixture) globalUnsubscribe(id string) {
	f.Helper()
	require.NoError(f, f.GlobalUnsubscribe(id))
}

// lastMessage returns the last message in the outbox.
func (f *fixture) lastMessage() mockserver.Message {
	f.Helper()
	outbox := f.Outbox()
	if len(outbox) == 0 {
		f.Fatal("nothing was sent")
	}
	return outbox[len(outbox)-1]
}

// recipients returns the recipients of all messages, in order.
func (f *fixture) recipients() string {
	var to []string
	for _, m := range f.Outbox() {
		to = append(to, m.To)
	}
	return strings.Join(to, " ")
}
