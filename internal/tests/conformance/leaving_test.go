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

func TestUnsubscribeByEmailAPI(t *testing.T) {
	t.Run("from the list", inLab(func(l *lab) {
		proves(l, "states/contact/list-unsubscribe", "states/contact/list-unsubscribe/fires", "removed/list-unsubscribe",
			"events/Email.Unsubscribed", "resources/email/id-in-events", "unsubscribed/email-api-only",
			"unsubscribed/event_time", "unsubscribed/email.id", "unsubscribed/contact", "unsubscribed/contact/status",
			"unsubscribed/list", "unsubscribed/context", "decision/37/one-click", "unsubscribed/link-or-header", "decision/37/stranger")
		l.listen(leavers...)
		s := l.sendByEmailAPI()
		link := l.unsubscribeLink(l.lastMessage())
		l.visit(http.MethodGet, link, "").ok()
		want(l, "status", l.visit(http.MethodPost, link, "List-Unsubscribe=Yes").status, 422)
		l.fires()
		l.visit(http.MethodPost, link, "List-Unsubscribe=One-Click").ok()
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
		if err := l.srv.Unsubscribe(l.submit("stranger@example.org", "").text("id")); err == nil {
			l.Error("an address on no list was unsubscribed from it")
		}
	}))
	t.Run("from all email", inLab(func(l *lab) {
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
	name   string
	by     string // the sendings that have this way to leave
	leave  func(l *lab, s sent)
	byUser bool // a user removes the contact, not the recipient
	status string
	fires  []string // events in addition to Contact.Removed
	pieces []string // additional pieces that the row proves
}{
	{
		name: "through the API", by: "campaign",
		leave: func(l *lab, s sent) {
			l.post(f("/lists/%d/contacts/%d/unsubscribe", s.list, s.contact), "").is(204, "")
		},
		byUser: true, status: "unsubscribed",
		fires: []string{"Contact.Unsubscribed"},
		pieces: []string{
			"removed/api", "endpoints/contacts/unsubscribe", "decision/2/no-content", "service/contact-operations",
			"states/contact/unsubscribe-endpoint", "states/contact/unsubscribe-endpoint/fires", "decision/32",
		},
	},
	{
		name: "deleted", by: "campaign",
		leave:  func(l *lab, s sent) { l.delete(f("/lists/%d/contacts/%d", s.list, s.contact)) },
		byUser: true, status: "deleted",
		pieces: []string{"removed/delete"},
	},
	{
		name: "by the link", by: "campaign workflow",
		leave:  func(l *lab, s sent) { l.unsubscribe(s.id) },
		status: "unsubscribed",
		fires:  []string{"Contact.Unsubscribed"},
		pieces: []string{
			"removed/link", "states/contact/unsubscribe-link", "states/contact/unsubscribe-link/fires", "unsubscribed/others",
			"decision/32",
		},
	},
	{
		name: "by a global unsubscribe", by: "campaign workflow",
		leave:  func(l *lab, s sent) { l.globalUnsubscribe(s.id) },
		status: "unsubscribed",
		fires:  []string{"Contact.Unsubscribed", "SuppressedEmail.Added"},
		pieces: []string{
			"removed/global-unsubscribe", "states/address/global-unsubscribe/removed", "states/address/suppressed",
			"states/address/suppressed/fires", "global-unsubscribed/email-api-only",
		},
	},
}

func TestRemoved(t *testing.T) {
	for _, row := range removals {
		for _, sending := range sendings {
			if !strings.Contains(row.by, sending.name) {
				continue
			}
			t.Run(row.name+" of "+sending.name, inLab(func(l *lab) {
				proves(l, "events/Contact.Removed", "removed/list", "removed/contact", "removed/context/timestamp")
				proves(l, row.pieces...)
				user, context := noUser, `{"timestamp":"<unix>","ip":"<string>","user_agent":"<string>"}`
				if row.byUser {
					proves(l, "removed/user", "removed/context/otherwise")
					user, context = ownerUser, `{"timestamp":"<unix>","ip":null,"user_agent":null}`
				} else {
					proves(l, "removed/user/themselves", "removed/context/link")
				}
				l.listen(leavers...)
				s := sending.send(l)
				row.leave(l, s)
				want(l, "status", l.status(s.list, s.contact), row.status)
				fired := l.fires(append([]string{"Contact.Removed"}, row.fires...)...)
				l.envelope(fired[0], `{"user":`+user+`,"…":0}`)
				l.data(fired[0], s.fill(`{"list":{"id":$list,"name":"News"},"context":`+context+`,
					"contact":{"id":$contact,"email":"ada@example.org","status":"`+row.status+`","subscribed_on":"<unix>",
						"last_bounce_type":"none","bounces_count":0,"custom_attributes":[]}}`))
				suppressed := slices.Contains(row.fires, "SuppressedEmail.Added")
				if want(l, "suppressed", l.isSuppressed(ada), suppressed); suppressed {
					proves(l, "suppressed/"+sending.name)
					l.data(fired[2], `{"suppressedEmail":{"email":"ada@example.org"}}`)
				}
				row.leave(l, s)
				l.fires()
			}))
		}
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
		want(l, "links", strings.Join(l.lastMessage().Links(), " "), "https://shop.example/bye") // and no list link
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
	t.Run("the header fields", inLab(func(l *lab) {
		proves(l, "decision/37/header")
		const fields = " List-Unsubscribe List-Unsubscribe-Post"
		for _, row := range []struct {
			send   func(*lab) sent
			fields string
		}{
			{(*lab).sendByCampaign, fields},
			{(*lab).sendByEmailAPI, fields},
			{(*lab).sendByTransactional, ""},
			{(*lab).sendByOptIn, ""},
			{(*lab).sendByWorkflow, fields},
		} {
			row.send(l)
			got := ""
			for _, h := range l.lastMessage().Headers {
				if strings.HasPrefix(h.Name, "List-") {
					got += " " + h.Name
				}
			}
			want(l, string(l.lastMessage().SentBy), got, row.fields)
		}
	}))
}
