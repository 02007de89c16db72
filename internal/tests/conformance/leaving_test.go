package conformance_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
)

const recipient = `{"ip":"<string>","user_agent":"<string>"}`

// leavers are the events of contacts that leave.
var leavers = []string{
	"Contact.Removed", "Contact.Unsubscribed", "Email.Unsubscribed", "Email.GlobalUnsubscribed", "SuppressedEmail.Added",
}

func TestUnsubscribing(t *testing.T) {
	for name, send := range map[string]func(*lab) sent{
		"campaign": (*lab).sendByCampaign,
		"workflow": (*lab).sendByWorkflow,
	} {
		t.Run("the link in a "+name+" email", inLab(func(l *lab) {
			proves(l, "states/contact/unsubscribe-link", "states/contact/unsubscribe-link/fires", "unsubscribed/others",
				"decision/32")
			l.listen(leavers...)
			s := send(l)
			l.unsubscribe(s.id)
			want(l, "status", l.status(s.list, s.contact), "unsubscribed")
			l.fires("Contact.Removed", "Contact.Unsubscribed")
			l.unsubscribe(s.id)
			l.fires()
		}))
		t.Run("all email by a "+name+" email", inLab(func(l *lab) {
			proves(l, "states/address/suppressed", "states/address/suppressed/fires", "global-unsubscribed/email-api-only",
				"states/address/global-unsubscribe/removed", "removed/global-unsubscribe", "suppressed/"+name)
			l.listen(leavers...)
			s := send(l)
			l.globalUnsubscribe(s.id)
			want(l, "status", l.status(s.list, s.contact), "unsubscribed")
			want(l, "suppressed", l.isSuppressed(ada), true)
			fired := l.fires("SuppressedEmail.Added", "Contact.Removed", "Contact.Unsubscribed")
			l.data(fired[0], `{"suppressedEmail":{"email":"ada@example.org"}}`)
			l.globalUnsubscribe(s.id)
			l.fires()
		}))
	}
	t.Run("all email by a transactional email", inLab(func(l *lab) {
		proves(l, "decision/37/transactional")
		l.listen(leavers...)
		list := l.list()
		contact := l.contact(list, ada)
		l.globalUnsubscribe(l.sendByTransactional().id)
		l.fires("SuppressedEmail.Added")
		want(l, "status", l.status(list, contact), "active")
	}))
}

func TestUnsubscribeByEmailAPI(t *testing.T) {
	t.Run("the list unsubscribe", inLab(func(l *lab) {
		proves(l, "states/contact/list-unsubscribe", "states/contact/list-unsubscribe/fires", "removed/list-unsubscribe",
			"events/Email.Unsubscribed", "resources/email/id-in-events", "unsubscribed/email-api-only",
			"unsubscribed/event_time", "unsubscribed/email.id", "unsubscribed/contact", "unsubscribed/contact/status",
			"unsubscribed/list", "unsubscribed/context")
		l.listen(leavers...)
		s := l.sendByEmailAPI()
		l.unsubscribe(s.id)
		want(l, "status", l.status(s.list, s.contact), "unsubscribed")
		d := l.fires("Email.Unsubscribed", "Contact.Unsubscribed", "Contact.Removed")[0]
		l.data(d, s.fill(`{"event_time":"<unix>","email":{"id":"$id"},"list":{"id":$list,"name":"News"},
			"contact":{"id":$contact,"email":"ada@example.org","status":"<string>","subscribed_on":"<unix>",
				"custom_attributes":[],"tags":[],"interests":[]},"context":`+recipient+`}`))
		l.envelope(d, `{"user":`+noUser+`,"…":0}`)
		status := d.body["data"].(map[string]any)["contact"].(map[string]any)["status"]
		want(l, "active or unsubscribed", status == "active" || status == "unsubscribed", true)
		l.unsubscribe(s.id)
		l.fires()
	}))
	t.Run("the header", inLab(func(l *lab) {
		proves(l, "unsubscribed/link-or-header")
		s := l.sendByEmailAPI()
		m := l.lastMessage()
		want(l, "the message", m.ID, s.id)
		if !slices.ContainsFunc(m.Headers, func(h mockserver.Header) bool {
			return h.Name == "List-Unsubscribe" && h.Value != ""
		}) {
			l.Errorf("the message has no List-Unsubscribe header: %v", m.Headers)
		}
	}))
	t.Run("the header by one click", inLab(func(l *lab) {
		proves(l, "decision/37/one-click", "unsubscribed/link-or-header", "states/contact/list-unsubscribe/fires")
		l.listen(leavers...)
		s := l.sendByEmailAPI()
		link := l.unsubscribeLink(l.lastMessage())
		l.visit(http.MethodGet, link, "").ok()
		l.fires()
		l.visit(http.MethodPost, link, "List-Unsubscribe=Yes").status4xx()
		l.fires()
		l.visit(http.MethodPost, link, "List-Unsubscribe=One-Click").ok()
		want(l, "status", l.status(s.list, s.contact), "unsubscribed")
		l.fires("Email.Unsubscribed", "Contact.Unsubscribed", "Contact.Removed")
	}))
	t.Run("who is on no list", inLab(func(l *lab) {
		proves(l, "decision/37/stranger")
		if err := l.srv.Unsubscribe(l.submit("stranger@example.org", "").text("id")); err == nil {
			l.Error("somebody on no list unsubscribed from it")
		}
	}))
	t.Run("all email", inLab(func(l *lab) {
		proves(l, "states/address/global-unsubscribe/email-api", "states/address/suppressed", "suppressed/carries-address",
			"states/address/suppressed/fires", "events/Email.GlobalUnsubscribed", "global-unsubscribed/email-api-only",
			"global-unsubscribed/suppressed", "global-unsubscribed/data", "global-unsubscribed/no-address",
			"suppressed/email-api", "decision/37/email-api")
		l.listen(leavers...)
		s := l.sendByEmailAPI()
		l.globalUnsubscribe(s.id)
		want(l, "suppressed", l.isSuppressed(ada), true)
		want(l, "status", l.status(s.list, s.contact), "active")
		fired := l.fires("Email.GlobalUnsubscribed", "SuppressedEmail.Added")
		l.data(fired[0], s.fill(`{"event_time":"<unix>","email":{"id":"$id"},"context":`+recipient+`}`))
		want(l, "the address is in the event", strings.Contains(string(fired[0].raw), ada), false)
		l.data(fired[1], `{"suppressedEmail":{"email":"ada@example.org"}}`)
		l.globalUnsubscribe(s.id)
		l.fires()
	}))
}

