package mockserver_test

import (
	"net/http"
	"strings"
	"testing"
)

// complaints are the data of Email.ReportedAsSpam for each way of sending.
var complaints = map[string]string{
	"campaign": `{"fbl":{"provider":"Mailbox.example","source_ip":"<string>"},"campaign":{"type":"campaign","id":$campaign,"name":"Spring"},
		"contact":{"id":"$contact","email":"ada@example.org","status":"spam"},"list":{"id":"$list","name":"<any>"},"segment":` + noSegment + `,"context":` + noContext + `}`,
	"workflow": `{"fbl":{"provider":"Mailbox.example","source_ip":"<string>"},"automation":{"trigger":{"id":"<integer>","name":"Welcome"}},
		"contact":{"id":"$contact","email":"ada@example.org","status":"spam"},"list":{"id":"$list","name":"<any>"},"segment":` + noSegment + `,"context":` + noContext + `}`,
	"transactional": `{"fbl":{"provider":"Mailbox.example","source_ip":"<string>"},"transactional_email":` + legacyEmail + `,
		"contact":{"email":"ada@example.org"},"list":` + noList + `,"segment":` + noSegment + `,"context":` + noContext + `}`,
	"email API": `{"event_time":"<unix>","email":{"id":"$id"}}`,
}

func TestConformanceReportedAsSpam(t *testing.T) {
	covered := map[string]string{
		"campaign":      "reported/fbl reported/contact reported/list reported/segment reported/context reported/sending-part decision/31",
		"workflow":      "reported/fbl reported/contact reported/list reported/segment reported/context reported/sending-part",
		"transactional": "reported/fbl reported/segment reported/context reported/sending-part reported/transactional",
		"email API":     "reported/email-api",
	}
	var rules []rule
	for _, sending := range sendings {
		rules = append(rules, rule{sending.name, covered[sending.name] + " reported/fires events/Email.ReportedAsSpam shape/depends-on-sending", func(w *world) {
			w.listen("Email.ReportedAsSpam", "SuppressedEmail.Added")
			s := sending.send(w)
			w.complain(s.id)
			w.data(w.fires("Email.ReportedAsSpam")[0], s.fill(complaints[sending.name]))
			w.complain(s.id)
			w.fires()
		}})
		rules = append(rules, rule{sending.name + " suppresses first", "states/contact/complaint/suppressed-first", func(w *world) {
			w.listen("Email.ReportedAsSpam")
			s := sending.send(w)
			suppressed := false
			w.receiver.respond(func(http.ResponseWriter, *http.Request, int) { suppressed = w.isSuppressed(ada) })
			w.complain(s.id)
			w.fires("Email.ReportedAsSpam")
			want(w, "suppressed when the event came", suppressed, true)
		}})
	}
	for _, sending := range sendings[:3] { // what the specification names
		rules = append(rules, rule{"who complained about a " + sending.name + " message", "states/contact/complaint", func(w *world) {
			s := sending.send(w)
			if s.list == 0 { // a transactional message goes to an address; let a contact have it
				s.list = w.list()
				s.contact = w.contact(s.list, ada)
				s.id = sending.send(w).id
			}
			w.complain(s.id)
			want(w, "status", w.status(s.list, s.contact), "spam")
		}})
	}
	conform(t, append(rules,
		rule{"found by looking up", "reported/email-api/look-up", func(w *world) {
			w.listen("Email.ReportedAsSpam")
			s := w.sendByEmailAPI()
			w.complain(s.id)
			w.fires("Email.ReportedAsSpam")
			w.lookUp(s.id, s.fill(`{"email":"ada@example.org","contact_id":$contact,"reported_as_spam":true,"…":0}`))
		}},
		rule{"the contact's id is a string", "resources/contact/id-in-complaints", func(w *world) {
			w.listen("Email.ReportedAsSpam")
			s := w.sendByCampaign()
			w.complain(s.id)
			w.data(w.fires("Email.ReportedAsSpam")[0], s.fill(`{"contact":{"id":"$contact","…":0},"…":0}`))
		}},
		rule{"the envelope", "events/compliance-envelope envelope/user-null", func(w *world) {
			w.listen("Email.ReportedAsSpam")
			w.complain(w.sendByEmailAPI().id)
			w.envelope(w.fires("Email.ReportedAsSpam")[0], `{"id":"<uuid>","event":"Email.ReportedAsSpam","account_id":1204,"account_lineage":null,
				"ip":"<string>","user":`+noUser+`,"created_on":"<unix>","data":"<any>"}`)
		}},
	))
}

