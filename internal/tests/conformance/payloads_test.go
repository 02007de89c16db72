package conformance_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"example.com/emailplatform/events"
)

const (
	nothing     = "<absent>"
	noSegment   = `{"id":null,"name":null,"query":null}`
	noContext   = `{"timestamp":null,"user_agent":null,"ip":null}`
	noList      = `{"id":null,"name":null}`
	hardBounce  = `{"id":null,"dsn_message":"<string>","source_ip":"<string>","category":"bounce_hb"}`
	noStatus    = `{"id":$contact,"email":"ada@example.org","status":null}`
	listContact = `{"id":$contact,"email":"ada@example.org","status":"bounced","subscribed_on":"<unix>",
		"custom_attributes":[],"tags":[],"interests":[]}`
	legacyEmail = `{"id":"$id","sender":{"name":"Shop","email":"hello@shop.example"},"envelope_from":"<string>",
		"additional_headers":[{"name":"X-Order","value":"7"}]}`
)

// bouncedCells is the table of Email.Bounced: the value of each key by sending type, in the order of the specification.
var bouncedCells = []struct {
	key                                         string
	campaign, workflow, transactional, emailAPI string
}{
	{
		key:      "bounce",
		campaign: hardBounce, workflow: hardBounce,
		transactional: `{"id":"<integer>","dsn_message":"<string>","source_ip":"<string>","category":"bounce_hb"}`,
		emailAPI:      nothing,
	},
	{
		key:      "campaign",
		campaign: `{"type":"campaign","id":$campaign,"name":"Spring"}`,
		workflow: nothing, transactional: nothing, emailAPI: nothing,
	},
	{
		key:      "automation",
		workflow: `{"trigger":{"id":"<integer>","name":"Welcome"}}`,
		campaign: nothing, transactional: nothing, emailAPI: nothing,
	},
	{key: "contact", campaign: noStatus, workflow: noStatus, transactional: `{"email":"ada@example.org"}`, emailAPI: listContact},
	{
		key:      "list",
		campaign: `{"id":$list,"name":"News"}`, workflow: `{"id":$list,"name":null}`,
		transactional: noList, emailAPI: `{"id":$list,"name":"News"}`,
	},
	{key: "segment", campaign: noSegment, workflow: noSegment, transactional: noSegment, emailAPI: nothing},
	{key: "context", campaign: noContext, workflow: noContext, transactional: noContext, emailAPI: nothing},
	{key: "transactional_email", transactional: legacyEmail, campaign: nothing, workflow: nothing, emailAPI: nothing},
	{key: "event_time", campaign: nothing, workflow: nothing, transactional: nothing, emailAPI: `"<unix>"`},
	{
		key:           "email",
		transactional: `"ada@example.org"`, // field of the flat copy
		campaign:      nothing, workflow: nothing, emailAPI: `{"id":"$id"}`,
	},
}

func TestBounced(t *testing.T) {
	for column, sending := range sendings {
		lower := strings.ToLower(strings.ReplaceAll(sending.name, " ", "-"))
		t.Run(lower, inLab(func(l *lab) {
			proves(l, "bounced/every-sending", "events/Email.Bounced", "shape/depends-on-sending", "shape/"+lower,
				"events/data-varies", "events/compliance-envelope", "envelope/user-null")
			l.listen("Email.Bounced")
			s := sending.send(l)
			l.bounce(s.id, "bounce_hb")
			d := l.fires("Email.Bounced")[0]
			l.envelope(d, `{"id":"<uuid>","event":"Email.Bounced","account_id":1204,"account_lineage":null,
				"ip":"<string>","user":`+noUser+`,"created_on":"<unix>","data":"<any>"}`)
			data := d.body["data"].(map[string]any)
			switch lower {
			case "campaign":
				proves(l, "decision/31")
			case "workflow":
				proves(l, "bounced/automation/trigger")
			case "email-api":
				proves(l, "resources/email/id-in-events")
			}
			for _, row := range bouncedCells {
				proves(l, "bounced/"+row.key+"/"+lower)
				cell := []string{row.campaign, row.workflow, row.transactional, row.emailAPI}[column]
				value, present := data[row.key]
				if want(l, row.key+" is present", present, cell != nothing); cell == nothing {
					continue
				}
				for _, m := range mismatches(value, s.fill(cell)) {
					l.Errorf("%s%s", row.key, m)
				}
			}
		}))
	}
}

