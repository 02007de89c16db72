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
	t.Run("what is missing", inLab(func(l *lab) {
		proves(l, "endpoints/emails/submit", "resources/email/content.subject")
		for member, body := range map[string]string{
			"body.email":           f(`{"sender":%s,"content":%s}`, shop, greeting),
			"body.sender":          f(`{"email":%q,"content":%s}`, ada, greeting),
			"body.content":         f(`{"email":%q,"sender":%s}`, ada, shop),
			"body.sender.email":    f(`{"email":%q,"sender":{},"content":%s}`, ada, greeting),
			"body.content.subject": f(`{"email":%q,"sender":%s,"content":{"text":"x"}}`, ada, shop),
		} {
			l.post("/v2/emails", body).problem(422, "missing", member)
		}
		l.submit("x", "").problem(422, "value_error", "body.email")
		l.post("/v2/emails", f(`{"email":%q,"sender":{"email":"x"},"content":%s}`, ada, greeting)).
			problem(422, "value_error", "body.sender.email")
		l.submit(ada, `,"custom_attributes":{"name":7}`).problem(422, "value_error", "body.custom_attributes.name")
		want(l, "recipients", l.recipients(), "")
	}))
	t.Run("to a list", inLab(func(l *lab) {
		proves(l, "decision/22/list_id")
		list := l.list()
		contact := l.contact(list, ada)
		id := l.submitTo(list, ada)
		l.lookUp(id, f(`{"list_id":%d,"contact_id":%d,"…":0}`, list, contact))
		l.submit(ada, `,"list_id":999999`).problem(404, "not_found", "body.list_id")
	}))
	t.Run("the status", inLab(func(l *lab) {
		proves(l, "decision/22/status", "decision/22/refusal")
		l.post("/suppressed-emails", `{"email":"no@example.org"}`).ok()
		l.submit(ada, "").is(201, `{"id":"<string>","email":"ada@example.org","status":"queued"}`)
		l.submit("no@example.org", "").is(201, `{"id":"<string>","email":"no@example.org","status":"rejected"}`)
		l.submit("error@mock.test", "").is(201, `{"id":"<string>","email":"error@mock.test","status":"error"}`)
	}))
}

func TestSubmissionContent(t *testing.T) {
	submit := func(l *lab, content string) reply {
		return l.post("/v2/emails", f(`{"email":%q,"sender":%s,"content":{"subject":"S"%s}}`, ada, shop, content))
	}
	t.Run("inline", inLab(func(l *lab) {
		proves(l, "decision/22/inline")
		submit(l, `,"html":"<p>H</p>","text":"T"`).ok()
		m := l.lastMessage()
		want(l, "the message", m.Subject+"|"+m.HTML+"|"+m.Text, "S|<p>H</p>|T")
		for content, loc := range map[string]string{
			``:                            "body.content",
			`,"html":""`:                  "body.content",
			`,"template_id":1,"html":"H"`: "body.content.template_id",
		} {
			submit(l, content).problem(422, "value_error", loc)
		}
	}))
	t.Run("a template", inLab(func(l *lab) {
		proves(l, "resources/email/content.template_id", "decision/7/404-account")
		submit(l, `,"template_id":999999`).problem(404, "not_found", "body.content.template_id")
		foreign := l.as(stranger).post("/templates", design).int("template_id")
		submit(l, f(`,"template_id":%d`, foreign)).problem(404, "not_found", "body.content.template_id")
	}))
	t.Run("its type", inLab(func(l *lab) {
		proves(l, "decision/22/type", "resources/email/content.type")
		for given, kind := range map[string]string{
			``:                        "marketing",
			`,"type":"marketing"`:     "marketing",
			`,"type":"transactional"`: "transactional",
		} {
			l.lookUp(submit(l, `,"text":"T"`+given).text("id"), f(`{"type":%q,"…":0}`, kind))
		}
		submit(l, `,"text":"T","type":"spam"`).problem(422, "value_error", "body.content.type")
	}))
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
		l.post("/suppressed-emails", `{"email":"*@example.org"}`).ok()
		for i, reason := range []string{"unsubscribed", "deleted", "pending"} {
			list := l.list()
			email := f("c%d@example.org", i)
			l.member(list, email, reason)
			l.submitTo(list, email)
			l.data(l.fires("Email.Rejected")[0], f(`{"reason":%q,"…":0}`, reason))
		}
	}))
	t.Run("who complained is suppressed too", inLab(func(l *lab) {
		proves(l, "decision/24/order")
		l.listen("Email.Rejected")
		s := l.sendByCampaign()
		l.complain(s.id)
		l.submitTo(s.list, ada)
		l.data(l.fires("Email.Rejected")[0], `{"reason":"spam","…":0}`)
	}))
	t.Run("transactional is never refused as unsubscribed", inLab(func(l *lab) {
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
		transactional(l.list()).is(201, `{"status":"rejected","…":0}`)
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
		proves(l, "decision/23/list_id")
		a, b := l.list(), l.list()
		onA := l.contact(a, ada)
		l.contact(b, ada)
		l.lookUp(l.submitTo(a, "ADA@example.org"), f(`{"list_id":%d,"contact_id":%d,"…":0}`, a, onA))
	}))
	t.Run("without, the one added last", inLab(func(l *lab) {
		proves(l, "decision/23/last-added")
		a, b := l.list(), l.list()
		l.contact(b, ada)
		onA := l.contact(a, ada)
		l.lookUp(l.submit(ada, "").text("id"), f(`{"list_id":%d,"contact_id":%d,"…":0}`, a, onA))
		onB := l.contact(l.list(), ada)
		l.lookUp(l.submit(ada, "").text("id"), f(`{"contact_id":%d,"…":0}`, onB))
		l.delete(f("/lists/%d/contacts/%d", a, onA)).ok()
		l.contact(a, ada) // added again
		l.lookUp(l.submit(ada, "").text("id"), f(`{"contact_id":%d,"…":0}`, onA))
	}))
	t.Run("else none", inLab(func(l *lab) {
		proves(l, "decision/23/none")
		l.as(stranger).contact(l.as(stranger).list(), ada)
		l.submit(ada, "").ok()
		want(l, "the contact", l.lastMessage().ContactID, 0)
		l.contact(l.list(), ada)
		l.submitTo(l.list(), ada)
		want(l, "the contact on another list", l.lastMessage().ContactID, 0)
	}))
	t.Run("on a list that may not be sent to", inLab(func(l *lab) {
		proves(l, "decision/23/closed-list")
		contact := l.contact(l.closedList(), ada)
		l.submit(ada, "").is(201, `{"status":"queued","…":0}`)
		want(l, "the contact", l.lastMessage().ContactID, contact)
	}))
}