// removals are the ways to leave a list.
var removals = []struct {
	name, piece string
	send        func(l *lab) sent
	leave       func(l *lab, s sent)
	byUser      bool // by a user, not by the recipient
	status      string
}{
	{
		name: "through the API", piece: "removed/api",
		send: (*lab).sendByCampaign,
		leave: func(l *lab, s sent) {
			l.post(f("/lists/%d/contacts/%d/unsubscribe", s.list, s.contact), "").ok()
		},
		byUser: true, status: "unsubscribed",
	},
	{
		name: "deleted", piece: "removed/delete",
		send:   (*lab).sendByCampaign,
		leave:  func(l *lab, s sent) { l.delete(f("/lists/%d/contacts/%d", s.list, s.contact)).ok() },
		byUser: true, status: "deleted",
	},
	{
		name: "by the link in a campaign", piece: "removed/link",
		send:   (*lab).sendByCampaign,
		leave:  func(l *lab, s sent) { l.unsubscribe(s.id) },
		status: "unsubscribed",
	},
	{
		name: "by the link in a workflow email", piece: "removed/link",
		send:   (*lab).sendByWorkflow,
		leave:  func(l *lab, s sent) { l.unsubscribe(s.id) },
		status: "unsubscribed",
	},
	{
		name: "by a list unsubscribe", piece: "removed/list-unsubscribe",
		send:   (*lab).sendByEmailAPI,
		leave:  func(l *lab, s sent) { l.unsubscribe(s.id) },
		status: "unsubscribed",
	},
	{
		name: "by a global unsubscribe", piece: "removed/global-unsubscribe",
		send:   (*lab).sendByCampaign,
		leave:  func(l *lab, s sent) { l.globalUnsubscribe(s.id) },
		status: "unsubscribed",
	},
}

func TestRemoved(t *testing.T) {
	for _, row := range removals {
		t.Run(row.name, inLab(func(l *lab) {
			proves(l, row.piece, "events/Contact.Removed", "removed/list", "removed/contact", "removed/context/timestamp")
			user, context := noUser, `{"timestamp":"<unix>","ip":"<string>","user_agent":"<string>"}`
			if row.byUser {
				proves(l, "removed/user", "removed/context/otherwise")
				user, context = ownerUser, `{"timestamp":"<unix>","ip":null,"user_agent":null}`
			} else {
				proves(l, "removed/user/themselves", "removed/context/link")
			}
			l.listen("Contact.Removed")
			s := row.send(l)
			row.leave(l, s)
			d := l.fires("Contact.Removed")[0]
			l.envelope(d, `{"user":`+user+`,"…":0}`)
			l.data(d, s.fill(`{"list":{"id":$list,"name":"News"},"context":`+context+`,
				"contact":{"id":$contact,"email":"ada@example.org","status":"`+row.status+`","subscribed_on":"<unix>",
					"last_bounce_type":"none","bounces_count":0,"custom_attributes":[]}}`))
		}))
	}
	t.Run("its custom attributes", inLab(func(l *lab) {
		proves(l, "removed/contact", "resources/contact/custom_attributes")
		const london = `"custom_attributes":[{"name":"city","value":"London"}]`
		l.listen("Contact.Removed")
		list := l.list()
		id := l.post(f("/lists/%d/contacts", list), f(`{"email":%q,%s}`, ada, london)).int("id")
		l.delete(f("/lists/%d/contacts/%d", list, id)).ok()
		l.data(l.fires("Contact.Removed")[0], `{"contact":{`+london+`,"…":0},"…":0}`)
	}))
}

