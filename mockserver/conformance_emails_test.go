package mockserver_test

import (
	"strings"
	"testing"
	"time"
)

func TestConformanceSubmission(t *testing.T) {
	conform(t, []rule{
		{"submit", "service/email-api endpoints/emails/submit resources/email/id resources/email/email resources/email/sender resources/email/content.subject decision/22/answer versioning/v2", func(w *world) {
			template := w.post("/templates", design).int("template_id")
			id := w.post("/v2/emails", f(`{"email":%q,"sender":{"name":"Shop","email":"hello@shop.example"},
				"content":{"subject":"Your order","template_id":%d,"type":"transactional"},"custom_attributes":{"name":"Ada"}}`, ada, template)).
				is(201, `{"id":"<string>","email":"ada@example.org","status":"queued"}`).text("id")
			m := w.lastMessage()
			want(w, "the message", strings.Join([]string{m.ID, m.To, m.FromName, m.FromEmail, m.Subject, m.Text}, "|"),
				id+"|ada@example.org|Shop|hello@shop.example|Your order|Hi Ada")
		}},
		{"what is missing", "endpoints/emails/submit resources/email/content.subject", func(w *world) {
			for member, body := range map[string]string{
				"body.email":           f(`{"sender":%s,"content":%s}`, shop, greeting),
				"body.sender":          f(`{"email":%q,"content":%s}`, ada, greeting),
				"body.content":         f(`{"email":%q,"sender":%s}`, ada, shop),
				"body.sender.email":    f(`{"email":%q,"sender":{},"content":%s}`, ada, greeting),
				"body.content.subject": f(`{"email":%q,"sender":%s,"content":{"text":"x"}}`, ada, shop),
			} {
				w.post("/v2/emails", body).problem(422, "missing", member)
			}
			w.post("/v2/emails", f(`{"email":"x","sender":%s,"content":%s}`, shop, greeting)).problem(422, "value_error", "body.email")
			w.post("/v2/emails", f(`{"email":%q,"sender":{"email":"x"},"content":%s}`, ada, greeting)).problem(422, "value_error", "body.sender.email")
			w.submit(ada, `,"custom_attributes":{"name":7}`).problem(422, "value_error", "body.custom_attributes.name")
			want(w, "recipients", w.recipients(), "")
		}},
		{"to a list", "decision/22/list_id", func(w *world) {
			list := w.list()
			contact := w.contact(list, ada)
			id := w.submitTo(list, ada)
			w.lookUp(id, f(`{"list_id":%d,"contact_id":%d,"…":0}`, list, contact))
			w.submit(ada, `,"list_id":999999`).problem(404, "not_found", "body.list_id")
		}},
		{"inline content", "decision/22/inline", func(w *world) {
			w.post("/v2/emails", f(`{"email":%q,"sender":%s,"content":{"subject":"S","html":"<p>H</p>","text":"T"}}`, ada, shop)).ok()
			m := w.lastMessage()
			want(w, "the message", m.Subject+"|"+m.HTML+"|"+m.Text, "S|<p>H</p>|T")
			w.post("/v2/emails", f(`{"email":%q,"sender":%s,"content":{"subject":"S"}}`, ada, shop)).problem(422, "value_error", "body.content")
		}},
		{"the type", "decision/22/type resources/email/content.type", func(w *world) {
			for given, kind := range map[string]string{``: "marketing", `,"type":"marketing"`: "marketing", `,"type":"transactional"`: "transactional"} {
				body := f(`{"email":%q,"sender":%s,"content":{"subject":"S","text":"T"%s}}`, ada, shop, given)
				w.lookUp(w.post("/v2/emails", body).text("id"), f(`{"type":%q,"…":0}`, kind))
			}
			w.post("/v2/emails", f(`{"email":%q,"sender":%s,"content":{"subject":"S","text":"T","type":"spam"}}`, ada, shop)).
				problem(422, "value_error", "body.content.type")
		}},
		{"the status", "decision/22/status decision/22/refusal", func(w *world) {
			w.post("/suppressed-emails", `{"email":"no@example.org"}`).ok()
			w.submit(ada, "").is(201, `{"id":"<string>","email":"ada@example.org","status":"queued"}`)
			w.submit("no@example.org", "").is(201, `{"id":"<string>","email":"no@example.org","status":"rejected"}`)
			w.submit("error@mock.test", "").is(201, `{"id":"<string>","email":"error@mock.test","status":"error"}`)
		}},
	})
}

