package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"slices"
	"strings"
	"time"
	"unicode"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

// sendTo is the number of contacts that get an email.
const sendTo = 6

// tour contains the data that the steps of the program share.
type tour struct {
	*client.Client
	mock        *mockserver.Server // nil for a server elsewhere; it can simulate recipient actions
	receiver    *httptest.Server   // listens from the start, and serves after createWebhook
	receiverURL string             // where the platform reaches the receiver; empty is its own address
	arrived     chan *events.Event
	out         io.Writer

	list    client.List
	counts  client.ImportCounts
	badRows int // of the file, that were not even sent
	sent    []client.SubmittedEmail
	events  []*events.Event
}

// say prints a line about a step. It replaces control characters, because the text may come from the platform.
func (t *tour) say(step, format string, args ...any) {
	fmt.Fprintf(t.out, "%-12s %s\n", step, strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, fmt.Sprintf(format, args...)))
}

func (t *tour) run(ctx context.Context, file string) error {
	steps := []struct {
		what string
		do   func(context.Context) error
	}{
		{"creating a list", t.createList},
		{"importing contacts", func(ctx context.Context) error { return t.importContacts(ctx, file) }},
		{"creating a webhook", t.createWebhook},
		{"sending emails", t.sendEmails},
		{"simulating recipients", t.simulateRecipients},
		{"unsubscribing a contact", t.unsubscribe},
		{"receiving events", t.receiveEvents},
		{"looking emails up", t.lookUp},
	}
	for _, step := range steps {
		if err := step.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.what, err)
		}
	}
	t.summarize()
	return nil
}

// createList creates a list and accepts its anti-spam policy, which is required for
// sending.
func (t *tour) createList(ctx context.Context) (err error) {
	t.list, err = t.Lists.Create(ctx, client.ListCreate{Name: "Quickstart"})
	if err != nil {
		return err
	}
	t.say("List", "%d %q; anti-spam policy accepted", t.list.ID, t.list.Name)
	return t.Lists.AcceptPolicy(ctx, t.list.ID)
}

// createWebhook subscribes the receiver to events about recipients. The receiver
// verifies and deduplicates deliveries.
func (t *tour) createWebhook(ctx context.Context) error {
	url := cmp.Or(t.receiverURL, "http://"+t.receiver.Listener.Addr().String()+"/events")
	hook, err := t.Webhooks.Create(ctx, client.WebhookCreate{
		URL: url,
		Events: []events.Name{
			events.NameEmailBounced, events.NameEmailReportedAsSpam, events.NameEmailRejected,
			events.NameEmailUnsubscribed, events.NameContactRemoved,
		},
	})
	if err != nil {
		return err
	}
	t.say("Webhook", "%s delivers to %s", hook.ID, url)
	secret, err := webhook.ParseSecret(hook.Secret.Reveal(), hook.HashFunction)
	if err != nil {
		return err
	}
	verifier, err := webhook.NewVerifier(secret)
	if err != nil {
		return err
	}
	t.receiver.Config.Handler = webhook.NewHandler(verifier, func(ctx context.Context, ev *events.Event) error {
		select {
		case t.arrived <- ev:
			return nil
		case <-ctx.Done():
			return ctx.Err() // the platform delivers the event again
		}
	}, webhook.Options{})
	t.receiver.Start()
	return nil
}

// sendEmails creates a template and sends it to the first contacts of the list.
func (t *tour) sendEmails(ctx context.Context) error {
	template, err := t.Templates.Create(ctx, client.TemplateCreate{
		Name: "Quickstart: order shipped",
		Content: client.TemplateContent{
			HTML: "<h1>Hello {{first_name}}</h1><p>Your order {{order}} is on its way.</p>",
			Text: "Hello {{first_name}}, your order {{order}} is on its way.",
		},
	})
	if err != nil {
		return err
	}
	t.say("Template", "%d %q", template.ID, template.Name)
	params := client.ListContactsParams{Filter: "status:active", PerPage: sendTo}
	for contact, err := range t.Contacts.All(ctx, t.list.ID, params) {
		if err != nil {
			return err
		}
		email, err := t.Emails.Send(ctx, client.EmailSubmission{
			To:     contact.Email,
			ListID: t.list.ID,
			Sender: client.Sender{Name: "Example Shop", Email: "orders@shop.example"},
			Content: client.EmailContent{
				Subject:    "Your order {{order}}",
				TemplateID: template.ID,
				Type:       client.EmailTypeTransactional,
			},
			CustomAttributes: client.Attributes{{Name: "order", Value: fmt.Sprintf("A-%d", 1001+len(t.sent))}},
		})
		if err != nil && !errors.Is(err, client.ErrNotQueued) {
			return err
		}
		if t.sent = append(t.sent, email); len(t.sent) == sendTo {
			break
		}
	}
	t.say("Sent", "personalized emails: %d", len(t.sent))
	return nil
}