func TestMergeTags(t *testing.T) {
	const mark = `<b>"&'`
	for _, row := range []struct{ name, piece, subject, html, text, want string }{
		{
			name: "in every part", piece: "service/merge-tags",
			subject: "{{name}}", html: "<p>{{name}}</p>", text: "{{name}}",
			want: "Ada|<p>Ada</p>|Ada",
		},
		{
			name: "the request's value wins", piece: "decision/25/values",
			subject: "{{city}}", text: "{{city}}",
			want: "Paris||Paris",
		},
		{name: "unknown is empty", piece: "decision/25/unknown", subject: "a{{x}}b", text: "a{{x}}{{y}}b", want: "ab||ab"},
		{
			name: "escaped in HTML alone", piece: "decision/25/escaping",
			subject: "{{mark}}", html: "<p title=\"{{mark}}\">{{mark}}</p>", text: "{{mark}}",
			want: mark + `|<p title="&lt;b&gt;&#34;&amp;&#39;">&lt;b&gt;&#34;&amp;&#39;</p>|` + mark,
		},
		{name: "with spaces", piece: "service/merge-tags", subject: "{{ name }}", text: "{{  name}}", want: "Ada||Ada"},
		{
			name: "values are not merged again", piece: "decision/25/values",
			subject: "{{tag}}", text: "{{tag}}",
			want: "{{name}}||{{name}}",
		},
		{
			name: "what is no tag stays", piece: "service/merge-tags",
			subject: "{{name", text: "{name} }} {{name",
			want: "{{name||{name} }} {{name",
		},
	} {
		t.Run(row.name, inLab(func(l *lab) {
			proves(l, row.piece, "resources/email/custom_attributes")
			list := l.list()
			l.post(f("/lists/%d/contacts", list), f(`{"email":%q,"custom_attributes":[
				{"name":"name","value":"Ada"},{"name":"city","value":"London"}]}`, ada)).ok()
			l.post("/v2/emails", f(`{"email":%q,"sender":%s,"list_id":%d,
				"content":{"subject":%s,"html":%s,"text":%s},
				"custom_attributes":{"city":"Paris","mark":%s,"tag":"{{name}}"}}`,
				ada, shop, list, quoted(row.subject), quoted(row.html), quoted(row.text), quoted(mark))).ok()
			m := l.lastMessage()
			want(l, "the message", m.Subject+"|"+m.HTML+"|"+m.Text, row.want)
		}))
	}
}