func TestBounceCategories(t *testing.T) {
	for _, category := range bounceCategories {
		for _, sending := range sendings {
			t.Run(category+" of "+sending.name, inLab(func(l *lab) {
				kind, becomes, piece := "soft", "active", "decision/37/others"
				if category == "bounce_hb" {
					kind, becomes, piece = "hard", "bounced", "decision/37/hard"
				}
				l.listen("Email.Bounced")
				s := sending.send(l)
				l.must(l.srv.Bounce(s.id, events.BounceCategory(category), "554 5.7.1 go away"))
				d := l.fires("Email.Bounced")[0]
				if s.contact != 0 {
					proves(l, piece)
					l.get(f("/lists/%d/contacts/%d", s.list, s.contact)).
						is(200, f(`{"status":%q,"last_bounce_type":%q,"bounces_count":1,"…":0}`, becomes, kind))
				}
				if sending.name != "email API" {
					proves(l, "bounced/category/"+category, "bounced/dsn_message")
					l.data(d, f(`{"bounce":{"category":%q,"dsn_message":"554 5.7.1 go away","…":0},"…":0}`, category))
					return
				}
				proves(l, "bounced/email-api/no-cause", "bounced/email-api/look-up", "decision/26/bounce",
					"endpoints/emails/lookup", "states/email/bounce", "states/email/bounce/fires")
				for _, cause := range []string{"dsn", "bounce_", `"hard"`, `"soft"`, "go away"} {
					want(l, cause+" is in the event", strings.Contains(string(d.raw), cause), false)
				}
				l.lookUp(s.id, f(`{"status":"bounced","bounce":{"type":%q,"category":%q,
					"dsn_message":"554 5.7.1 go away","occurred_on":"<unix>"},"…":0}`, kind, category))
			}))
		}
	}
}