func TestConformanceRejected(t *testing.T) {
	var rules []rule
	for _, reason := range []string{"bounced", "unsubscribed", "pending", "spam", "deleted", "suppressed"} {
		covered := "rejected/reason/" + reason + " rejected/email-api-only rejected/contact-list rejected/event_time rejected/email.id " +
			"errors/refused states/email/refused states/email/refused/fires events/Email.Rejected resources/contact/status-in-rejections"
		rules = append(rules, rule{"a contact that is " + reason, covered, func(w *world) {
			list := w.list()
			contact := w.member(list, ada, reason)
			w.listen("Email.Rejected")
			before := w.recipients()
			id := w.submit(ada, f(`,"list_id":%d`, list)).is(201, `{"id":"<string>","email":"ada@example.org","status":"rejected"}`).text("id")
			want(w, "recipients", w.recipients(), before)
			w.lookUp(id, f(`{"status":"rejected","reason":%q,"…":0}`, reason))
			status := reason
			if reason == "suppressed" {
				status = "active"
			}
			w.data(w.fires("Email.Rejected")[0], f(`{"reason":%q,"event_time":"<unix>","email":{"id":%q},"list":{"id":%d,"name":"News"},"contact":{"id":%d,"email":"ada@example.org",
				"status":%q,"subscribed_on":"<unix>","custom_attributes":[],"tags":[],"interests":[]}}`, reason, id, list, contact, status))
		}})
	}
	conform(t, append(rules,
		rule{"an address on no list", "rejected/contact-list rejected/reason/suppressed", func(w *world) {
			w.listen("Email.Rejected")
			w.post("/suppressed-emails", f(`{"email":%q}`, ada)).ok()
			id := w.submit(ada, "").text("id")
			w.data(w.fires("Email.Rejected")[0], f(`{"reason":"suppressed","event_time":"<unix>","email":{"id":%q}}`, id))
		}},
		rule{"the user who submitted", "rejected/user envelope/user envelope/account_id", func(w *world) {
			w.listen("Email.Rejected")
			w.post("/suppressed-emails", f(`{"email":%q}`, ada)).ok()
			w.as(colleague).submit(ada, "").ok()
			w.envelope(w.fires("Email.Rejected")[0], `{"id":"<uuid>","event":"Email.Rejected","account_id":1204,"account_lineage":null,"ip":"<string>",
				"user":{"id":32,"email":"dev@shop.example","account_id":1204},"created_on":"<unix>","data":"<any>"}`)
		}},
		rule{"the contact's status comes before the suppression list", "decision/24/order", func(w *world) {
			w.listen("Email.Rejected")
			w.post("/suppressed-emails", `{"email":"*@example.org"}`).ok()
			for i, reason := range []string{"unsubscribed", "deleted", "pending"} {
				list := w.list()
				email := f("c%d@example.org", i)
				w.member(list, email, reason)
				w.submitTo(list, email)
				w.data(w.fires("Email.Rejected")[0], f(`{"reason":%q,"…":0}`, reason))
			}
		}},
		rule{"who complained is suppressed too", "decision/24/order", func(w *world) {
			w.listen("Email.Rejected")
			s := w.sendByCampaign()
			w.complain(s.id)
			w.submitTo(s.list, ada)
			w.data(w.fires("Email.Rejected")[0], `{"reason":"spam","…":0}`)
		}},
		rule{"transactional is never refused as unsubscribed", "states/email/transactional decision/24/transactional", func(w *world) {
			transactional := func(list int64) reply {
				return w.post("/v2/emails", f(`{"email":%q,"sender":%s,"content":{"subject":"S","text":"T","type":"transactional"},"list_id":%d}`, ada, shop, list))
			}
			for status, became := range map[string]string{
				"unsubscribed": "queued", "active": "queued",
				"bounced": "rejected", "pending": "rejected", "spam": "rejected", "deleted": "rejected",
			} {
				list := w.list()
				w.member(list, ada, status)
				transactional(list).is(201, f(`{"status":%q,"…":0}`, became))
			}
			list := w.list()
			w.member(list, ada, "unsubscribed")
			w.post("/suppressed-emails", f(`{"email":%q}`, ada)).ok()
			id := transactional(list).is(201, `{"status":"rejected","…":0}`).text("id")
			w.lookUp(id, `{"reason":"suppressed","…":0}`)
		}},
		rule{"only for the Email API", "rejected/email-api-only", func(w *world) {
			w.listen("Email.Rejected")
			list := w.list()
			w.member(list, ada, "unsubscribed")
			w.contact(list, "bob@example.org")
			w.post("/suppressed-emails", `{"email":"bob@example.org"}`).ok()
			w.post(f("/campaigns/%d/schedule", w.campaign(list)), "").ok()
			w.post("/emails", submission(ada, "")).is(201, `{"id":"<string>"}`)
			w.fires()
		}},
	))
}

