package conformance_test

import (
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
		transactional: `"ada@example.org"`, // of the flat copy
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
	t.Run("without additional headers", inLab(func(l *lab) {
		proves(l, "bounced/transactional_email/fields")
		l.listen("Email.Bounced")
		id := l.post("/emails", submission(ada, "")).text("id")
		l.bounce(id, "bounce_hb")
		l.data(l.fires("Email.Bounced")[0],
			`{"transactional_email":{"additional_headers":null,"…":0},"additional_headers":null,"…":0}`)
	}))
	t.Run("the flat copy", inLab(func(l *lab) {
		proves(l, "bounced/transactional/flat-copy", "bounced/source_ip", "versioning/legacy")
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
	}))
	t.Run("an Email API message to no list contact", inLab(func(l *lab) {
		proves(l, "bounced/email-api/no-contact")
		l.listen("Email.Bounced")
		id := l.submit("nobody@example.org", "").text("id")
		l.bounce(id, "bounce_hb")
		l.data(l.fires("Email.Bounced")[0], f(`{"event_time":"<unix>","email":{"id":%q}}`, id))
	}))
	t.Run("an Email API message to a list contact", inLab(func(l *lab) {
		proves(l, "resources/contact/tags", "resources/contact/interests", "resources/contact/custom_attributes",
			"service/automations")
		const holds = `"custom_attributes":[{"name":"city","value":"London"}],"tags":["vip"],"interests":["books"]`
		l.listen("Email.Bounced")
		list := l.list()
		contact := l.post(f("/lists/%d/contacts", list), f(`{"email":%q,%s}`, ada, holds)).int("id")
		id := l.submitTo(list, ada)
		l.bounce(id, "bounce_sb")
		l.data(l.fires("Email.Bounced")[0], f(`{"event_time":"<unix>","email":{"id":%q},
			"list":{"id":%d,"name":"News"},
			"contact":{"id":%d,"email":%q,"status":"active","subscribed_on":"<unix>",%s}}`, id, list, contact, ada, holds))
	}))
	t.Run("they are counted", inLab(func(l *lab) {
		proves(l, "resources/contact/last_bounce_type", "resources/contact/bounces_count")
		l.listen("Contact.Removed")
		list := l.list()
		contact := l.contact(list, ada)
		path := f("/lists/%d/contacts/%d", list, contact)
		l.get(path).is(200, `{"last_bounce_type":"none","bounces_count":0,"…":0}`)
		l.bounce(l.submitTo(list, ada), "bounce_sb")
		l.bounce(l.submitTo(list, ada), "bounce_fm")
		l.delete(path).ok()
		l.data(l.fires("Contact.Removed")[0], `{"contact":{"last_bounce_type":"soft","bounces_count":2,"…":0},"…":0}`)
	}))
}

// complaints are the sending types with the data of Email.ReportedAsSpam.
var complaints = []struct {
	name   string
	send   func(l *lab) sent
	data   string
	proves []string
}{
	{
		name: "campaign",
		send: (*lab).sendByCampaign,
		data: `{"fbl":{"provider":"Mailbox.example","source_ip":"<string>"},
			"campaign":{"type":"campaign","id":$campaign,"name":"Spring"},
			"contact":{"id":"$contact","email":"ada@example.org","status":"spam"},"list":{"id":"$list","name":"<any>"},
			"segment":` + noSegment + `,"context":` + noContext + `}`,
		proves: []string{"reported/contact", "reported/list", "decision/31", "resources/contact/id-in-complaints"},
	},
	{
		name: "workflow",
		send: (*lab).sendByWorkflow,
		data: `{"fbl":{"provider":"Mailbox.example","source_ip":"<string>"},
			"automation":{"trigger":{"id":"<integer>","name":"Welcome"}},
			"contact":{"id":"$contact","email":"ada@example.org","status":"spam"},"list":{"id":"$list","name":"<any>"},
			"segment":` + noSegment + `,"context":` + noContext + `}`,
		proves: []string{"reported/contact", "reported/list"},
	},
	{
		name: "transactional",
		send: (*lab).sendByTransactional,
		data: `{"fbl":{"provider":"Mailbox.example","source_ip":"<string>"},"transactional_email":` + legacyEmail + `,
			"contact":{"email":"ada@example.org"},"list":` + noList + `,
			"segment":` + noSegment + `,"context":` + noContext + `}`,
		proves: []string{"reported/transactional"},
	},
	{
		name:   "email API",
		send:   (*lab).sendByEmailAPI,
		data:   `{"event_time":"<unix>","email":{"id":"$id"}}`,
		proves: []string{"reported/email-api"},
	},
}

