package main

import (
	"context"
	"fmt"
	"slices"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
)

// describe returns a one-line description of an event. Only some payloads
// contain the recipient: a bounce of the Email API without a list contact has
// only the email's id, and never the reason.
func describe(ev *events.Event) string {
	who := ev.Recipient()
	if who == "" {
		who = "email " + ev.EmailID()
	}
	switch data := ev.Data.(type) {
	case *events.EmailAPIBounce:
		return who + " bounced; looking it up tells why"
	case *events.EmailAPIComplaint:
		return who + " was reported as spam"
	case *events.EmailUnsubscribed:
		return who + " unsubscribed"
	case *events.EmailRejected:
		return fmt.Sprintf("%s was refused: %s", who, data.Reason)
	case *events.ContactRemoved:
		return fmt.Sprintf("%s left the list: %s", who, data.Contact.Status)
	default:
		return who
	}
}

// lookUp gets what the events do not contain: why emails bounced, and who
// complained. The platform allows one lookup per second; the client limits its
// rate.
func (t *tour) lookUp(ctx context.Context) error {
	var ids []string
	for _, ev := range t.receiver.received() {
		t.say("Received", "%-22s %s", ev.Name, describe(ev))
		switch ev.Data.(type) {
		case *events.EmailAPIBounce, *events.EmailAPIComplaint:
			ids = append(ids, ev.EmailID())
		}
	}
	for email, err := range t.Emails.GetAll(ctx, slices.Values(ids)) {
		if err != nil {
			return err
		}
		switch b := email.Bounce; {
		case b != nil:
			t.say("Looked up", "%s: %s bounce (%s), %s", email.To, b.Type, b.Category, b.DSNMessage)
		case email.ReportedAsSpam:
			t.say("Looked up", "%s: reported as spam", email.To)
		default:
			t.say("Looked up", "%s: %s", email.To, email.Status)
		}
	}
	return nil
}

// summarize prints the end of the tour.
func (t *tour) summarize() {
	received := map[events.Name]int{}
	for _, ev := range t.receiver.received() {
		received[ev.Name]++
	}
	fmt.Fprintln(t.out)
	t.say("Summary", "%d contacts imported, %d updated, %d rows rejected", t.counts.Imported, t.counts.Updated+t.counts.Accepted, t.counts.Rejected+int64(t.badRows))
	refused := 0
	for _, email := range t.sent {
		if email.Status == client.EmailStatusRejected || email.Status == client.EmailStatusError {
			refused++
		}
	}
	t.say("", "%d emails submitted, %d of them refused", len(t.sent), refused)
	t.say("", "%d events received and verified: %d bounced, %d complained, %d left the list", len(t.receiver.received()),
		received[events.NameEmailBounced], received[events.NameEmailReportedAsSpam], received[events.NameContactRemoved])
}
