package conformance_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/emailplatform/mockserver"
)

func TestSubmission(t *testing.T) {
	t.Run("submit", inLab(func(l *lab) {
		proves(l, "service/email-api", "endpoints/emails/submit", "resources/email/id", "resources/email/email",
			"resources/email/sender", "resources/email/content.subject", "decision/22/answer", "versioning/v2", "decision/2/created", "decision/3/id-names")
		template := l.post("/templates", design).int("template_id")
		id := l.post("/v2/emails", f(`{"email":%q,"sender":{"name":"Shop","email":"hello@shop.example"},
			"content":{"subject":"Your order","template_id":%d,"type":"transactional"},
			"custom_attributes":{"name":"Ada"}}`, ada, template)).
			is(201, `{"id":"<string>","email":"ada@example.org","status":"queued"}`).text("id")
		m := l.lastMessage()
		want(l, "the message", strings.Join([]string{m.ID, m.To, m.FromName, m.FromEmail, m.Subject, m.Text}, "|"),
			id+"|ada@example.org|Shop|hello@shop.example|Your order|Hi Ada")
		from := mockserver.Header{Name: "From", Value: `"Shop" <hello@shop.example>`}
		want(l, "From is in the headers", slices.Contains(m.Headers, from), true)
	}))
	t.Run("invalid", inLab(func(l *lab) {
		proves(l, "endpoints/emails/submit", "resources/email/content.subject")
		l.post("/v2/emails", `{"sender":{},"content":{}}`).problem(422, "missing", "body.email").
			problem(422, "missing", "body.sender.email").problem(422, "missing", "body.content.subject")
		l.post("/v2/emails", f(`{"email":%q}`, ada)).problem(422, "missing", "body.sender").problem(422, "missing", "body.content")
		l.submit("x", "").problem(422, "value_error", "body.email")
		l.post("/v2/emails", f(`{"email":%q,"sender":{"email":"x"},"content":%s}`, ada, greeting)).
			problem(422, "value_error", "body.sender.email")
		l.submit(ada, `,"custom_attributes":{"name":7}`).problem(422, "value_error", "body.custom_attributes.name")
		want(l, "recipients", l.recipients(), "")
	}))
}

func TestSubmissionContent(t *testing.T) {
	inLab(func(l *lab) {
		proves(l, "decision/22/inline", "resources/email/content.template_id", "decision/7/404-account", "decision/22/type", "resources/email/content.type")
		submit := func(content string) reply {
			return l.post("/v2/emails", f(`{"email":%q,"sender":%s,"content":{"subject":"S"%s}}`, ada, shop, content))
		}
		submit(`,"html":"<p>H</p>","text":"T"`).ok()
		m := l.lastMessage()
		want(l, "the message", m.Subject+"|"+m.HTML+"|"+m.Text, "S|<p>H</p>|T")
		for content, loc := range map[string]string{
			``:                            "body.content",
			`,"html":""`:                  "body.content",
			`,"template_id":1,"html":"H"`: "body.content.template_id",
			`,"text":"T","type":"spam"`:   "body.content.type",
		} {
			submit(content).problem(422, "value_error", loc)
		}
		foreign := l.as(stranger).post("/templates", design).int("template_id")
		for _, unknown := range []int64{999999, foreign} {
			submit(f(`,"template_id":%d`, unknown)).problem(404, "not_found", "body.content.template_id")
		}
		for given, kind := range map[string]string{
			``: "marketing", `,"type":"marketing"`: "marketing", `,"type":"transactional"`: "transactional",
		} {
			l.lookUp(submit(`,"text":"T"`+given).text("id"), f(`{"type":%q,"…":0}`, kind))
		}
	})(t)
}

