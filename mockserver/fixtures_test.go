package mockserver_test

import (
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

const (
	ada      = "ada@example.org"
	shop     = `{"name":"Shop","email":"hello@shop.example"}`
	greeting = `{"subject":"Hello {{name}}","html":"<p>Hello {{name}}</p>","text":"Hello {{name}}"}`
)

// list creates a list that may be sent to.
func (w *world) list() int64 {
	w.Helper()
	id := w.closedList()
	w.post(f("/lists/%d/accept-policy", id), "").is(204, "")
	return id
}

// closedList creates a list whose policy is not accepted.
func (w *world) closedList() int64 {
	w.Helper()
	return w.post("/lists", `{"name":"News"}`).ok().int("list_id")
}

func (w *world) contact(list int64, email string) int64 {
	w.Helper()
	return w.post(f("/lists/%d/contacts", list), f(`{"email":%q}`, email)).ok().int("id")
}

// member puts an address on a list and brings it to the status, by what the
// specification says leads there.
func (w *world) member(list int64, email, status string) int64 {
	w.Helper()
	if status == "pending" {
		return w.post(f("/lists/%d/contacts?send_double_opt_in=true", list), f(`{"email":%q}`, email)).ok().int("id")
	}
	id := w.contact(list, email)
	switch status {
	case "unsubscribed":
		w.post(f("/lists/%d/contacts/%d/unsubscribe", list, id), "").ok()
	case "deleted":
		w.delete(f("/lists/%d/contacts/%d", list, id)).ok()
	case "spam":
		w.complain(w.submitTo(list, email))
		w.delete("/suppressed-emails/" + email).ok() // so that the contact's status alone is left
	case "bounced":
		w.bounce(w.submitTo(list, email), "bounce_hb")
	case "suppressed":
		w.post("/suppressed-emails", f(`{"email":%q}`, email)).ok()
	}
	return id
}

// status looks a contact's status up.
func (w *world) status(list, contact int64) string {
	w.Helper()
	return w.get(f("/lists/%d/contacts/%d", list, contact)).ok().text("status")
}

// isSuppressed looks an address up in the suppression list.
func (w *world) isSuppressed(email string) bool {
	w.Helper()
	return len(w.get("/suppressed-emails?filter=email:"+email).column("email")) == 1
}

// submission is the body of POST /v2/emails to an address, with further members
// such as `,"list_id":1`.
func submission(email, more string) string {
	return f(`{"email":%q,"sender":%s,"content":%s%s}`, email, shop, greeting, more)
}

// submit submits an email that goes to no list in particular.
func (w *world) submit(email, more string) reply {
	w.Helper()
	return w.post("/v2/emails", submission(email, more))
}

// submitTo submits an email to a contact of a list and returns its id.
func (w *world) submitTo(list int64, email string) string {
	w.Helper()
	return w.submit(email, f(`,"list_id":%d`, list)).ok().text("id")
}

// sent is an email that a recipient got, and where it came from; 0 is nowhere.
type sent struct {
	id                                string
	list, contact, campaign, workflow int64
}

// fill puts the ids into a pattern.
func (s sent) fill(pattern string) string {
	return strings.NewReplacer("$id", s.id, "$list", strconv.FormatInt(s.list, 10), "$contact", strconv.FormatInt(s.contact, 10),
		"$campaign", strconv.FormatInt(s.campaign, 10), "$workflow", strconv.FormatInt(s.workflow, 10)).Replace(pattern)
}

// sendings are the four ways of sending an email, here to Ada, who is on a list
// wherever that can be. What fired until then has been delivered.
var sendings = []struct {
	name string
	send func(w *world) sent
}{
	{"campaign", (*world).sendByCampaign},
	{"workflow", (*world).sendByWorkflow},
	{"transactional", (*world).sendByTransactional},
	{"email API", (*world).sendByEmailAPI},
}

func (w *world) sendByCampaign() sent {
	w.Helper()
	list := w.list()
	contact := w.contact(list, ada)
	campaign := w.campaign(list)
	w.post(f("/campaigns/%d/schedule", campaign), "").ok()
	return w.lastSent(sent{list: list, contact: contact, campaign: campaign})
}

// campaign creates a campaign that may be scheduled.
func (w *world) campaign(list int64) int64 {
	w.Helper()
	body := f(`{"name":"Spring","list_id":%d,"sender":%s,"content":%s}`, list, shop, greeting)
	return w.post("/campaigns", body).ok().int("campaign_id")
}

func (w *world) sendByWorkflow() sent {
	w.Helper()
	list := w.list()
	workflow := w.workflow(list)
	return w.lastSent(sent{list: list, contact: w.contact(list, ada), workflow: workflow})
}

// workflow creates an active workflow.
func (w *world) workflow(list int64) int64 {
	w.Helper()
	body := f(`{"name":"Welcome","list_id":%d,"trigger":"subscribed","sender":%s,"content":%s}`, list, shop, greeting)
	id := w.post("/workflows", body).ok().int("workflow_id")
	w.post(f("/workflows/%d/activate", id), "").is(204, "")
	return id
}

// sendByOptIn sends the confirmation email of a double opt-in.
func (w *world) sendByOptIn() sent {
	w.Helper()
	list := w.list()
	return w.lastSent(sent{list: list, contact: w.member(list, ada, "pending")})
}

func (w *world) sendByTransactional() sent {
	w.Helper()
	body := f(`{"email":%q,"sender":%s,"content":%s,"additional_headers":[{"name":"X-Order","value":"7"}]}`, ada, shop, greeting)
	id := w.post("/emails", body).ok().text("id")
	w.deliveries()
	return sent{id: id}
}

func (w *world) sendByEmailAPI() sent {
	w.Helper()
	list := w.list()
	s := sent{list: list, contact: w.contact(list, ada)}
	s.id = w.submitTo(list, ada)
	w.deliveries()
	return s
}

func (w *world) lastSent(s sent) sent {
	w.Helper()
	w.deliveries()
	s.id = w.lastMessage().ID
	return s
}

var bounceCategories = []string{
	"bounce_hb", "bounce_sb", "bounce_fm", "bounce_mb", "bounce_tr", "bounce_df", "bounce_ar", "bounce_cr", "bounce_ac",
}

// What recipients do with an email.

func (w *world) bounce(id, category string) {
	w.Helper()
	w.must(w.srv.Bounce(id, events.BounceCategory(category)))
}

func (w *world) complain(id string)          { w.Helper(); w.must(w.srv.Complain(id, "Mailbox.example")) }
func (w *world) open(id string)              { w.Helper(); w.must(w.srv.Open(id)) }
func (w *world) click(id, url string)        { w.Helper(); w.must(w.srv.Click(id, url)) }
func (w *world) unsubscribe(id string)       { w.Helper(); w.must(w.srv.Unsubscribe(id)) }
func (w *world) globalUnsubscribe(id string) { w.Helper(); w.must(w.srv.GlobalUnsubscribe(id)) }
func (w *world) confirm(id string)           { w.Helper(); w.must(w.srv.Confirm(id)) }

func (w *world) must(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

// lastMessage is the newest message in the outbox.
func (w *world) lastMessage() mockserver.Message {
	w.Helper()
	outbox := w.srv.Outbox()
	if len(outbox) == 0 {
		w.Fatal("nothing was sent")
	}
	return outbox[len(outbox)-1]
}

// recipients returns to whom messages were sent, in order.
func (w *world) recipients() string {
	var to []string
	for _, m := range w.srv.Outbox() {
		to = append(to, m.To)
	}
	return strings.Join(to, " ")
}

// lookUp looks an email up as soon as the limit allows, and wants the answer to
// match the pattern.
func (w *world) lookUp(id, pattern string) {
	w.Helper()
	time.Sleep(time.Second)
	w.get("/v2/emails/"+id).is(200, pattern)
}
