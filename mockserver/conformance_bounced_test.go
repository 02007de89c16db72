package mockserver_test

import (
	"strings"
	"testing"
)

const (
	nothing     = "<absent>"
	noSegment   = `{"id":null,"name":null,"query":null}`
	noContext   = `{"timestamp":null,"user_agent":null,"ip":null}`
	noList      = `{"id":null,"name":null}`
	listContact = `{"id":$contact,"email":"ada@example.org","status":"bounced","subscribed_on":"<unix>","custom_attributes":[],"tags":[],"interests":[]}`
	legacyEmail = `{"id":"$id","sender":{"name":"Shop","email":"hello@shop.example"},"envelope_from":"<string>","additional_headers":[{"name":"X-Order","value":"7"}]}`
)

// bouncedCells is the table of Email.Bounced: what a key holds for each way of
// sending, in the order of the specification's columns.
var bouncedCells = []struct {
	key   string
	cells [4]string // campaign, workflow, transactional, email API
}{
	{"bounce", [4]string{
		`{"id":null,"dsn_message":"<string>","source_ip":"<string>","category":"bounce_hb"}`,
		`{"id":null,"dsn_message":"<string>","source_ip":"<string>","category":"bounce_hb"}`,
		`{"id":"<integer>","dsn_message":"<string>","source_ip":"<string>","category":"bounce_hb"}`,
		nothing,
	}},
	{"campaign", [4]string{`{"type":"campaign","id":$campaign,"name":"Spring"}`, nothing, nothing, nothing}},
	{"automation", [4]string{nothing, `{"trigger":{"id":"<integer>","name":"Welcome"}}`, nothing, nothing}},
	{"contact", [4]string{
		`{"id":$contact,"email":"ada@example.org","status":null}`,
		`{"id":$contact,"email":"ada@example.org","status":null}`,
		`{"email":"ada@example.org"}`,
		listContact,
	}},
	{"list", [4]string{`{"id":$list,"name":"News"}`, `{"id":$list,"name":null}`, noList, `{"id":$list,"name":"News"}`}},
	{"segment", [4]string{noSegment, noSegment, noSegment, nothing}},
	{"context", [4]string{noContext, noContext, noContext, nothing}},
	{"transactional_email", [4]string{nothing, nothing, legacyEmail, nothing}},
	{"event_time", [4]string{nothing, nothing, nothing, `"<unix>"`}},
	{"email", [4]string{nothing, nothing, `"ada@example.org"`, `{"id":"$id"}`}},
}

func TestConformanceBounced(t *testing.T) {
	var rules []rule
	for column, sending := range sendings {
		lower := strings.ToLower(strings.ReplaceAll(sending.name, " ", "-"))
		for _, row := range bouncedCells {
			rules = append(rules, rule{lower + " " + row.key, "bounced/" + row.key + "/" + lower, func(w *world) {
				w.listen("Email.Bounced")
				s := sending.send(w)
				w.bounce(s.id, "bounce_hb")
				data := w.fires("Email.Bounced")[0].body["data"].(map[string]any)
				value, present := data[row.key]
				if row.cells[column] == nothing {
					want(w, row.key+" is present", present, false)
					return
				}
				for _, m := range mismatches(value, s.fill(row.cells[column])) {
					w.Errorf("%s%s", row.key, m)
				}
			}})
		}
		for _, category := range bounceCategories {
			rules = append(rules, rule{lower + " " + category, "bounced/category/" + category + " shape/" + lower, func(w *world) {
				w.listen("Email.Bounced")
				s := sending.send(w)
				w.bounce(s.id, category)
				data := w.fires("Email.Bounced")[0].body["data"].(map[string]any)
				if lower == "email-api" {
					w.get("/v2/emails/"+s.id).is(200, f(`{"status":"bounced","bounce":{"category":%q,"…":0},"…":0}`, category))
					return
				}
				want(w, "category", data["bounce"].(map[string]any)["category"].(string), category)
			}})
		}
	}
	conform(t, append(rules, otherBounces...))
}

