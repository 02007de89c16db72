package conformance_test

import (
	"strings"

	"example.com/emailplatform/events"
)

var (
	addresses    = []string{"ada@example.org", "bob@example.org", "ada@example.com"} // few, so that they meet again
	suppressions = []string{"ada@example.org", "*@example.com", "bob@*"}
)

func pick[T any](from []T, by byte) T { return from[int(by)%len(from)] }

// step lets one thing happen, on both sides.
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

// stepRecipient lets a recipient do something with a message.
func (t *trial) stepRecipient(s step) {
	m := pick(t.messages, s.a)
	can, err := true, error(nil)
	acts := []string{"bounce", "complain", "unsubscribe", "global unsubscribe", "confirm", "open", "click"}
	act := pick(acts, s.act/2)
	t.note("%s: %s message to %s", act, m.by, m.to)
	switch act {
	case "bounce":
		category := events.BounceCategory(pick(bounceCategories, s.b*(s.c%2))) // every second one is a hard bounce
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
