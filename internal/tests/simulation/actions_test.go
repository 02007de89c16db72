package simulation

import (
	"context"
	"errors"
	"fmt"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

func (a Send) act(w *world, id string) {
	c := w.callers[a.From]
	to := id + "@example.org"
	if a.Contact > 0 && len(w.exported.emails) > 0 {
		to = w.exported.emails[(a.Contact-1)%len(w.exported.emails)]
	}
	var got client.SubmittedEmail
	d := c.do(id, "sends to "+to, func(ctx context.Context, api *client.Client) (err error) {
		sender := client.Sender{Email: "shop@example.com"}
		if a.Legacy {
			var receipt client.TransactionalReceipt
			receipt, err = api.Emails.SendLegacy(ctx, client.TransactionalSubmission{ //nolint:staticcheck // it must not send twice either
				Email: to, Sender: sender, Content: client.MessageContent{Subject: id, Text: "Hello"},
			})
			got.ID = receipt.ID
			return err
		}
		got, err = api.Emails.Send(ctx, client.EmailSubmission{
			Email: to, Sender: sender, Content: client.EmailContent{Subject: id, Text: "Hello"},
		})
		return err
	}, func(d *call) {
		if got.ID != "" && !a.Legacy {
			c.knows(got.ID)
		}
		if d.err == nil && got.ID == "" {
			w.violate(nilIsComplete, "%s: no id", id)
		}
	})
	w.record.inTheEnd(func(s *state) { w.checkSent(d, id, got, s.outbox[id]) })
}

// checkSent holds the outbox against what the caller was told.
func (w *world) checkSent(d *call, id string, told client.SubmittedEmail, sent []mockserver.Message) {
	w.checkDone(d, len(sent), told.Status == client.EmailRejected || told.Status == client.EmailError || told.Status == "")
	if d.heard() && d.err == nil && len(sent) == 1 && told.ID != "" && told.ID != sent[0].ID {
		w.violate(nilIsComplete, "%s: told the id %s, sent as %s", id, told.ID, sent[0].ID)
	}
}

// checkDone holds what was done n times against what the caller was told: a call
// that must not be repeated. maybeNot says that nil does not mean that it was done.
func (w *world) checkDone(d *call, n int, maybeNot bool) {
	switch {
	case d != nil && n > 1:
		w.violate(neverTwice, "%s %s: done %d times, told %v", d.id, d.what, n, d.err)
	case !d.heard() || errors.Is(d.err, client.ErrOutcomeUnknown):
	case d.err == nil && n == 0 && !maybeNot:
		w.violate(nilIsDone, "%s %s: was not done", d.id, d.what)
	case d.err != nil && n > 0:
		w.violate(failedDidNothing, "%s %s: was done, told %v", d.id, d.what, d.err)
	}
}

func (a React) act(w *world, id string) {
	srv := w.platform.now()
	sent := srv.Outbox()
	if len(sent) == 0 || !w.platform.proc.isUp() {
		return
	}
	m := sent[len(sent)-1].ID
	react := map[Reaction]func(string) error{
		Bounces:      func(m string) error { return srv.Bounce(m, mockserver.HardBounce) },
		Complains:    func(m string) error { return srv.Complain(m, "mailbox") },
		Opens:        srv.Open,
		Leaves:       srv.Unsubscribe,
		LeavesForAll: srv.GlobalUnsubscribe,
	}[a.How]
	w.trace.add("recipient", "%s of %s: %v", id, m, react(m))
}

func (a Lookup) act(w *world, id string) {
	c := w.callers[a.From]
	email := c.newest()
	if email == "" {
		return
	}
	var got client.Email
	c.await(id, "looks up "+email, func(ctx context.Context, api *client.Client) (err error) {
		got, err = api.Emails.Get(ctx, email)
		return err
	}, func(d *call) {
		if d.err == nil && got.ID != email {
			w.violate(nilIsComplete, "%s: the id is %q, want %q", id, got.ID, email)
		}
	})
}

func (a Create) act(w *world, id string) {
	c := w.callers[a.From]
	name := id
	switch a.What {
	case OfContact, OfSuppression:
		name += "@example.org"
	case OfWebhook:
		name = "https://" + receiverHost + "/" + id
	}
	var told string
	d := c.do(id, "creates a "+string(a.What), func(ctx context.Context, api *client.Client) (err error) {
		told, err = w.create(ctx, api, a.What, name)
		return err
	}, nil)
	w.record.inTheEnd(func(s *state) {
		made := s.names[a.What][name]
		w.checkDone(d, len(made), false)
		if d.heard() && d.err == nil && len(made) == 1 && told != made[0] {
			w.violate(nilIsComplete, "%s: told the id %q, made as %q", id, told, made[0])
		}
	})
}

// create makes something, and returns its id.
func (w *world) create(ctx context.Context, api *client.Client, what Kind, name string) (id string, err error) {
	switch what {
	case OfList:
		v, e := api.Lists.Create(ctx, client.ListCreate{Name: name})
		id, err = fmt.Sprint(v.ListID), e
	case OfTemplate:
		v, e := api.Templates.Create(ctx, client.TemplateCreate{Name: name, Content: client.TemplateContent{HTML: "<p>x</p>"}})
		id, err = fmt.Sprint(v.TemplateID), e
	case OfCampaign:
		v, e := api.Campaigns.Create(ctx, client.CampaignCreate{Name: name})
		id, err = fmt.Sprint(v.CampaignID), e
	case OfWorkflow:
		v, e := api.Workflows.Create(ctx, client.WorkflowCreate{
			Name: name, ListID: w.exported.madeFor, Trigger: "subscribed",
			Sender: client.Sender{Email: "shop@example.com"}, Content: client.MessageContent{Subject: "Hello", Text: "x"},
		})
		id, err = fmt.Sprint(v.WorkflowID), e
	case OfWebhook:
		v, e := api.Webhooks.Create(ctx, client.WebhookCreate{URL: name, Events: []client.EventName{"Campaign.Scheduled"}})
		id, err = fmt.Sprint(v.WebhookID), e
	case OfContact:
		v, e := api.Contacts.Create(ctx, w.exported.madeFor, client.ContactCreate{Email: name})
		id, err = fmt.Sprint(v.ID), e
	case OfSuppression:
		v, e := api.SuppressedEmails.Add(ctx, name)
		id, err = v.Email, e
	}
	return id, err
}

func (a Export) act(w *world, id string) {
	c := w.callers[a.From]
	c.await(id, "reads a list", func(ctx context.Context, api *client.Client) error {
		n := 0
		want := w.exported
		for got, err := range api.Contacts.All(ctx, want.listID, client.ListContactsParams{PerPage: int64(a.PerPage)}, client.Prefetch(a.Prefetch)) {
			switch {
			case err != nil:
				return err
			case n == len(want.emails):
				w.violate(listsWhole, "%s: more than the %d contacts: %+v", id, n, got)
				return nil
			case got.ID != want.ids[n] || got.Email != want.emails[n]:
				w.violate(nilIsComplete, "%s: contact %d is %+v, want %d %s", id, n, got, want.ids[n], want.emails[n])
			}
			n++
		}
		if n != len(want.emails) {
			w.violate(listsWhole, "%s: %d of %d contacts without an error", id, n, len(want.emails))
		}
		return nil
	}, nil)
}