func TestConformanceError(t *testing.T) {
	conform(t, []rule{
		{"an internal error", "states/email/error states/email/error/fires error/fires error/not-sent error/data errors/internal events/Email.Error", func(w *world) {
			w.listen()
			id := w.submit("error@mock.test", "").is(201, `{"status":"error","…":0}`).text("id")
			want(w, "recipients", w.recipients(), "")
			d := w.fires("Email.Error")[0]
			w.data(d, f(`{"error":"<string>","event_time":"<unix>","email":{"id":%q}}`, id))
			text := d.body["data"].(map[string]any)["error"].(string)
			want(w, text, strings.HasPrefix(text, "internal error;"), true)
			w.lookUp(id, f(`{"status":"error","error":%q,"…":0}`, text))
		}},
		{"the user who submitted", "error/user", func(w *world) {
			w.listen("Email.Error")
			w.submit("error@mock.test", "").ok()
			w.envelope(w.fires("Email.Error")[0], `{"user":`+ownerUser+`,"…":0}`)
		}},
	})
}

func TestConformanceWhichContact(t *testing.T) {
	conform(t, []rule{
		{"with a list", "decision/23/list_id", func(w *world) {
			a, b := w.list(), w.list()
			onA := w.contact(a, ada)
			w.contact(b, ada)
			w.lookUp(w.submitTo(a, "ADA@example.org"), f(`{"list_id":%d,"contact_id":%d,"…":0}`, a, onA))
		}},
		{"without, the one added last", "decision/23/last-added", func(w *world) {
			a, b := w.list(), w.list()
			w.contact(b, ada)
			onA := w.contact(a, ada)
			w.lookUp(w.submit(ada, "").text("id"), f(`{"list_id":%d,"contact_id":%d,"…":0}`, a, onA))
			onB := w.contact(w.list(), ada)
			w.lookUp(w.submit(ada, "").text("id"), f(`{"contact_id":%d,"…":0}`, onB))
			w.delete(f("/lists/%d/contacts/%d", a, onA)).ok()
			w.contact(a, ada) // added again
			w.lookUp(w.submit(ada, "").text("id"), f(`{"contact_id":%d,"…":0}`, onA))
		}},
		{"else none", "decision/23/none", func(w *world) {
			w.as(stranger).contact(w.as(stranger).list(), ada)
			id := w.submit(ada, "").text("id")
			time.Sleep(time.Second)
			found := w.get("/v2/emails/" + id).ok().json().(map[string]any)
			want(w, "contact_id", show(found["contact_id"]), "null")
			list := w.list()
			w.lookUp(w.submitTo(list, ada), `{"email":"ada@example.org","status":"delivered","…":0}`)
		}},
	})
}