func TestBouncePayloads(t *testing.T) {
	t.Run("of a double opt-in", inLab(func(l *lab) {
		proves(l, "bounced/automation/double-opt-in", "shape/workflow/double-opt-in", "decision/13/email")
		l.listen("Email.Bounced")
		s := l.sendByOptIn()
		l.bounce(s.id, "bounce_hb")
		l.data(l.fires("Email.Bounced")[0], s.fill(`{"bounce":{"id":null,"…":0},
			"automation":{"workflow":{"id":null,"name":null},"action":{"id":null,"name":null},
				"system_action":{"type":"douopt-in","id":"<integer>","name":"<string>"}},
			"contact":`+noStatus+`,"list":{"id":$list,"name":null},"segment":`+noSegment+`,"context":`+noContext+`}`))
	}))
	t.Run("the flat copy of a transactional email", inLab(func(l *lab) {
		proves(l, "bounced/transactional/flat-copy", "bounced/source_ip", "versioning/legacy", "bounced/transactional_email/fields")
		l.listen("Email.Bounced")
		s := l.sendByTransactional()
		l.bounce(s.id, "bounce_hb")
		d := l.fires("Email.Bounced")[0]
		l.data(d, s.fill(`{"id":"<integer>","email":"ada@example.org","sent_id":"$id",
			"sender_name":"Shop","sender_email":"hello@shop.example","source_ip":"<string>","envelope_from":"<string>",
			"dsn_message":"<string>","additional_headers":[{"name":"X-Order","value":"7"}],"…":0}`))
		data := d.body["data"].(map[string]any)
		bounce, email := data["bounce"].(map[string]any), data["transactional_email"].(map[string]any)
		for flat, value := range map[string]any{
			"id": bounce["id"], "source_ip": bounce["source_ip"], "dsn_message": bounce["dsn_message"],
			"sent_id": email["id"], "envelope_from": email["envelope_from"],
		} {
			want(l, flat, show(data[flat]), show(value))
		}
		l.bounce(l.post("/emails", submission(ada, "")).text("id"), "bounce_hb")
		l.data(l.fires("Email.Bounced")[0],
			`{"transactional_email":{"additional_headers":null,"…":0},"additional_headers":null,"…":0}`)
	}))
	t.Run("with and without a contact", inLab(func(l *lab) {
		proves(l, "bounced/email-api/no-contact", "resources/contact/tags", "resources/contact/interests", "resources/contact/custom_attributes",
			"service/automations", "resources/contact/last_bounce_type", "resources/contact/bounces_count", "removed/contact")
		const fields = `"custom_attributes":[{"name":"city","value":"London"}],"tags":["vip"],"interests":["books"]`
		l.listen("Email.Bounced", "Contact.Removed")
		id := l.submit("unknown@example.org", "").text("id")
		l.bounce(id, "bounce_hb")
		l.data(l.fires("Email.Bounced")[0], f(`{"event_time":"<unix>","email":{"id":%q}}`, id))
		s := sent{list: l.list()}
		created := l.post(f("/lists/%d/contacts", s.list), f(`{"email":%q,%s}`, ada, fields)).
			is(201, `{"last_bounce_type":"none","bounces_count":0,"…":0}`)
		s.contact, s.id = created.int("id"), l.submitTo(s.list, ada)
		l.bounce(s.id, "bounce_sb")
		l.data(l.fires("Email.Bounced")[0], s.fill(`{"event_time":"<unix>","email":{"id":"$id"},"list":{"id":$list,"name":"News"},
			"contact":{"id":$contact,"email":"ada@example.org","status":"active","subscribed_on":"<unix>",`+fields+`}}`))
		l.bounce(s.id, "bounce_fm")
		l.fires("Email.Bounced")
		l.delete(f("/lists/%d/contacts/%d", s.list, s.contact)).ok()
		l.data(l.fires("Contact.Removed")[0], `{"contact":{"last_bounce_type":"soft","bounces_count":2,
			"custom_attributes":[{"name":"city","value":"London"}],"…":0},"…":0}`)
	}))
}

// complaints contains the data of Email.ReportedAsSpam by sending.
var complaints = map[string]struct {
	data   string
	proves []string
}{
	"campaign": {
		`"campaign":{"type":"campaign","id":$campaign,"name":"Spring"},
			"contact":{"id":"$contact","email":"ada@example.org","status":"spam"},"list":{"id":"$list","name":"<any>"}`,
		[]string{"reported/contact", "reported/list", "decision/31", "resources/contact/id-in-complaints"},
	},
	"workflow": {
		`"automation":{"trigger":{"id":"<integer>","name":"Welcome"}},
			"contact":{"id":"$contact","email":"ada@example.org","status":"spam"},"list":{"id":"$list","name":"<any>"}`,
		[]string{"reported/contact", "reported/list"},
	},
	"transactional": {
		`"transactional_email":` + legacyEmail + `,"contact":{"email":"ada@example.org"},"list":` + noList,
		[]string{"reported/transactional"},
	},
	"email API": {`"event_time":"<unix>","email":{"id":"$id"}`, []string{"reported/email-api"}},
}