func TestRejected(t *testing.T) {
	for _, reason := range []string{"bounced", "unsubscribed", "pending", "spam", "deleted", "suppressed"} {
		t.Run("a contact that is "+reason, inLab(func(l *lab) {
			proves(l, "rejected/reason/"+reason, "rejected/email-api-only", "rejected/contact-list",
				"rejected/event_time", "rejected/email.id", "errors/refused", "states/email/refused",
				"states/email/refused/fires", "events/Email.Rejected", "resources/contact/status-in-rejections")
			list := l.list()
			contact := l.member(list, ada, reason)
			l.listen("Email.Rejected")
			before := l.recipients()
			id := l.submit("ADA@example.org", f(`,"list_id":%d`, list)).is(201, `{"status":"rejected","…":0}`).text("id")
			want(l, "recipients", l.recipients(), before)
			l.lookUp(id, f(`{"status":"rejected","reason":%q,"…":0}`, reason))
			status := reason
			if reason == "suppressed" {
				status = "active"
			}
			l.data(l.fires("Email.Rejected")[0], f(`{"reason":%q,"event_time":"<unix>","email":{"id":%q},
				"list":{"id":%d,"name":"News"},"contact":{"id":%d,"email":"ada@example.org","status":%q,
				"subscribed_on":"<unix>","custom_attributes":[],"tags":[],"interests":[]}}`,
				reason, id, list, contact, status))
		}))
	}
	t.Run("an address on no list, by the user who submitted", inLab(func(l *lab) {
		proves(l, "rejected/contact-list", "rejected/reason/suppressed", "rejected/user", "envelope/user",
			"envelope/account_id")
		l.listen("Email.Rejected")
		l.post("/suppressed-emails", f(`{"email":%q}`, ada)).ok()
		id := l.as(colleague).submit(ada, "").text("id")
		l.envelope(l.fires("Email.Rejected")[0], f(`{"id":"<uuid>","event":"Email.Rejected","account_id":1204,
			"account_lineage":null,"ip":"<string>","created_on":"<unix>",
			"user":{"id":32,"email":"dev@shop.example","account_id":1204},
			"data":{"reason":"suppressed","event_time":"<unix>","email":{"id":%q}}}`, id))
	}))
	t.Run("only for the Email API", inLab(func(l *lab) {
		proves(l, "rejected/email-api-only", "decision/28/refuses-nobody")
		l.listen("Email.Rejected")
		list := l.list()
		l.member(list, ada, "unsubscribed")
		l.contact(list, "bob@example.org")
		l.post("/suppressed-emails", `{"email":"bob@example.org"}`).ok()
		l.post(f("/campaigns/%d/schedule", l.campaign(list)), "").ok()
		for _, email := range []string{ada, "bob@example.org"} {
			l.post("/emails", submission(email, "")).is(201, `{"id":"<string>"}`)
		}
		want(l, "recipients", l.recipients(), "ada@example.org bob@example.org")
		l.fires()
	}))
}

func TestRejectionReason(t *testing.T) {
	t.Run("the contact's status comes before the suppression list", inLab(func(l *lab) {
		proves(l, "decision/24/order")
		l.listen("Email.Rejected")
		for i, reason := range []string{"unsubscribed", "deleted", "pending", "spam"} {
			list := l.list()
			email := f("c%d@example.org", i)
			l.member(list, email, reason)
			l.post("/suppressed-emails", f(`{"email":%q}`, email)).ok()
			l.submitTo(list, email)
			l.data(l.fires("Email.Rejected")[0], f(`{"reason":%q,"…":0}`, reason))
		}
	}))
	t.Run("a transactional email is never rejected as unsubscribed", inLab(func(l *lab) {
		proves(l, "states/email/transactional", "decision/24/transactional", "decision/23/list_id")
		transactional := func(list int64) reply {
			return l.post("/v2/emails", f(`{"email":%q,"sender":%s,"list_id":%d,
				"content":{"subject":"S","text":"T","type":"transactional"}}`, ada, shop, list))
		}
		for status, became := range map[string]string{
			"unsubscribed": "queued", "active": "queued",
			"bounced": "rejected", "pending": "rejected", "spam": "rejected", "deleted": "rejected",
		} {
			list := l.list()
			l.member(list, ada, status)
			transactional(list).is(201, f(`{"status":%q,"…":0}`, became))
			transactional(l.list()).is(201, `{"status":"queued","…":0}`) // a list without this contact
		}
		list := l.list()
		l.member(list, ada, "unsubscribed")
		l.post("/suppressed-emails", f(`{"email":%q}`, ada)).ok()
		id := transactional(list).is(201, `{"status":"rejected","…":0}`).text("id")
		l.lookUp(id, `{"reason":"suppressed","…":0}`)
	}))
}

func TestInternalError(t *testing.T) {
	inLab(func(l *lab) {
		proves(l, "states/email/error", "states/email/error/fires", "error/fires", "error/not-sent", "error/data",
			"error/user", "errors/internal", "events/Email.Error")
		l.listen()
		id := l.submit("error@mock.test", "").is(201, `{"status":"error","…":0}`).text("id")
		want(l, "recipients", l.recipients(), "")
		d := l.fires("Email.Error")[0]
		l.envelope(d, `{"user":`+ownerUser+`,"…":0}`)
		l.data(d, f(`{"error":"<string>","event_time":"<unix>","email":{"id":%q}}`, id))
		text := d.body["data"].(map[string]any)["error"].(string)
		want(l, text, strings.HasPrefix(text, "internal error;"), true)
		l.lookUp(id, f(`{"status":"error","error":%q,"…":0}`, text))
	})(t)
}