func TestConformanceUnsubscribing(t *testing.T) {
	recipient := `{"ip":"<string>","user_agent":"<string>"}`
	var rules []rule
	for _, name := range []string{"campaign", "workflow"} {
		send := map[string]func(*world) sent{"campaign": (*world).sendByCampaign, "workflow": (*world).sendByWorkflow}[name]
		rules = append(rules,
			rule{"the link in a " + name + " email", "states/contact/unsubscribe-link states/contact/unsubscribe-link/fires unsubscribed/others removed/link decision/32", func(w *world) {
				w.listen("Contact.Removed", "Contact.Unsubscribed", "Email.Unsubscribed", "SuppressedEmail.Added")
				s := send(w)
				w.unsubscribe(s.id)
				want(w, "status", w.status(s.list, s.contact), "unsubscribed")
				w.fires("Contact.Removed", "Contact.Unsubscribed")
				w.unsubscribe(s.id)
				w.fires()
			}},
			rule{"all email by a " + name + " email", "states/address/suppressed states/address/suppressed/fires states/address/global-unsubscribe/removed removed/global-unsubscribe global-unsubscribed/email-api-only suppressed/" + name, func(w *world) {
				w.listen("Contact.Removed", "Contact.Unsubscribed", "Email.Unsubscribed", "Email.GlobalUnsubscribed", "SuppressedEmail.Added")
				s := send(w)
				w.globalUnsubscribe(s.id)
				want(w, "status", w.status(s.list, s.contact), "unsubscribed")
				want(w, "suppressed", w.isSuppressed(ada), true)
				fired := w.fires("SuppressedEmail.Added", "Contact.Removed", "Contact.Unsubscribed")
				w.data(fired[0], `{"suppressedEmail":{"email":"ada@example.org"}}`)
				w.globalUnsubscribe(s.id)
				w.fires()
			}},
		)
	}
	conform(t, append(rules,
		rule{"the list unsubscribe of an Email API message", "states/contact/list-unsubscribe states/contact/list-unsubscribe/fires unsubscribed/email-api-only events/Email.Unsubscribed removed/list-unsubscribe", func(w *world) {
			w.listen("Contact.Removed", "Contact.Unsubscribed", "Email.Unsubscribed", "Email.GlobalUnsubscribed", "SuppressedEmail.Added")
			s := w.sendByEmailAPI()
			w.unsubscribe(s.id)
			want(w, "status", w.status(s.list, s.contact), "unsubscribed")
			w.fires("Email.Unsubscribed", "Contact.Unsubscribed", "Contact.Removed")
			w.unsubscribe(s.id)
			w.fires()
		}},
		rule{"the header and the link", "unsubscribed/link-or-header", func(w *world) {
			s := w.sendByEmailAPI()
			m := w.lastMessage()
			want(w, "the message", m.ID, s.id)
			for _, h := range m.Headers {
				if h.Name == "List-Unsubscribe" && h.Value != "" {
					return
				}
			}
			w.Errorf("the message has no List-Unsubscribe header: %v", m.Headers)
		}},
		rule{"the data of Email.Unsubscribed", "unsubscribed/event_time unsubscribed/email.id unsubscribed/contact unsubscribed/list unsubscribed/context resources/email/id-in-events", func(w *world) {
			w.listen("Email.Unsubscribed")
			s := w.sendByEmailAPI()
			w.unsubscribe(s.id)
			d := w.fires("Email.Unsubscribed")[0]
			w.data(d, s.fill(`{"event_time":"<unix>","email":{"id":"$id"},"contact":{"id":$contact,"email":"ada@example.org","status":"<string>","subscribed_on":"<unix>",
				"custom_attributes":[],"tags":[],"interests":[]},"list":{"id":$list,"name":"News"},"context":`+recipient+`}`))
			w.envelope(d, `{"user":`+noUser+`,"…":0}`)
		}},
		rule{"the status in it", "unsubscribed/contact/status", func(w *world) {
			w.listen("Email.Unsubscribed")
			w.unsubscribe(w.sendByEmailAPI().id)
			contact := w.fires("Email.Unsubscribed")[0].body["data"].(map[string]any)["contact"].(map[string]any)
			want(w, "active or unsubscribed", contact["status"] == "active" || contact["status"] == "unsubscribed", true)
		}},
		rule{"all email by an Email API message", "states/address/global-unsubscribe/email-api states/address/suppressed states/address/suppressed/fires events/Email.GlobalUnsubscribed global-unsubscribed/email-api-only global-unsubscribed/suppressed suppressed/email-api suppressed/carries-address", func(w *world) {
			w.listen("Email.Unsubscribed", "Email.GlobalUnsubscribed", "SuppressedEmail.Added")
			s := w.sendByEmailAPI()
			w.globalUnsubscribe(s.id)
			want(w, "suppressed", w.isSuppressed(ada), true)
			fired := w.fires("Email.GlobalUnsubscribed", "SuppressedEmail.Added")
			w.data(fired[1], `{"suppressedEmail":{"email":"ada@example.org"}}`)
			w.globalUnsubscribe(s.id)
			w.fires()
		}},
		rule{"the data of Email.GlobalUnsubscribed", "global-unsubscribed/data global-unsubscribed/no-address", func(w *world) {
			w.listen("Email.GlobalUnsubscribed")
			s := w.sendByEmailAPI()
			w.globalUnsubscribe(s.id)
			d := w.fires("Email.GlobalUnsubscribed")[0]
			w.data(d, s.fill(`{"event_time":"<unix>","email":{"id":"$id"},"context":`+recipient+`}`))
			want(w, "the address is in the event", strings.Contains(string(d.raw), ada), false)
		}},
		rule{"Contact.Unsubscribed", "events/Contact.Unsubscribed decision/30/Contact.Unsubscribed decision/29", func(w *world) {
			w.listen("Contact.Unsubscribed")
			s := w.sendByCampaign()
			w.unsubscribe(s.id)
			w.envelope(w.fires("Contact.Unsubscribed")[0], s.fill(`{"event":"Contact.Unsubscribed","timestamp":"<iso>",
				"data":{"contact_id":"$contact","list_id":"$list","email_address":"ada@example.org","unsubscribed_at":"<iso>"}}`))
		}},
	))
}

