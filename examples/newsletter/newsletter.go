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
	"os"
	"slices"
	"strings"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
)

// signUp has the platform ask for a confirmation. Whether an address is known
// already is for nobody to find out here, so that is a success as well.
func (s *service) signUp(ctx context.Context, email string) error {
	if s.isSuppressed(email) {
		return nil
	}
	_, err := s.platform.Contacts.Create(ctx, s.listID, client.ContactCreate{Email: email, Resubscribe: true, DoubleOptIn: true})
	if errors.Is(err, client.ErrOutcomeUnknown) { // an address is on a list once, so asking again does no harm
		_, err = s.platform.Contacts.Create(ctx, s.listID, client.ContactCreate{Email: email, Resubscribe: true, DoubleOptIn: true})
	}
	if errors.Is(err, client.ErrContactExists) {
		return nil
	}
	return err
}

// importNightly imports the contacts at three o'clock, every night.
func (s *service) importNightly(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Until(nextNight(time.Now()))):
		}
		if err := s.importContacts(ctx); err != nil {
			s.counts.Add("import failed", 1)
			slog.Error("import; the next night begins anew, and does nothing twice", "error", err)
		}
	}
}

// nextNight returns the next three o'clock. Some days have 23 hours, or 25.
func nextNight(now time.Time) time.Time {
	year, month, day := now.Date()
	if night := time.Date(year, month, day, 3, 0, 0, 0, now.Location()); night.After(now) {
		return night
	}
	return time.Date(year, month, day+1, 3, 0, 0, 0, now.Location())
}

// importContacts puts the rows of the file on the list. Nobody who has
// unsubscribed, or not confirmed yet, becomes active by it.
func (s *service) importContacts(ctx context.Context) error {
	file, err := os.Open(s.contacts)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // it was only read
	rows := client.ContactsFromCSV(file, client.CSVOptions{BadRow: func(e *client.CSVError) error {
		slog.Warn("row left out", "error", e)
		return nil
	}})
	report, err := s.platform.Contacts.Import(ctx, s.listID, rows, client.ImportOptions{
		Concurrency: 4,
		Filter:      func(c client.ImportContact) bool { return !s.isSuppressed(c.Email) },
		OnRejected: func(r client.ImportRejection) {
			slog.Warn("row rejected", "line", r.Contact.Line, "reason", r.Detail.Msg)
		},
	})
	s.counts.Add("contacts imported", report.Imported+report.Updated+report.Accepted)
	return err
}

// export writes who is active, as CSV. An error means that some are missing.
func (s *service) export(ctx context.Context, to io.Writer) error {
	w := csv.NewWriter(to)
	params := client.ListContactsParams{Filter: "status:active", PerPage: 100}
	for c, err := range s.platform.Contacts.All(ctx, s.listID, params, client.Prefetch(3)) {
		if err != nil {
			return err
		}
		_ = w.Write([]string{c.Email, fmt.Sprint(c.SubscribedOn), strings.Join(c.Tags, ";")}) // w.Error tells
	}
	w.Flush()
	return w.Error()
}

var errSuppressed = errors.New("the address does not want email, or does not exist")

// confirm sends the confirmation of an order, once. After an ErrOutcomeUnknown
// it is not sent again: examples/unknown-outcome finds out what became of it.
func (s *service) confirm(ctx context.Context, order, address string) error {
	if s.isSuppressed(address) {
		return errSuppressed
	}
	if _, tried := s.orders.LoadOrStore(order, ""); tried {
		return nil
	}
	email, err := s.platform.Emails.Send(ctx, client.EmailSubmission{
		Email:  address,
		Sender: s.sender,
		Content: client.EmailContent{
			Subject: "Your order {{order}}", Text: "Thank you for order {{order}}.", Type: client.EmailTypeTransactional,
		},
		CustomAttributes: map[string]string{"order": order},
	})
	switch {
	case err == nil:
		s.orders.Store(order, email.ID)
	case !errors.Is(err, client.ErrOutcomeUnknown): // certainly not sent
		s.orders.Delete(order)
	}
	return err
}

// publish sends an issue to all active contacts, now. An issue goes by its
// name: publishing it again, as after an error, goes on where that came to.
func (s *service) publish(ctx context.Context, issue client.CampaignCreate) (c client.Campaign, err error) {
	for c, err = range s.platform.Campaigns.All(ctx, client.ListCampaignsParams{PerPage: 100}) {
		if err != nil || c.Name == issue.Name {
			break
		}
	}
	if err == nil && (c.CampaignID == 0 || c.Name != issue.Name) {
		issue.ListID, issue.Sender = s.listID, s.sender
		c, err = s.platform.Campaigns.Create(ctx, issue)
	}
	if err != nil || c.Status != client.CampaignIncomplete {
		return c, err
	}
	return s.platform.Campaigns.Send(ctx, c.CampaignID)
}

// result waits until a campaign is sent, and counts its events so far, by name.
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

// handle gets each event once. What takes a lookup is noted for later.
func (s *service) handle(_ context.Context, ev *events.Event) error {
	if id := ev.CampaignID(); !id.IsZero() {
		s.counts.Add(fmt.Sprintf("campaign %s %s", id, ev.Name), 1)
	}
	bounce, told := ev.Bounce()
	complaint := ev.Name == events.NameEmailReportedAsSpam
	switch address, id := ev.Recipient(), ev.EmailID(); {
	case address != "" && (bounce.Category.Hard() || complaint || ev.Name == events.NameSuppressedEmailAdded):
		s.suppress(address)
	case id != "" && (ev.Name == events.NameEmailBounced && !told || complaint): // the Email API's do not say why, or who
		s.lookups.Store(id, nil)
		select {
		case s.more <- struct{}{}:
		default: // whoever takes the value that is there sees all
		}
	}
	return nil
}

// suppress has nothing sent to an address any more.
func (s *service) suppress(address string) { s.suppressed.Store(strings.ToLower(address), nil) }

func (s *service) isSuppressed(address string) bool {
	address = strings.ToLower(address)
	local, domain, _ := strings.Cut(address, "@")
	return slices.ContainsFunc([]string{address, "*@" + domain, local + "@*"}, func(entry string) bool {
		_, found := s.suppressed.Load(entry)
		return found
	})
}

// lookUp looks emails up until ctx ends, one a second, as the platform allows.
func (s *service) lookUp(ctx context.Context) error {
	for email, err := range s.platform.Emails.GetAll(ctx, s.queue(ctx)) {
		switch {
		case errors.Is(err, client.ErrNotFound): // another account's, perhaps
		case err != nil:
			slog.Warn("lookup; it is tried again", "error", err)
			continue
		case email.ReportedAsSpam, email.Bounce != nil && email.Bounce.Hard():
			s.suppress(email.Email)
		}
		s.lookups.Delete(email.ID)
	}
	return nil
}

// queue yields ids to be looked up. What failed comes again after a minute.
func (s *service) queue(ctx context.Context) iter.Seq[string] {
	return func(yield func(string) bool) {
		for {
			for id := range s.lookups.Range {
				if !yield(id.(string)) {
					return
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-s.more:
			case <-time.After(time.Minute):
			}
		}
	}
}