func TestConformanceMergeTags(t *testing.T) {
	var rules []rule
	for _, test := range []struct{ name, covers, subject, html, text, want string }{
		{"in every part", "service/merge-tags resources/email/custom_attributes", "{{name}}", "<p>{{name}}</p>", "{{name}}", "Ada|<p>Ada</p>|Ada"},
		{"the request's value wins", "decision/25/values resources/email/custom_attributes", "{{city}}", "", "{{city}}", "Paris||Paris"},
		{"unknown is empty", "decision/25/unknown", "a{{x}}b", "", "a{{x}}{{y}}b", "ab||ab"},
		{"escaped in HTML alone", "decision/25/escaping", "{{mark}}", "<p title=\"{{mark}}\">{{mark}}</p>", "{{mark}}", `<b>"&'|<p title="&lt;b&gt;&#34;&amp;&#39;">&lt;b&gt;&#34;&amp;&#39;</p>|<b>"&'`},
		{"with spaces", "service/merge-tags", "{{ name }}", "", "{{  name}}", "Ada||Ada"},
		{"values are not merged again", "decision/25/values", "{{tag}}", "", "{{tag}}", "{{name}}||{{name}}"},
		{"what is no tag stays", "service/merge-tags", "{{name", "", "{name} }} {{name", "{{name||{name} }} {{name"},
	} {
		rules = append(rules, rule{test.name, test.covers, func(w *world) {
			list := w.list()
			w.post(f("/lists/%d/contacts", list), f(`{"email":%q,"custom_attributes":[{"name":"name","value":"Ada"},{"name":"city","value":"London"}]}`, ada)).ok()
			w.post("/v2/emails", f(`{"email":%q,"sender":%s,"list_id":%d,"content":{"subject":%s,"html":%s,"text":%s},
				"custom_attributes":{"city":"Paris","mark":%s,"tag":"{{name}}"}}`, ada, shop, list, quoted(test.subject), quoted(test.html), quoted(test.text), quoted(`<b>"&'`))).ok()
			m := w.lastMessage()
			want(w, "the message", m.Subject+"|"+m.HTML+"|"+m.Text, test.want)
		}})
	}
	conform(t, rules)
}