func TestConformanceRemoved(t *testing.T) {
	byUser := func(status string, leave func(w *world, s sent)) func(w *world) {
		return func(w *world) {
			w.listen("Contact.Removed")
			s := w.sendByCampaign()
			leave(w, s)
			d := w.fires("Contact.Removed")[0]
			w.envelope(d, `{"user":`+ownerUser+`,"…":0}`)
			w.data(d, s.fill(`{"list":{"id":$list,"name":"News"},"contact":{"id":$contact,"email":"ada@example.org","status":"`+status+`","subscribed_on":"<unix>",
				"last_bounce_type":"none","bounces_count":0,"custom_attributes":[]},"context":{"timestamp":"<unix>","ip":null,"user_agent":null}}`))
		}
	}
	byLink := func(send func(*world) sent, leave func(w *world, id string)) func(w *world) {
		return func(w *world) {
			w.listen("Contact.Removed")
			s := send(w)
			leave(w, s.id)
			d := w.fires("Contact.Removed")[0]
			w.envelope(d, `{"user":`+noUser+`,"…":0}`)
			w.data(d, s.fill(`{"list":{"id":$list,"name":"News"},"contact":{"id":$contact,"email":"ada@example.org","status":"unsubscribed","subscribed_on":"<unix>",
				"last_bounce_type":"none","bounces_count":0,"custom_attributes":[]},"context":{"timestamp":"<unix>","ip":"<string>","user_agent":"<string>"}}`))
		}
	}
	conform(t, []rule{
		{"through the API", "removed/api removed/user removed/context/otherwise removed/list removed/contact removed/context/timestamp resources/contact/last_bounce_type resources/contact/bounces_count", byUser("unsubscribed", func(w *world, s sent) {
			w.post(f("/lists/%d/contacts/%d/unsubscribe", s.list, s.contact), "").ok()
		})},
		{"deleted", "removed/delete removed/user removed/context/otherwise removed/contact", byUser("deleted", func(w *world, s sent) {
			w.delete(f("/lists/%d/contacts/%d", s.list, s.contact)).ok()
		})},
		{"by the link in a campaign", "removed/link removed/context/link removed/user/themselves", byLink((*world).sendByCampaign, (*world).unsubscribe)},
		{"by the link in a workflow email", "removed/link removed/context/link removed/user/themselves", byLink((*world).sendByWorkflow, (*world).unsubscribe)},
		{"by a list unsubscribe", "removed/list-unsubscribe removed/user/themselves", byLink((*world).sendByEmailAPI, (*world).unsubscribe)},
		{"by a global unsubscribe", "removed/global-unsubscribe removed/context/link removed/user/themselves", byLink((*world).sendByCampaign, (*world).globalUnsubscribe)},
		{"its custom attributes", "removed/contact resources/contact/custom_attributes", func(w *world) {
			w.listen("Contact.Removed")
			list := w.list()
			id := w.post(f("/lists/%d/contacts", list), f(`{"email":%q,"custom_attributes":[{"name":"city","value":"London"}]}`, ada)).int("id")
			w.delete(f("/lists/%d/contacts/%d", list, id)).ok()
			w.data(w.fires("Contact.Removed")[0], `{"contact":{"custom_attributes":[{"name":"city","value":"London"}],"…":0},"…":0}`)
		}},
		{"whenever a contact leaves a list", "events/Contact.Removed", func(w *world) {
			w.listen("Contact.Removed")
			list := w.list()
			a, b := w.contact(list, ada), w.contact(list, "bob@example.org")
			w.post(f("/lists/%d/contacts/%d/unsubscribe", list, a), "").ok()
			w.delete(f("/lists/%d/contacts/%d", list, b)).ok()
			w.fires("Contact.Removed", "Contact.Removed")
		}},
	})
}