var otherBounces = []rule{
	{"whichever way it was sent", "bounced/every-sending events/Email.Bounced shape/depends-on-sending events/data-varies", func(w *world) {
		w.listen("Email.Bounced")
		shapes := map[string]bool{}
		for _, sending := range sendings {
			w.bounce(sending.send(w).id, "bounce_sb")
			data := w.fires("Email.Bounced")[0].body["data"].(map[string]any)
			for _, key := range []string{"campaign", "automation", "transactional_email", "event_time"} {
				if data[key] != nil {
					shapes[key] = true
				}
			}
		}
		want(w, "shapes", len(shapes), 4)
	}},
	{"the envelope", "events/compliance-envelope envelope/user-null", func(w *world) {
		w.listen("Email.Bounced")
		w.bounce(w.sendByCampaign().id, "bounce_sb")
		w.envelope(w.fires("Email.Bounced")[0], `{"id":"<uuid>","event":"Email.Bounced","account_id":1204,"account_lineage":null,
			"ip":"<string>","user":`+noUser+`,"created_on":"<unix>","data":"<any>"}`)
	}},
	{"the diagnostic", "bounced/dsn_message bounced/source_ip", func(w *world) {
		w.listen("Email.Bounced")
		w.must(w.srv.Bounce(w.sendByCampaign().id, "bounce_mb", "554 5.7.1 go away"))
		bounce := w.fires("Email.Bounced")[0].body["data"].(map[string]any)["bounce"].(map[string]any)
		want(w, "dsn_message", bounce["dsn_message"].(string), "554 5.7.1 go away")
		w.post("/v2/emails", submission(ada, "")).ok()
		for _, m := range mismatches(bounce["source_ip"], `"<string>"`) {
			w.Errorf("source_ip%s", m)
		}
	}},
	{"the automation of a workflow", "bounced/automation/trigger shape/workflow", func(w *world) {
		w.listen("Email.Bounced")
		s := w.sendByWorkflow()
		w.bounce(s.id, "bounce_hb")
		w.data(w.fires("Email.Bounced")[0], `{"automation":{"trigger":{"id":"<integer>","name":"<string>"}},"…":0}`)
	}},
	{"the automation of a double opt-in", "bounced/automation/double-opt-in shape/workflow/double-opt-in decision/13/email", func(w *world) {
		w.listen("Email.Bounced")
		s := w.sendByOptIn()
		w.bounce(s.id, "bounce_hb")
		w.data(w.fires("Email.Bounced")[0], s.fill(`{"bounce":{"id":null,"…":0},"automation":{"workflow":{"id":null,"name":null},"action":{"id":null,"name":null},
			"system_action":{"type":"douopt-in","id":"<integer>","name":"<string>"}},
			"contact":{"id":$contact,"email":"ada@example.org","status":null},"list":{"id":$list,"name":null},"segment":`+noSegment+`,"context":`+noContext+`}`))
	}},
	{"the transactional email", "bounced/transactional_email/fields shape/transactional versioning/legacy decision/28/shape", func(w *world) {
		w.listen("Email.Bounced")
		s := w.sendByTransactional()
		w.bounce(s.id, "bounce_hb")
		w.data(w.fires("Email.Bounced")[0], s.fill(`{"transactional_email":`+legacyEmail+`,"…":0}`))
		id := w.post("/emails", submission(ada, "")).text("id")
		w.bounce(id, "bounce_hb")
		w.data(w.fires("Email.Bounced")[0], `{"transactional_email":{"additional_headers":null,"…":0},"additional_headers":null,"…":0}`)
	}},
	{"the flat copy", "bounced/transactional/flat-copy", func(w *world) {
		w.listen("Email.Bounced")
		s := w.sendByTransactional()
		w.bounce(s.id, "bounce_hb")
		d := w.fires("Email.Bounced")[0]
		w.data(d, s.fill(`{"id":"<integer>","email":"ada@example.org","sent_id":"$id","sender_name":"Shop","sender_email":"hello@shop.example",
			"source_ip":"<string>","envelope_from":"<string>","dsn_message":"<string>","additional_headers":[{"name":"X-Order","value":"7"}],"…":0}`))
		data := d.body["data"].(map[string]any)
		bounce, email := data["bounce"].(map[string]any), data["transactional_email"].(map[string]any)
		for flat, value := range map[string]any{
			"id": bounce["id"], "source_ip": bounce["source_ip"], "dsn_message": bounce["dsn_message"],
			"sent_id": email["id"], "envelope_from": email["envelope_from"],
		} {
			want(w, flat, show(data[flat]), show(value))
		}
	}},
	{"the cause of an Email API bounce", "bounced/email-api/no-cause bounced/email-api/look-up decision/26/bounce endpoints/emails/lookup", func(w *world) {
		w.listen("Email.Bounced")
		for category, kind := range map[string]string{"bounce_hb": "hard", "bounce_sb": "soft", "bounce_fm": "soft"} {
			s := w.sendByEmailAPI()
			w.bounce(s.id, category)
			raw := string(w.fires("Email.Bounced")[0].raw)
			want(w, "a cause in the event", strings.Contains(raw, "dsn") || strings.Contains(raw, "bounce_") || strings.Contains(raw, `"hard"`), false)
			w.lookUp(s.id, f(`{"status":"bounced","bounce":{"type":%q,"category":%q,"dsn_message":"<string>","occurred_on":"<unix>"},"…":0}`, kind, category))
		}
	}},
	{"an Email API message to no list contact", "bounced/email-api/no-contact", func(w *world) {
		w.listen("Email.Bounced")
		id := w.submit("nobody@example.org", "").text("id")
		w.bounce(id, "bounce_hb")
		w.data(w.fires("Email.Bounced")[0], f(`{"event_time":"<unix>","email":{"id":%q}}`, id))
	}},
	{"an Email API message to a list contact", "resources/contact/tags resources/contact/interests resources/contact/custom_attributes resources/email/id-in-events service/automations shape/email-api", func(w *world) {
		w.listen("Email.Bounced")
		list := w.list()
		contact := w.post(f("/lists/%d/contacts", list), f(`{"email":%q,"custom_attributes":[{"name":"city","value":"London"}],"tags":["vip"],"interests":["books"]}`, ada)).int("id")
		id := w.submitTo(list, ada)
		w.bounce(id, "bounce_sb")
		w.data(w.fires("Email.Bounced")[0], f(`{"event_time":"<unix>","email":{"id":%q},"list":{"id":%d,"name":"News"},"contact":{"id":%d,"email":%q,"status":"active",
			"subscribed_on":"<unix>","custom_attributes":[{"name":"city","value":"London"}],"tags":["vip"],"interests":["books"]}}`, id, list, contact, ada))
	}},
	{"the message is bounced", "states/email/bounce states/email/bounce/fires", func(w *world) {
		w.listen("Email.Bounced")
		id := w.submit(ada, "").text("id")
		w.lookUp(id, `{"status":"delivered","…":0}`)
		w.bounce(id, "bounce_sb")
		w.fires("Email.Bounced")
		w.lookUp(id, `{"status":"bounced","…":0}`)
	}},
	{"ids are integers", "decision/31", func(w *world) {
		w.listen("Email.Bounced", "Email.ReportedAsSpam")
		s := w.sendByCampaign()
		w.bounce(s.id, "bounce_sb")
		w.complain(s.id)
		both := w.fires("Email.Bounced", "Email.ReportedAsSpam")
		w.data(both[0], s.fill(`{"contact":{"id":$contact,"…":0},"list":{"id":$list,"…":0},"…":0}`))
		w.data(both[1], s.fill(`{"contact":{"id":"$contact","…":0},"list":{"id":"$list","…":0},"…":0}`))
	}},
	{"a contact remembers", "resources/contact/bounces_count resources/contact/last_bounce_type", func(w *world) {
		w.listen("Contact.Removed")
		list := w.list()
		contact := w.contact(list, ada)
		w.get(f("/lists/%d/contacts/%d", list, contact)).is(200, `{"last_bounce_type":"none","bounces_count":0,"…":0}`)
		w.bounce(w.submitTo(list, ada), "bounce_sb")
		w.bounce(w.submitTo(list, ada), "bounce_fm")
		w.delete(f("/lists/%d/contacts/%d", list, contact)).ok()
		w.data(w.fires("Contact.Removed")[0], `{"contact":{"last_bounce_type":"soft","bounces_count":2,"…":0},"…":0}`)
	}},
}