func TestReportedAsSpam(t *testing.T) {
	for _, sending := range sendings {
		t.Run(sending.name, inLab(func(l *lab) {
			row := complaints[sending.name]
			proves(l, "reported/fires", "events/Email.ReportedAsSpam", "shape/depends-on-sending",
				"events/compliance-envelope", "envelope/user-null", "states/contact/complaint/suppressed-first", "states/contact/complaint")
			proves(l, row.proves...)
			data := row.data
			if sending.name != "email API" {
				proves(l, "reported/fbl", "reported/segment", "reported/context", "reported/sending-part")
				data += `,"fbl":{"provider":"Mailbox.example","source_ip":"<string>"},"segment":` + noSegment + `,"context":` + noContext
			}
			l.listen("Email.ReportedAsSpam", "SuppressedEmail.Added")
			list := l.list()
			contact := l.contact(list, ada) // the recipient of a transactional email
			s := sending.send(l)
			if s.list == 0 {
				s.list, s.contact = list, contact
			}
			suppressed := false
			l.receiver.respond(func(http.ResponseWriter, *http.Request, int) { suppressed = l.isSuppressed(ada) })
			l.complain(s.id)
			d := l.fires("Email.ReportedAsSpam")[0]
			want(l, "suppressed when the event came", suppressed, true)
			l.envelope(d, `{"id":"<uuid>","event":"Email.ReportedAsSpam","account_id":1204,"account_lineage":null,
				"ip":"<string>","user":`+noUser+`,"created_on":"<unix>","data":"<any>"}`)
			l.data(d, s.fill("{"+data+"}"))
			want(l, "status", l.status(s.list, s.contact), "spam")
			l.complain(s.id)
			l.fires()
			if sending.name == "email API" {
				proves(l, "reported/email-api/look-up")
				l.lookUp(s.id, s.fill(`{"email":"ada@example.org","contact_id":$contact,"reported_as_spam":true,"…":0}`))
			}
		}))
	}
}

func TestOpenedAndClicked(t *testing.T) {
	for _, sending := range sendings {
		t.Run(sending.name, inLab(func(l *lab) {
			proves(l, "events/Email.Opened", "events/opened-body", "decision/29", "decision/30/Email.Opened",
				"events/Email.Clicked", "decision/30/Email.Clicked", "decision/30/ids", "decision/30/times")
			l.listen("Email.Opened", "Email.Clicked")
			s := sending.send(l)
			data := `"data":{"email_id":"$id","email_address":"ada@example.org"`
			for name, id := range map[string]int64{"contact": s.contact, "list": s.list, "campaign": s.campaign} {
				value := "null"
				if id != 0 {
					value = f("%q", fmt.Sprint(id))
				}
				data += f(`,"%s_id":%s`, name, value)
			}
			l.open(s.id)
			l.open(s.id)
			l.click(s.id, "https://shop.example/?a=1&b=2")
			fired := l.fires("Email.Opened", "Email.Opened", "Email.Clicked")
			l.envelope(fired[0], s.fill(`{"event":"Email.Opened","timestamp":"<iso>",`+data+`,"opened_at":"<iso>"}}`))
			l.envelope(fired[2], s.fill(`{"event":"Email.Clicked","timestamp":"<iso>",`+data+`,
				"url":"https://shop.example/?a=1&b=2","clicked_at":"<iso>"}}`))
		}))
	}
}

func TestAddedAndUnsubscribed(t *testing.T) {
	inLab(func(l *lab) {
		proves(l, "events/Contact.Added", "decision/29", "decision/30/Contact.Added", "decision/30/ids", "decision/30/times", "decision/33",
			"events/Contact.Unsubscribed", "decision/30/Contact.Unsubscribed")
		l.listen("Contact.Added", "Contact.Unsubscribed")
		s := sent{list: l.list()}
		s.contact = l.contact(s.list, ada)
		added := s.fill(`{"event":"Contact.Added","timestamp":"<iso>",
			"data":{"contact_id":"$contact","list_id":"$list","email_address":"ada@example.org","added_at":"<iso>"}}`)
		l.envelope(l.fires("Contact.Added")[0], added)
		l.post(f("/lists/%d/contacts/%d/unsubscribe", s.list, s.contact), "").ok()
		l.envelope(l.fires("Contact.Unsubscribed")[0], s.fill(`{"event":"Contact.Unsubscribed","timestamp":"<iso>",
			"data":{"contact_id":"$contact","list_id":"$list","email_address":"ada@example.org","unsubscribed_at":"<iso>"}}`))
		l.contact(s.list, ada) // again
		l.envelope(l.fires("Contact.Added")[0], added)
		l.member(s.list, "later@example.org", "pending")
		l.fires()
		for _, fires := range [][]string{{"Contact.Added"}, nil} { // the second confirmation changes nothing
			l.confirm(l.lastMessage().ID)
			l.fires(fires...)
		}
	})(t)
}