// simulateRecipients simulates what recipients do with the emails.
func (t *tour) simulateRecipients(context.Context) error {
	if t.mock == nil {
		t.say("Recipients", "not simulated on a real platform")
		return nil
	}
	acts := []struct {
		what string
		do   func(emailID string) error
	}{
		{"bounces hard", func(id string) error { return t.mock.Bounce(id, mockserver.HardBounce) }},
		{"has a full mailbox", func(id string) error { return t.mock.Bounce(id, events.BounceCategoryMailboxFull) }},
		{"reports spam", func(id string) error { return t.mock.Complain(id, "mailbox.example") }},
		{"unsubscribes", t.mock.Unsubscribe},
		{"opens the email", t.mock.Open},
	}
	for i, act := range acts[:min(len(acts), len(t.sent))] {
		t.say("Recipient", "%s %s", t.sent[i].To, act.what)
		if err := act.do(t.sent[i].ID); err != nil {
			return err
		}
	}
	return nil
}

// unsubscribe unsubscribes the last recipient through the API.
func (t *tour) unsubscribe(ctx context.Context) error {
	if len(t.sent) == 0 {
		return nil
	}
	contact, err := t.Contacts.Find(ctx, t.list.ID, t.sent[len(t.sent)-1].To)
	if err != nil {
		return err
	}
	t.say("Unsubscribed", "%s, by the API", contact.Email)
	return t.Contacts.Unsubscribe(ctx, t.list.ID, contact.ID)
}

// receiveEvents waits for the event that unsubscribe causes. With the mock server, it waits until all events are
// delivered.
func (t *tour) receiveEvents(ctx context.Context) error {
	if t.mock != nil {
		if err := t.mock.Wait(ctx); err != nil {
			return err
		}
	}
	const limit = 10 * time.Second
	timeout := time.After(limit)
	for removed := len(t.sent) == 0; !removed || len(t.arrived) > 0; {
		select {
		case ev := <-t.arrived:
			t.say("Received", "%-22s %s", ev.Name, describe(ev))
			t.events = append(t.events, ev)
			removed = removed || ev.Name == events.NameContactRemoved
		case <-timeout:
			t.say("Received", "no event of the unsubscribed contact within %v; check that the platform can reach the receiver, or set -receiver-url", limit)
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// describe returns a one-line description of an event. Not every payload contains the recipient: if an email of
// the Email API without a list contact bounces, the event has only the email's id, and never the reason.
func describe(ev *events.Event) string {
	who := ev.Recipient()
	if who == "" {
		who = "email " + ev.EmailID()
	}
	switch data := ev.Data.(type) {
	case *events.EmailAPIBounce:
		return who + " bounced"
	case *events.EmailAPIComplaint:
		return who + " was reported as spam"
	case *events.EmailUnsubscribed:
		return who + " unsubscribed"
	case *events.EmailRejected:
		return fmt.Sprintf("%s was rejected: %s", who, data.Reason)
	case *events.ContactRemoved:
		return fmt.Sprintf("%s left the list: %s", who, data.Contact.Status)
	default:
		return who
	}
}

// lookUp looks up data that the events do not contain: the reasons of bounces and the recipients who complained.
// It takes one second per email, because the client keeps within the platform's rate limit.
func (t *tour) lookUp(ctx context.Context) error {
	var ids []string
	for _, ev := range t.events {
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

// summarize prints the results.
func (t *tour) summarize() {
	received := map[events.Name]int{}
	for _, ev := range t.events {
		received[ev.Name]++
	}
	fmt.Fprintln(t.out)
	t.say("Summary", "contacts: %d imported, %d updated, %d rejected", t.counts.Imported, t.counts.Updated+t.counts.Accepted, t.counts.Rejected+int64(t.badRows))
	rejected := 0
	for _, email := range t.sent {
		if email.Status == client.EmailStatusRejected || email.Status == client.EmailStatusError {
			rejected++
		}
	}
	t.say("", "emails: %d submitted, %d rejected", len(t.sent), rejected)
	t.say("", "events: %d received and verified, %d bounced, %d complained, %d left the list", len(t.events),
		received[events.NameEmailBounced], received[events.NameEmailReportedAsSpam], received[events.NameContactRemoved])
}