func TestConformanceLookup(t *testing.T) {
	conform(t, []rule{
		{"look up", "endpoints/emails/lookup versioning/v2 decision/26/fields decision/26/what-happened", func(w *world) {
			list := w.list()
			contact := w.contact(list, ada)
			template := w.post("/templates", design).int("template_id")
			id := w.post("/v2/emails", f(`{"email":%q,"sender":%s,"list_id":%d,"content":{"subject":"Hi {{name}}","template_id":%d},"custom_attributes":{"name":"Ada"}}`, ada, shop, list, template)).text("id")
			w.lookUp(id, f(`{"id":%q,"email":"ada@example.org","status":"delivered","type":"marketing","sender":%s,"subject":"Hi Ada","template_id":%d,"list_id":%d,"contact_id":%d,
				"submitted_on":"<unix>","delivered_on":"<unix>","opens":0,"clicks":0,"unsubscribed":false,"global_unsubscribed":false,"reported_as_spam":false}`, id, shop, template, list, contact))
			w.open(id)
			w.open(id)
			w.click(id, "https://shop.example/")
			w.unsubscribe(id)
			w.globalUnsubscribe(id)
			w.complain(id)
			w.lookUp(id, `{"opens":2,"clicks":1,"unsubscribed":true,"global_unsubscribed":true,"reported_as_spam":true,"…":0}`)
		}},
		{"a reason or an error", "decision/26/reason-error", func(w *world) {
			w.post("/suppressed-emails", f(`{"email":%q}`, ada)).ok()
			w.lookUp(w.submit(ada, "").text("id"), `{"status":"rejected","reason":"suppressed","…":0}`)
			w.lookUp(w.submit("error@mock.test", "").text("id"), `{"status":"error","error":"<string>","…":0}`)
		}},
		{"a bounce", "decision/26/bounce", func(w *world) {
			id := w.submit(ada, "").text("id")
			w.must(w.srv.Bounce(id, "bounce_df", "host not found"))
			w.lookUp(id, `{"status":"bounced","bounce":{"type":"<string>","category":"bounce_df","dsn_message":"host not found","occurred_on":"<unix>"},"…":0}`)
		}},
		{"what was not submitted to the Email API", "versioning/v2", func(w *world) {
			s := w.sendByTransactional()
			w.get("/v2/emails/"+s.id).problem(404, "not_found", "path.email_id")
		}},
		{"one a second", "endpoints/emails/lookup-limit limits/lookup errors/lookup-rate decision/27/window decision/27/429 decision/7/429", func(w *world) {
			path := "/v2/emails/" + w.submit(ada, "").text("id")
			w.get(path).is(200, `{"…":0}`)
			for _, wait := range []time.Duration{0, 999 * time.Millisecond} {
				time.Sleep(wait)
				res := w.get(path).problem(429, "rate_limited", "path.email_id")
				want(w, "Retry-After", res.header.Get("Retry-After"), "1")
			}
			time.Sleep(time.Millisecond)
			w.get(path).is(200, `{"…":0}`)
		}},
		{"a refused lookup does not count", "decision/27/refused", func(w *world) {
			path := "/v2/emails/" + w.submit(ada, "").text("id")
			w.get(path).is(200, `{"…":0}`)
			for range 9 {
				time.Sleep(100 * time.Millisecond)
				w.get(path).problem(429, "rate_limited", "path.email_id")
			}
			time.Sleep(100 * time.Millisecond)
			w.get(path).is(200, `{"…":0}`)
		}},
		{"per user and account", "endpoints/emails/lookup-limit limits/lookup decision/27/window", func(w *world) {
			path := "/v2/emails/" + w.submit(ada, "").text("id")
			w.get(path).is(200, `{"…":0}`)
			w.as(colleague).get(path).is(200, `{"…":0}`)
			w.get("/v2/emails/"+w.submit("bob@example.org", "").text("id")).problem(429, "rate_limited", "path.email_id")
			other := w.as(stranger)
			other.get("/v2/emails/"+other.submit(ada, "").text("id")).is(200, `{"…":0}`)
			for range 3 { // other requests are not limited
				w.get("/lists").is(200, `{"…":0}`)
			}
		}},
	})
}

func TestConformanceLegacyEmails(t *testing.T) {
	conform(t, []rule{
		{"send", "service/legacy-emails decision/28/body decision/28/answer versioning/legacy", func(w *world) {
			res := w.post("/emails", f(`{"email":%q,"sender":%s,"content":%s,"custom_attributes":{"name":"Ada"},
				"additional_headers":[{"name":"X-Order","value":"7"}]}`, ada, shop, greeting)).is(201, `{"id":"<string>"}`)
			want(w, "Deprecation is there", res.header.Get("Deprecation") != "", true)
			m := w.lastMessage()
			want(w, "the message", m.ID+"|"+m.To+"|"+m.Subject+"|"+m.HTML+"|"+m.Text, res.text("id")+"|ada@example.org|Hello Ada|<p>Hello Ada</p>|Hello Ada")
			found := false
			for _, h := range m.Headers {
				found = found || h.Name == "X-Order" && h.Value == "7"
			}
			want(w, "the additional header", found, true)
			w.post("/emails", `{}`).problem(422, "missing", "body.email").problem(422, "missing", "body.sender").problem(422, "missing", "body.content")
		}},
		{"its events", "decision/28/shape versioning/legacy shape/transactional", func(w *world) {
			w.listen("Email.Bounced", "Email.ReportedAsSpam", "Email.Unsubscribed", "Email.GlobalUnsubscribed")
			s := w.sendByTransactional()
			w.bounce(s.id, "bounce_sb")
			w.complain(s.id)
			for _, d := range w.fires("Email.Bounced", "Email.ReportedAsSpam") {
				w.data(d, s.fill(`{"transactional_email":{"id":"$id","…":0},"contact":{"email":"ada@example.org"},"…":0}`))
			}
		}},
		{"the Email API does not know it", "service/legacy-emails", func(w *world) {
			res := w.submit(ada, "").ok()
			want(w, "Deprecation", res.header.Get("Deprecation"), "")
		}},
	})
}