func TestReportedAsSpam(t *testing.T) {
	for _, row := range complaints {
		t.Run(row.name, inLab(func(l *lab) {
			proves(l, "reported/fires", "events/Email.ReportedAsSpam", "shape/depends-on-sending",
				"events/compliance-envelope", "envelope/user-null", "states/contact/complaint/suppressed-first")
			proves(l, row.proves...)
			if row.name != "email API" {
				proves(l, "reported/fbl", "reported/segment", "reported/context", "reported/sending-part")
			}
			l.listen("Email.ReportedAsSpam", "SuppressedEmail.Added")
			s := row.send(l)
			suppressed := false
			l.receiver.respond(func(http.ResponseWriter, *http.Request, int) { suppressed = l.isSuppressed(ada) })
			l.complain(s.id)
			d := l.fires("Email.ReportedAsSpam")[0]
			want(l, "suppressed when the event came", suppressed, true)
			l.envelope(d, `{"id":"<uuid>","event":"Email.ReportedAsSpam","account_id":1204,"account_lineage":null,
				"ip":"<string>","user":`+noUser+`,"created_on":"<unix>","data":"<any>"}`)
			l.data(d, s.fill(row.data))
			l.complain(s.id)
			l.fires()
		}))
		t.Run("who complained about "+row.name, inLab(func(l *lab) {
			proves(l, "states/contact/complaint")
			s := row.send(l)
			if s.list == 0 { // a transactional message goes to an address; let a contact have it
				s.list = l.list()
				s.contact = l.contact(s.list, ada)
				s.id = row.send(l).id
			}
			l.complain(s.id)
			want(l, "status", l.status(s.list, s.contact), "spam")
		}))
	}
	t.Run("found by looking up", inLab(func(l *lab) {
		proves(l, "reported/email-api/look-up")
		l.listen("Email.ReportedAsSpam")
		s := l.sendByEmailAPI()
		l.complain(s.id)
		l.fires("Email.ReportedAsSpam")
		l.lookUp(s.id, s.fill(`{"email":"ada@example.org","contact_id":$contact,"reported_as_spam":true,"…":0}`))
	}))
}

// Events in the general envelope, which tell what contacts do.

func TestOpenedAndClicked(t *testing.T) {
	t.Run("Email.Opened", inLab(func(l *lab) {
		proves(l, "events/Email.Opened", "events/opened-body", "decision/29", "decision/30/Email.Opened",
			"decision/30/ids", "decision/30/times")
		l.listen("Email.Opened")
		s := l.sendByCampaign()
		l.open(s.id)
		l.envelope(l.fires("Email.Opened")[0], s.fill(`{"event":"Email.Opened","timestamp":"<iso>",
			"data":{"email_id":"$id","contact_id":"$contact","campaign_id":"$campaign","list_id":"$list",
				"email_address":"ada@example.org","opened_at":"<iso>"}}`))
		l.open(s.id)
		l.fires("Email.Opened")
	}))
	t.Run("Email.Clicked", inLab(func(l *lab) {
		proves(l, "events/Email.Clicked", "decision/29", "decision/30/Email.Clicked", "decision/30/ids", "decision/30/times")
		l.listen("Email.Clicked")
		s := l.sendByCampaign()
		l.click(s.id, "https://shop.example/?a=1&b=2")
		l.envelope(l.fires("Email.Clicked")[0], s.fill(`{"event":"Email.Clicked","timestamp":"<iso>",
			"data":{"email_id":"$id","contact_id":"$contact","campaign_id":"$campaign","list_id":"$list",
				"email_address":"ada@example.org","url":"https://shop.example/?a=1&b=2","clicked_at":"<iso>"}}`))
	}))
	for _, sending := range sendings {
		t.Run("by "+sending.name, inLab(func(l *lab) {
			l.listen("Email.Opened", "Email.Clicked")
			s := sending.send(l)
			l.open(s.id)
			l.open(s.id)
			l.click(s.id, "https://shop.example/")
			fired := l.fires("Email.Opened", "Email.Opened", "Email.Clicked")
			l.data(fired[0], s.fill(`{"email_id":"$id","email_address":"ada@example.org","…":0}`))
			data := fired[2].body["data"].(map[string]any)
			_, ofContact := data["contact_id"].(string)
			want(l, "it names a contact", ofContact, s.contact != 0)
			_, ofCampaign := data["campaign_id"].(string)
			want(l, "it names a campaign", ofCampaign, s.campaign != 0)
		}))
	}
}

func TestAddedAndUnsubscribed(t *testing.T) {
	t.Run("Contact.Added", inLab(func(l *lab) {
		proves(l, "events/Contact.Added", "decision/29", "decision/30/Contact.Added", "decision/30/ids", "decision/30/times")
		l.listen("Contact.Added")
		list := l.list()
		contact := l.contact(list, ada)
		l.envelope(l.fires("Contact.Added")[0], f(`{"event":"Contact.Added","timestamp":"<iso>",
			"data":{"contact_id":"%d","list_id":"%d","email_address":"ada@example.org","added_at":"<iso>"}}`,
			contact, list))
	}))
	t.Run("Contact.Added for everyone who becomes active", inLab(func(l *lab) {
		proves(l, "decision/33")
		l.listen("Contact.Added")
		list := l.list()
		l.member(list, "gone@example.org", "unsubscribed")
		l.fires("Contact.Added")
		l.contact(list, "gone@example.org")
		l.fires("Contact.Added")
		l.member(list, "later@example.org", "pending")
		l.fires()
		for _, fires := range [][]string{{"Contact.Added"}, nil} { // who confirms twice becomes active once
			l.confirm(l.lastMessage().ID)
			l.fires(fires...)
		}
	}))
	t.Run("Contact.Unsubscribed", inLab(func(l *lab) {
		proves(l, "events/Contact.Unsubscribed", "decision/30/Contact.Unsubscribed", "decision/29")
		l.listen("Contact.Unsubscribed")
		s := l.sendByCampaign()
		l.unsubscribe(s.id)
		l.envelope(l.fires("Contact.Unsubscribed")[0], s.fill(`{"event":"Contact.Unsubscribed","timestamp":"<iso>",
			"data":{"contact_id":"$contact","list_id":"$list","email_address":"ada@example.org",
				"unsubscribed_at":"<iso>"}}`))
	}))
}
