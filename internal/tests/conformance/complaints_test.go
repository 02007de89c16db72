package conformance_test

import (
	"net/http"
	"testing"
)

// complaints are the ways of sending, with the data of Email.ReportedAsSpam and the pieces that it proves.
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