func TestContactOfSubmission(t *testing.T) {
	t.Run("with a list", inLab(func(l *lab) {
		proves(l, "decision/22/list_id", "decision/23/list_id", "decision/23/none")
		a, b := l.list(), l.list()
		onA := l.contact(a, ada)
		l.contact(b, ada)
		l.lookUp(l.submitTo(a, "ADA@example.org"), f(`{"list_id":%d,"contact_id":%d,"…":0}`, a, onA))
		l.submit(ada, `,"list_id":999999`).problem(404, "not_found", "body.list_id")
		l.submitTo(l.list(), ada)
		want(l, "the contact on another list", l.lastMessage().ContactID, 0)
	}))
	t.Run("without a list", inLab(func(l *lab) {
		proves(l, "decision/23/last-added", "decision/23/none", "decision/23/closed-list")
		contact := func() int64 {
			l.submit(ada, "").is(201, `{"status":"queued","…":0}`)
			return l.lastMessage().ContactID
		}
		l.as(stranger).contact(l.as(stranger).list(), ada)
		want(l, "the contact of another account", contact(), 0)
		a, b := l.list(), l.list()
		l.contact(b, ada)
		onA := l.contact(a, ada)
		want(l, "the contact that was added last", contact(), onA)
		onC := l.contact(l.closedList(), ada)
		want(l, "a contact on a list without an accepted policy", contact(), onC)
		l.delete(f("/lists/%d/contacts/%d", a, onA)).ok()
		l.contact(a, ada)
		want(l, "the contact that was added again", contact(), onA)
	}))
}

func TestMergeTags(t *testing.T) {
	inLab(func(l *lab) {
		proves(l, "service/merge-tags", "decision/25/values", "decision/25/unknown", "decision/25/escaping", "resources/email/custom_attributes")
		list := l.list()
		l.post(f("/lists/%d/contacts", list), f(`{"email":%q,"custom_attributes":[
			{"name":"name","value":"Ada"},{"name":"city","value":"London"}]}`, ada)).ok()
		const tags = "{{name}} {{ city }} {{unknown}}{{tag}} {{mark}} {{name"
		l.post("/v2/emails", f(`{"email":%q,"sender":%s,"list_id":%d,"content":{"subject":%q,"html":%q,"text":%q},
			"custom_attributes":{"city":"Paris","mark":"<b>\"&'","tag":"{{name}}"}}`, ada, shop, list, tags, "<p>"+tags, tags)).ok()
		m := l.lastMessage()
		const merged = `Ada Paris {{name}} <b>"&' {{name`
		want(l, "the message", m.Subject+"|"+m.HTML+"|"+m.Text,
			merged+"|<p>Ada Paris {{name}} &lt;b&gt;&#34;&amp;&#39; {{name|"+merged)
	})(t)
}

func TestLookup(t *testing.T) {
	t.Run("fields", inLab(func(l *lab) {
		proves(l, "endpoints/emails/lookup", "versioning/v2", "decision/26/fields", "decision/26/what-happened")
		template := l.post("/templates", design).int("template_id")
		s := sent{list: l.list()}
		s.contact = l.contact(s.list, ada)
		s.id = l.post("/v2/emails", f(`{"email":%q,"sender":%s,"list_id":%d,
			"content":{"subject":"Hi {{name}}","template_id":%d},"custom_attributes":{"name":"Ada"}}`,
			ada, shop, s.list, template)).text("id")
		l.lookUp(s.id, s.fill(f(`{"id":"$id","email":"ada@example.org","status":"delivered","type":"marketing","sender":%s,
			"subject":"Hi Ada","template_id":%d,"list_id":$list,"contact_id":$contact,
			"submitted_on":"<unix>","delivered_on":"<unix>","opens":0,"clicks":0,
			"unsubscribed":false,"global_unsubscribed":false,"reported_as_spam":false}`, shop, template)))
		l.open(s.id)
		l.open(s.id)
		l.click(s.id, "https://shop.example/")
		l.unsubscribe(s.id)
		l.globalUnsubscribe(s.id)
		l.complain(s.id)
		l.lookUp(s.id, `{"opens":2,"clicks":1,"unsubscribed":true,"global_unsubscribed":true,"reported_as_spam":true,"…":0}`)
		transactional := l.sendByTransactional()
		time.Sleep(time.Second)
		l.get("/v2/emails/"+transactional.id).problem(404, "not_found", "path.email_id")
	}))
	t.Run("a reason or an error", inLab(func(l *lab) {
		proves(l, "decision/26/reason-error", "decision/22/status", "decision/22/refusal")
		l.post("/suppressed-emails", f(`{"email":%q}`, ada)).ok()
		for email, shown := range map[string]string{
			"bob@example.org": `"status":"delivered"`,
			ada:               `"status":"rejected","reason":"suppressed"`,
			"error@mock.test": `"status":"error","error":"<string>"`,
		} {
			status := strings.Replace(strings.Split(shown, ",")[0], "delivered", "queued", 1)
			id := l.submit(email, "").is(201, f(`{"id":"<string>","email":%q,%s}`, email, status)).text("id")
			l.lookUp(id, `{`+shown+`,"…":0}`)
		}
	}))
}