// unsubscribeLink returns the link in the List-Unsubscribe header.
func (l *lab) unsubscribeLink(m mockserver.Message) string {
	l.Helper()
	for _, h := range m.Headers {
		if h.Name == "List-Unsubscribe" {
			return strings.Trim(h.Value, "<>")
		}
	}
	l.Fatalf("the message has no List-Unsubscribe header: %v", m.Headers)
	return ""
}

// visit requests a link without a token, with a form if it is not empty.
func (l *lab) visit(method, link, form string) reply {
	l.Helper()
	req, err := http.NewRequestWithContext(l.Context(), method, link, strings.NewReader(form))
	l.must(err)
	if form != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return l.send(req)
}

// status4xx checks that the request was rejected.
func (a reply) status4xx() {
	a.l.Helper()
	if a.status/100 != 4 {
		a.l.Errorf("%s: status %d, want a refusal", a.request, a.status)
	}
}

func TestLinks(t *testing.T) {
	const mail = `{"email":"ada@example.org","sender":{"email":"shop@example.com"},"content":{"subject":"S",
		"html":"<a href='{{unsubscribe_url}}'>list</a> <a href='{{global_unsubscribe_url}}'>all</a>"}%s}`
	t.Run("unsubscribe from the list", inLab(func(l *lab) {
		proves(l, "decision/37/links", "decision/37/followed")
		l.listen(leavers...)
		list := l.list()
		contact := l.contact(list, ada)
		l.post("/v2/emails", f(mail, "")).ok()
		links := l.lastMessage().Links()
		l.visit(http.MethodGet, links[0], "").ok()
		want(l, "status", l.status(list, contact), "unsubscribed")
		l.fires("Email.Unsubscribed", "Contact.Unsubscribed", "Contact.Removed")
		l.visit(http.MethodGet, links[1], "").ok()
		want(l, "suppressed", l.isSuppressed(ada), true)
		l.fires("Email.GlobalUnsubscribed", "SuppressedEmail.Added")
	}))
	t.Run("an attribute of the name", inLab(func(l *lab) {
		proves(l, "decision/37/links")
		l.post("/v2/emails", f(mail, `,"custom_attributes":{"global_unsubscribe_url":"https://shop.example/bye"}`)).ok()
		want(l, "links", strings.Join(l.lastMessage().Links(), " "), "https://shop.example/bye") // and no list
	}))
	t.Run("confirm", inLab(func(l *lab) {
		proves(l, "decision/37/confirm-link")
		l.listen("Contact.Added")
		list := l.list()
		contact := l.post(f("/lists/%d/contacts?send_double_opt_in=true", list), f(`{"email":%q}`, ada)).int("id")
		m := l.lastMessage()
		l.visit(http.MethodGet, m.Links()[0], "").ok()
		want(l, "status", l.status(list, contact), "active")
		l.fires("Contact.Added")
		want(l, "the link is in the text", strings.Contains(m.Text, m.Links()[0]), true)
	}))
	for name, send := range map[string]func(*lab) sent{
		"campaign": (*lab).sendByCampaign, "workflow": (*lab).sendByWorkflow,
		"email API": (*lab).sendByEmailAPI, "transactional": (*lab).sendByTransactional,
	} {
		t.Run("the header fields of a message by "+name, inLab(func(l *lab) {
			proves(l, "decision/37/header")
			send(l)
			var got []string
			for _, h := range l.lastMessage().Headers {
				if strings.HasPrefix(h.Name, "List-") {
					got = append(got, h.Name)
				}
			}
			wanted := "List-Unsubscribe List-Unsubscribe-Post"
			if name == "transactional" {
				wanted = ""
			}
			want(l, "header fields", strings.Join(got, " "), wanted)
		}))
	}
	t.Run("no header fields of a confirmation email", inLab(func(l *lab) {
		proves(l, "decision/37/header")
		l.post(f("/lists/%d/contacts?send_double_opt_in=true", l.list()), f(`{"email":%q}`, ada)).ok()
		for _, h := range l.lastMessage().Headers {
			want(l, "a header of lists", strings.HasPrefix(h.Name, "List-"), false)
		}
	}))
}
