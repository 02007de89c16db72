package main

import (
	"context"
	"encoding/csv"
	"errors"
	"expvar"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mailroom"
	"example.com/emailplatform/webhook"
)

// signUp requests a confirmation email for the address. If the address is already known, this is a
// success too, so that signUp does not reveal it.
func (s *service) signUp(ctx context.Context, email string) error {
	if reason, err := s.room.Suppression(ctx, email); err != nil || reason != "" {
		return err
	}
	_, err := s.platform.Contacts.Create(ctx, s.listID, client.ContactCreate{Email: email, Resubscribe: true, DoubleOptIn: true})
	if errors.Is(err, client.ErrOutcomeUnknown) { // a list contains an address once, so repeating is safe
		_, err = s.platform.Contacts.Create(ctx, s.listID, client.ContactCreate{Email: email, Resubscribe: true, DoubleOptIn: true})
	}
	if errors.Is(err, client.ErrContactExists) {
		return nil
	}
	return err
}

// importContacts imports the rows of a CSV file. It does not activate contacts that have
// unsubscribed or have not confirmed yet, and skips rows with a status other than active. An error
// means that the import is incomplete, or that all rows were skipped or rejected.
func (s *service) importContacts(ctx context.Context, file io.Reader) (summary string, err error) {
	skipped := 0
	rows := client.ContactsFromCSV(file, client.CSVOptions{
		OnComma: func(comma rune) { slog.Info("separator detected", "comma", string(comma)) },
		OnBadRow: func(e *client.CSVError) error {
			skipped++
			slog.Warn("row skipped", "error", e)
			return nil
		},
	})
	var failed error // of the suppression list; the contact is then not sent
	report, err := s.platform.Contacts.Import(ctx, s.listID, rows, client.ImportOptions{
		Concurrency: 4,
		Filter: func(c client.ImportContact) bool {
			reason, err := s.room.Suppression(ctx, c.Email)
			if err != nil {
				failed = err
			}
			return reason == "" && err == nil
		},
		OnRejected: func(r client.ImportRejection) {
			slog.Warn("row rejected", "line", r.Contact.Line, "reason", r.Detail.Msg)
		},
	})
	done := report.Imported + report.Updated + report.Accepted
	s.counts.Add("contacts imported", done)
	summary = fmt.Sprintf("%d imported, %d suppressed, %d rejected, %d skipped", done, report.Filtered, report.Rejected, skipped)
	if err = errors.Join(err, failed); err == nil && done+report.Filtered == 0 && (report.Rejected > 0 || skipped > 0) {
		err = errors.New("no row was imported: " + summary)
	}
	return summary, err
}

// export writes the active contacts as CSV. A contact that stays active appears exactly once.
// export reads contacts of every status, because otherwise a contact that unsubscribes would move
// later contacts to an earlier page. Then export would miss one. An error means that the export is
// incomplete.
func (s *service) export(ctx context.Context, to io.Writer) error {
	w := csv.NewWriter(to)
	headers := []string{"email", "subscribed_on", "tags"}
	_ = w.Write(headers) // see w.Error
	for c, err := range s.platform.Contacts.All(ctx, s.listID, client.ListContactsParams{WithCount: true}, client.Prefetch(3)) {
		if err != nil {
			return err
		}
		if c.Status != events.ContactStatusActive {
			continue
		}
		_ = w.Write(client.CSVRow(c, headers...)) // a spreadsheet does not run its fields as formulas
	}
	w.Flush()
	return w.Error()
}

// confirm sends the confirmation of an order at most once, so you can call it again after an error.
// It returns before the email is sent; the method notice receives the outcome.
func (s *service) confirm(ctx context.Context, order, address string) error {
	return s.room.Enqueue(ctx, order, client.EmailSubmission{
		To:     address,
		Sender: s.sender,
		Content: client.EmailContent{
			Subject: "Your order {{order}}", Text: "Thank you for order {{order}}.", Type: client.EmailTypeTransactional,
		},
		CustomAttributes: client.Attributes{{Name: "order", Value: order}},
	})
}

// notice receives the outcome of each order's email, and bounces, complaints and
// unsubscriptions. Record these with the order or the customer, in the transaction that ctx
// carries.
func (s *service) notice(_ context.Context, n mailroom.Notice) error {
	s.counts.Add("notice "+string(n.Reason), 1)
	return nil
}

// publish sends an issue of the newsletter to all active contacts now, as a campaign. You can
// call publish again after an error, and from several processes at the same time, because at
// most one campaign with the name of the issue is sent. Several processes may create a
// campaign with this name, but all of them send only the oldest one. If the oldest campaign
// has another list or subject than the issue, publish returns an error.
func (s *service) publish(ctx context.Context, issue client.CampaignCreate) (c client.Campaign, err error) {
	c, err = s.platform.Campaigns.Find(ctx, issue.Name)
	if errors.Is(err, client.ErrNotFound) {
		issue.ListID, issue.Sender = s.listID, s.sender
		if c, err = s.platform.Campaigns.Create(ctx, issue); err == nil {
			c, err = s.platform.Campaigns.Find(ctx, issue.Name) // perhaps of another process
		}
	}
	switch {
	case err != nil:
		return c, err
	case c.ListID != s.listID || c.Content.Subject != issue.Content.Subject:
		return c, fmt.Errorf("campaign %d has the same name, %q, but another list or subject", c.ID, c.Name)
	case c.Status != client.CampaignStatusIncomplete:
		return c, nil
	}
	sent, err := s.platform.Campaigns.Send(ctx, c.ID)
	if errors.Is(err, client.ErrConflict) { // another process may have sent it
		if c, _ = s.platform.Campaigns.Get(ctx, c.ID); c.Status != "" && c.Status != client.CampaignStatusIncomplete {
			return c, nil
		}
	}
	return sent, err
}

// result waits until the campaign is sent, and returns its current event counts.
func (s *service) result(ctx context.Context, campaignID int64) (map[string]string, error) {
	if _, err := s.platform.Campaigns.Wait(ctx, campaignID, client.Campaign.Settled); err != nil {
		return nil, err
	}
	result := map[string]string{}
	s.counts.Do(func(kv expvar.KeyValue) {
		if event, ok := strings.CutPrefix(kv.Key, fmt.Sprintf("campaign %d ", campaignID)); ok {
			result[event] = kv.Value.String()
		}
	})
	return result, nil
}

// countDelivery counts deliveries by status, and the events of campaigns.
func (s *service) countDelivery(_ context.Context, o webhook.Outcome) {
	s.counts.Add(fmt.Sprintf("delivery %d", o.Status), 1)
	if o.Err != nil || o.Duplicate || o.Event.CampaignID().IsZero() {
		return
	}
	s.counts.Add(fmt.Sprintf("campaign %s %s", o.Event.CampaignID(), o.Event.Name), 1)
}