func TestLookupLimit(t *testing.T) {
	t.Run("one per second, not counting rejected lookups", inLab(func(l *lab) {
		proves(l, "endpoints/emails/lookup-limit", "limits/lookup", "errors/lookup-rate", "decision/27/window",
			"decision/27/429", "decision/7/429", "decision/27/refused")
		path := "/v2/emails/" + l.submit(ada, "").text("id")
		l.get(path).is(200, `{"…":0}`)
		for _, wait := range []time.Duration{0, 500 * time.Millisecond, 499 * time.Millisecond} {
			time.Sleep(wait)
			res := l.get(path).problem(429, "rate_limited", "path.email_id")
			want(l, "Retry-After", res.header.Get("Retry-After"), "1")
		}
		time.Sleep(time.Millisecond)
		l.get(path).is(200, `{"…":0}`)
	}))
	t.Run("per user and account", inLab(func(l *lab) {
		proves(l, "endpoints/emails/lookup-limit", "limits/lookup", "decision/27/window")
		path := "/v2/emails/" + l.submit(ada, "").text("id")
		l.get(path).is(200, `{"…":0}`)
		l.as(colleague).get(path).is(200, `{"…":0}`)
		another := l.submit("bob@example.org", "").text("id")
		l.get("/v2/emails/"+another).problem(429, "rate_limited", "path.email_id")
		l.as(sameOwner).get(path).problem(429, "rate_limited", "path.email_id")
		other := l.as(stranger)
		other.get("/v2/emails/"+other.submit(ada, "").text("id")).is(200, `{"…":0}`)
		l.get("/lists").is(200, `{"…":0}`) // other requests are not limited
	}))
}

func TestLegacyEmails(t *testing.T) {
	inLab(func(l *lab) {
		proves(l, "service/legacy-emails", "decision/28/body", "decision/28/answer", "versioning/legacy", "decision/28/shape", "shape/transactional")
		l.listen("Email.Bounced", "Email.ReportedAsSpam", "Email.Unsubscribed", "Email.GlobalUnsubscribed")
		res := l.post("/emails", f(`{"email":%q,"sender":%s,"content":%s,"custom_attributes":{"name":"Ada"},
			"additional_headers":[{"name":"X-Order","value":"7"}]}`, ada, shop, greeting)).is(201, `{"id":"<string>"}`)
		want(l, "Deprecation is there", res.header.Get("Deprecation") != "", true)
		m := l.lastMessage()
		want(l, "the message", strings.Join([]string{m.ID, m.To, m.Subject, m.HTML, m.Text}, "|"),
			res.text("id")+"|ada@example.org|Hello Ada|<p>Hello Ada</p>|Hello Ada")
		order := mockserver.Header{Name: "X-Order", Value: "7"}
		want(l, "the additional header is there", slices.Contains(m.Headers, order), true)
		l.bounce(m.ID, "bounce_sb")
		l.complain(m.ID)
		for _, d := range l.fires("Email.Bounced", "Email.ReportedAsSpam") {
			l.data(d, f(`{"transactional_email":{"id":%q,"…":0},"contact":{"email":"ada@example.org"},"…":0}`, m.ID))
		}
		l.post("/emails", `{}`).problem(422, "missing", "body.email").
			problem(422, "missing", "body.sender").problem(422, "missing", "body.content")
		want(l, "Deprecation of the Email API", l.submit("bob@example.org", "").header.Get("Deprecation"), "")
	})(t)
}