func TestLookup(t *testing.T) {
	t.Run("look up", inLab(func(l *lab) {
		proves(l, "endpoints/emails/lookup", "versioning/v2", "decision/26/fields", "decision/26/what-happened")
		list := l.list()
		contact := l.contact(list, ada)
		template := l.post("/templates", design).int("template_id")
		id := l.post("/v2/emails", f(`{"email":%q,"sender":%s,"list_id":%d,
			"content":{"subject":"Hi {{name}}","template_id":%d},"custom_attributes":{"name":"Ada"}}`,
			ada, shop, list, template)).text("id")
		l.lookUp(id, f(`{"id":%q,"email":"ada@example.org","status":"delivered","type":"marketing","sender":%s,
			"subject":"Hi Ada","template_id":%d,"list_id":%d,"contact_id":%d,
			"submitted_on":"<unix>","delivered_on":"<unix>","opens":0,"clicks":0,
			"unsubscribed":false,"global_unsubscribed":false,"reported_as_spam":false}`,
			id, shop, template, list, contact))
		l.open(id)
		l.open(id)
		l.click(id, "https://shop.example/")
		l.unsubscribe(id)
		l.globalUnsubscribe(id)
		l.complain(id)
		l.lookUp(id, `{"opens":2,"clicks":1,"unsubscribed":true,"global_unsubscribed":true,"reported_as_spam":true,"…":0}`)
	}))
	t.Run("a reason or an error", inLab(func(l *lab) {
		proves(l, "decision/26/reason-error")
		l.post("/suppressed-emails", f(`{"email":%q}`, ada)).ok()
		l.lookUp(l.submit(ada, "").text("id"), `{"status":"rejected","reason":"suppressed","…":0}`)
		l.lookUp(l.submit("error@mock.test", "").text("id"), `{"status":"error","error":"<string>","…":0}`)
	}))
	t.Run("what was not submitted to the Email API", inLab(func(l *lab) {
		proves(l, "versioning/v2")
		s := l.sendByTransactional()
		l.get("/v2/emails/"+s.id).problem(404, "not_found", "path.email_id")
	}))
}

func TestLookupLimit(t *testing.T) {
	t.Run("one a second", inLab(func(l *lab) {
		proves(l, "endpoints/emails/lookup-limit", "limits/lookup", "errors/lookup-rate", "decision/27/window",
			"decision/27/429", "decision/7/429")
		path := "/v2/emails/" + l.submit(ada, "").text("id")
		l.get(path).is(200, `{"…":0}`)
		for _, wait := range []time.Duration{0, 999 * time.Millisecond} {
			time.Sleep(wait)
			res := l.get(path).problem(429, "rate_limited", "path.email_id")
			want(l, "Retry-After", res.header.Get("Retry-After"), "1")
		}
		time.Sleep(time.Millisecond)
		l.get(path).is(200, `{"…":0}`)
	}))
	t.Run("a refused lookup does not count", inLab(func(l *lab) {
		proves(l, "decision/27/refused")
		path := "/v2/emails/" + l.submit(ada, "").text("id")
		l.get(path).is(200, `{"…":0}`)
		for range 9 {
			time.Sleep(100 * time.Millisecond)
			l.get(path).problem(429, "rate_limited", "path.email_id")
		}
		time.Sleep(100 * time.Millisecond)
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
		for range 3 { // other requests are not limited
			l.get("/lists").is(200, `{"…":0}`)
		}
	}))
}

func TestLegacyEmails(t *testing.T) {
	t.Run("send", inLab(func(l *lab) {
		proves(l, "service/legacy-emails", "decision/28/body", "decision/28/answer", "versioning/legacy")
		res := l.post("/emails", f(`{"email":%q,"sender":%s,"content":%s,"custom_attributes":{"name":"Ada"},
			"additional_headers":[{"name":"X-Order","value":"7"}]}`, ada, shop, greeting)).is(201, `{"id":"<string>"}`)
		want(l, "Deprecation is there", res.header.Get("Deprecation") != "", true)
		m := l.lastMessage()
		want(l, "the message", strings.Join([]string{m.ID, m.To, m.Subject, m.HTML, m.Text}, "|"),
			res.text("id")+"|ada@example.org|Hello Ada|<p>Hello Ada</p>|Hello Ada")
		order := mockserver.Header{Name: "X-Order", Value: "7"}
		want(l, "the additional header is there", slices.Contains(m.Headers, order), true)
		l.post("/emails", `{}`).problem(422, "missing", "body.email").
			problem(422, "missing", "body.sender").problem(422, "missing", "body.content")
		want(l, "Deprecation of the Email API", l.submit(ada, "").header.Get("Deprecation"), "")
	}))
	t.Run("its events", inLab(func(l *lab) {
		proves(l, "decision/28/shape", "versioning/legacy", "shape/transactional")
		l.listen("Email.Bounced", "Email.ReportedAsSpam", "Email.Unsubscribed", "Email.GlobalUnsubscribed")
		s := l.sendByTransactional()
		l.bounce(s.id, "bounce_sb")
		l.complain(s.id)
		for _, d := range l.fires("Email.Bounced", "Email.ReportedAsSpam") {
			l.data(d, s.fill(`{"transactional_email":{"id":"$id","…":0},"contact":{"email":"ada@example.org"},"…":0}`))
		}
	}))
}
