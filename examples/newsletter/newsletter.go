package main

import (
	"context"
	"encoding/csv"
	"errors"
	"expvar"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
)

// signUp requests a confirmation email for the address. It does not reveal
// whether the address is already known, so that case is a success too.
func (s *service) signUp(ctx context.Context, email string) error {
	if s.isSuppressed(email) {
		return nil
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

// importContacts imports the rows of a CSV file. The import does not activate
// contacts that have unsubscribed or have not confirmed yet. Rows with a
// status other than active are skipped. An error means that the import is incomplete, or
// that all rows were skipped or rejected.
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
	report, err := s.platform.Contacts.Import(ctx, s.listID, rows, client.ImportOptions{
		Concurrency: 4,
		Filter:      func(c client.ImportContact) bool { return !s.isSuppressed(c.Email) },
		OnRejected: func(r client.ImportRejection) {
			slog.Warn("row rejected", "line", r.Contact.Line, "reason", r.Detail.Msg)
		},
	})
	done := report.Imported + report.Updated + report.Accepted
	s.counts.Add("contacts imported", done)
	summary = fmt.Sprintf("%d imported, %d suppressed, %d rejected, %d skipped", done, report.Filtered, report.Rejected, skipped)
	if err == nil && done+report.Filtered == 0 && (report.Rejected > 0 || skipped > 0) {
		err = errors.New("no row was imported: " + summary)
	}
	return summary, err
}

// export writes the active contacts as CSV. It does not filter by status,
// because unsubscribed contacts stay on the list. So it writes each contact that stays
// active exactly once. An error means that the export is incomplete.
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

var errSuppressed = errors.New("the address does not want email, or does not exist")

// confirm sends the confirmation of an order at most once. After
// ErrOutcomeUnknown it does not send again; examples/unknown-outcome finds out
// whether the email was sent. After any other error, which includes
// ErrNotQueued, nothing was sent and confirm can be called again.
func (s *service) confirm(ctx context.Context, order, address string) error {
	if s.isSuppressed(address) {
		return errSuppressed
	}
	if _, tried := s.orders.LoadOrStore(order, ""); tried {
		return nil
	}
	email, err := s.platform.Emails.Send(ctx, client.EmailSubmission{
		To:     address,
		ListID: s.ordersID,
		Sender: s.sender,
		Content: client.EmailContent{
			Subject: "Your order {{order}}", Text: "Thank you for order {{order}}.", Type: client.EmailTypeTransactional,
		},
		CustomAttributes: client.Attributes{{Name: "order", Value: order}},
	})
	switch {
	case err == nil:
		s.orders.Store(order, email.ID)
	case !errors.Is(err, client.ErrOutcomeUnknown): // certainly not sent
		s.orders.Delete(order)
	}
	return err
}

// publish sends an issue to all active contacts now, at most once for each name. It
// can be called again after an error, and by several processes at the same time:
// after creating a campaign, each looks for the oldest one and sends that. Another
// campaign with this name is an error.
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

// handle gets each event once, and queues lookups.
func (s *service) handle(_ context.Context, ev *events.Event) error {
	if id := ev.CampaignID(); !id.IsZero() {
		s.counts.Add(fmt.Sprintf("campaign %s %s", id, ev.Name), 1)
	}
	bounce, hasBounce := ev.Bounce()
	complaint := ev.Name == events.NameEmailReportedAsSpam
	switch address, id := ev.Recipient(), ev.EmailID(); {
	case address != "" && (bounce.Category.Hard() || complaint || ev.Name == events.NameSuppressedEmailAdded):
		s.suppress(address)
	case id != "" && (ev.Name == events.NameEmailBounced && !hasBounce || complaint): // Email API events lack the reason or the address
		s.lookups.Store(id, false)
	}
	return nil
}

// suppress stops all further email to an address.
func (s *service) suppress(address string) { s.suppressed.Store(strings.ToLower(address), nil) }

func (s *service) isSuppressed(address string) bool {
	address = strings.ToLower(address)
	local, domain, _ := strings.Cut(address, "@")
	return slices.ContainsFunc([]string{address, "*@" + domain, local + "@*"}, func(entry string) bool {
		_, found := s.suppressed.Load(entry)
		return found
	})
}

// lookUp looks up emails until ctx ends. The platform allows one per second.
func (s *service) lookUp(ctx context.Context) error {
	for email, err := range s.platform.Emails.GetAll(ctx, s.queue(ctx)) {
		switch {
		case errors.Is(err, client.ErrNotFound): // perhaps another account's email
		case err != nil:
			slog.Warn("lookup failed; retrying later", "error", err)
			continue
		case email.ReportedAsSpam, email.Bounce != nil && email.Bounce.Hard():
			s.suppress(email.To)
		}
		s.lookups.CompareAndDelete(email.ID, true) // unless handle has queued it again
	}
	return nil
}

// queue yields the ids to look up. Once per minute it yields the ids that handle has
// added and those whose lookup failed.
func (s *service) queue(ctx context.Context) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			for id := range s.lookups.Range {
				s.lookups.Store(id, true)
				if !yield(id.(string)) {
					return
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(time.Minute):
			}
		}
	}
}