// TestConformanceGeneralEvents is about the events in the general envelope.
func TestConformanceGeneralEvents(t *testing.T) {
	conform(t, []rule{
		{"Email.Opened", "events/Email.Opened events/opened-body decision/29 decision/30/Email.Opened decision/30/ids decision/30/times", func(w *world) {
			w.listen("Email.Opened")
			s := w.sendByCampaign()
			w.open(s.id)
			w.envelope(w.fires("Email.Opened")[0], s.fill(`{"event":"Email.Opened","timestamp":"<iso>","data":{"email_id":"$id","contact_id":"$contact",
				"campaign_id":"$campaign","list_id":"$list","email_address":"ada@example.org","opened_at":"<iso>"}}`))
			w.open(s.id)
			w.fires("Email.Opened")
		}},
		{"Email.Clicked", "events/Email.Clicked decision/29 decision/30/Email.Clicked decision/30/ids decision/30/times", func(w *world) {
			w.listen("Email.Clicked")
			s := w.sendByCampaign()
			w.click(s.id, "https://shop.example/?a=1&b=2")
			w.envelope(w.fires("Email.Clicked")[0], s.fill(`{"event":"Email.Clicked","timestamp":"<iso>","data":{"email_id":"$id","contact_id":"$contact",
				"campaign_id":"$campaign","list_id":"$list","email_address":"ada@example.org","url":"https://shop.example/?a=1&b=2","clicked_at":"<iso>"}}`))
		}},
		{"opened and clicked, whichever way it was sent", "events/Email.Opened events/Email.Clicked", func(w *world) {
			w.listen("Email.Opened", "Email.Clicked")
			for _, sending := range sendings {
				s := sending.send(w)
				w.open(s.id)
				w.click(s.id, "https://shop.example/")
				fired := w.fires("Email.Opened", "Email.Clicked")
				w.data(fired[0], s.fill(`{"email_id":"$id","email_address":"ada@example.org","…":0}`))
				w.data(fired[1], s.fill(`{"email_id":"$id","email_address":"ada@example.org","url":"https://shop.example/","…":0}`))
			}
		}},
		{"Contact.Added", "events/Contact.Added decision/29 decision/30/Contact.Added decision/30/ids decision/30/times", func(w *world) {
			w.listen("Contact.Added")
			list := w.list()
			contact := w.contact(list, ada)
			w.envelope(w.fires("Contact.Added")[0], f(`{"event":"Contact.Added","timestamp":"<iso>",
				"data":{"contact_id":"%d","list_id":"%d","email_address":"ada@example.org","added_at":"<iso>"}}`, contact, list))
		}},
		{"Contact.Added for everyone who becomes active", "decision/33", func(w *world) {
			w.listen("Contact.Added")
			list := w.list()
			w.member(list, "gone@example.org", "unsubscribed")
			w.fires("Contact.Added")
			w.contact(list, "gone@example.org")
			w.fires("Contact.Added")
			w.post(f("/lists/%d/contacts/import", list), f(`{"contacts":[{"email":%q},{"email":"gone@example.org"},{"email":"x"}]}`, ada)).ok()
			w.fires("Contact.Added")
			w.post(f("/lists/%d/contacts/import", list), `{"contacts":[{"email":"no@example.org"}],"import_to":"unsubscribed"}`).ok()
			w.fires()
			w.post(f("/lists/%d/contacts/import", list), `{"contacts":[{"email":"no@example.org"}]}`).ok()
			w.fires("Contact.Added")
			w.member(list, "later@example.org", "pending")
			w.fires()
			w.confirm(w.lastMessage().ID)
			w.fires("Contact.Added")
			w.confirm(w.lastMessage().ID)
			w.fires()
		}},
	})
}
