package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// TestImportSurvives loses the connection before, during and after each of 25
// batches, kills the import at that, and resumes it from its checkpoint.
func TestImportSurvives(t *testing.T) {
	t.Parallel()
	const batches, size = 25, 4
	for name, f := range map[string]mockserver.Fault{
		"before":    {Action: mockserver.FaultReset},
		"during":    {Action: mockserver.FaultTruncate},
		"after":     {Action: mockserver.FaultReset, AfterProcessing: true},
		"by status": {Action: mockserver.FaultStatus, Status: 502, AfterProcessing: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPlatform(t)
				defer p.Close()
				for at := 1; at <= batches; at++ {
					f.Operation, f.Nth = "importContacts", at
					if _, err := p.Inject(f); err != nil {
						t.Fatal(err)
					}
					importTwice(t, p, batches*size, size)
					p.ClearFaults()
				}
			})
		})
	}
}

// importTwice imports n contacts, of which the platform rejects one in ten, to
// a new list, the second time from the checkpoint of the first.
func importTwice(t *testing.T, p *platform, n, size int) {
	t.Helper()
	ctx := t.Context()
	list, err := p.clean.Lists.Create(ctx, client.ListCreate{Name: "L"})
	if err != nil {
		t.Fatal(err)
	}
	contacts := make([]client.ImportContact, n)
	for i := range contacts {
		contacts[i].Email = fmt.Sprintf("c%d@example.com", i)
		if i%10 == 9 {
			contacts[i].Email = "nobody"
		}
	}
	c := p.client(client.Config{Retry: client.RetryConfig{MaxAttempts: 1}})
	checkpoint := int64(0)
	opts := client.ImportOptions{BatchSize: size, OnCheckpoint: func(n int64) error { checkpoint = n; return nil }}
	first, err := c.Contacts.Import(ctx, list.ID, client.ContactsFromSlice(contacts), opts)
	if !errors.Is(err, client.ErrOutcomeUnknown) {
		t.Fatalf("the first import: %v", err)
	}
	opts.Skip, opts.OnCheckpoint = checkpoint, nil
	second, err := c.Contacts.Import(ctx, list.ID, client.ContactsFromSlice(contacts), opts)
	if err != nil {
		t.Fatalf("the second import: %v", err)
	}
	var rejected []int64
	for _, r := range append(first.Rejections, second.Rejections...) {
		rejected = append(rejected, r.Index)
	}
	slices.Sort(rejected)
	if len(rejected) != n/10 || len(slices.Compact(rejected)) != n/10 {
		t.Errorf("rejections %v, want each of %d once", rejected, n/10)
	}
	if told := first.Imported + first.Updated + second.Imported + second.Updated; told != int64(n-n/10) {
		t.Errorf("%d were told to be on the list, want %d", told, n-n/10)
	}
	if on := contactsOn(t, p, list.ID); on != n-n/10 {
		t.Errorf("%d are on the list, want %d", on, n-n/10)
	}
}

func contactsOn(t *testing.T, p *platform, listID int64) int {
	t.Helper()
	page, err := p.clean.Contacts.List(t.Context(), listID, client.ListContactsParams{WithCount: true})
	if err != nil {
		t.Fatal(err)
	}
	return int(page.Pagination.Count)
}

// TestImportIsRetried needs no resuming when what fails passes. No contact was
// on the list before, so none may count as updated.
func TestImportIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlatform(t)
		defer p.Close()
		list, err := p.clean.Lists.Create(t.Context(), client.ListCreate{Name: "L"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Inject(
			mockserver.Fault{Operation: "importContacts", Action: mockserver.FaultReset, AfterProcessing: true, Every: 3},
			mockserver.Fault{Operation: "importContacts", Action: mockserver.FaultStatus, Status: 429, RetryAfter: "30", Every: 5},
		); err != nil {
			t.Fatal(err)
		}
		contacts := make([]client.ImportContact, 300)
		for i := range contacts {
			contacts[i].Email = fmt.Sprintf("c%d@example.com", i)
		}
		report, err := p.client(client.Config{}).Contacts.Import(t.Context(), list.ID, client.ContactsFromSlice(contacts), client.ImportOptions{BatchSize: 10})
		if err != nil || report.Confirmed != 300 || report.Imported+report.Accepted != 300 || report.Accepted == 0 {
			t.Errorf("%v, %+v", err, report)
		}
	})
}

// TestImportKeepsTheOrderOfDuplicates: if an address occurs several times, its last
// row wins, even if batches are sent concurrently and an early batch is slow.
func TestImportKeepsTheOrderOfDuplicates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlatform(t)
		defer p.Close()
		list, err := p.clean.Lists.Create(t.Context(), client.ListCreate{Name: "L"})
		if err != nil {
			t.Fatal(err)
		}
		contacts := make([]client.ImportContact, 40)
		for i := range contacts {
			contacts[i].Email = fmt.Sprintf("c%d@example.com", i)
			if i%10 == 5 { // once per batch
				contacts[i].Email = []string{"Ada@example.com", "ada@EXAMPLE.com"}[i/10%2]
			}
			contacts[i].CustomAttributes = []client.CustomAttribute{{Name: "row", Value: fmt.Sprint(i)}}
		}
		var sent atomic.Int64
		c := p.client(client.Config{HTTPClient: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			time.Sleep(time.Minute / time.Duration(sent.Add(1)) / 10)
			return p.Transport().RoundTrip(r)
		})}})
		_, err = c.Contacts.Import(t.Context(), list.ID, client.ContactsFromSlice(contacts), client.ImportOptions{BatchSize: 10, Concurrency: 4})
		if err != nil {
			t.Fatal(err)
		}
		ada, err := p.clean.Contacts.Find(t.Context(), list.ID, "ada@example.com")
		if err != nil || len(ada.CustomAttributes) != 1 || ada.CustomAttributes[0].Value != "35" {
			t.Errorf("%+v, %v; want the attributes of row 35", ada.CustomAttributes, err)
		}
	})
}

// TestImportCancelledOnPlatform leaves what was under way unknown.
func TestImportCancelledOnPlatform(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlatform(t)
		defer p.Close()
		list, err := p.clean.Lists.Create(t.Context(), client.ListCreate{Name: "L"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := p.client(client.Config{HTTPClient: &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
			defer cancel() // when the platform has answered, and before the client knows
			return p.Transport().RoundTrip(r)
		})}})
		report, err := c.Contacts.Import(ctx, list.ID, client.ContactsFromSlice(make([]client.ImportContact, 10)), client.ImportOptions{BatchSize: 5})
		if !errors.Is(err, context.Canceled) || report.Complete || report.Status(9) != client.ImportNotSent {
			t.Errorf("%v, %+v", err, report)
		}
	})
}

// TestImportRespectsPeople imports everybody again, after some have left.
func TestImportRespectsPeople(t *testing.T) {
	p := newPlatform(t)
	defer p.Close()
	ctx, c := t.Context(), p.clean
	list, err := c.Lists.Create(ctx, client.ListCreate{Name: "L"})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Lists.AcceptPolicy(ctx, list.ID); err != nil {
		t.Fatal(err)
	}
	left, err := c.Contacts.Create(ctx, list.ID, client.ContactCreate{Email: "left@example.com", Tags: []string{"vip"}, Interests: []string{"shoes"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Contacts.Unsubscribe(ctx, list.ID, left.ID); err != nil {
		t.Fatal(err)
	}
	pending, err := c.Contacts.Create(ctx, list.ID, client.ContactCreate{Email: "pending@example.com", DoubleOptIn: true})
	if err != nil {
		t.Fatal(err)
	}
	everybody := client.ContactsFromAddresses(slices.Values([]string{"new@example.com", "left@example.com", "pending@example.com"}))
	statuses := func(want ...events.ContactStatus) {
		t.Helper()
		for i, id := range []int64{left.ID, pending.ID} {
			got, err := c.Contacts.Get(ctx, list.ID, id)
			if err != nil || got.Status != want[i] {
				t.Errorf("%s is %s, %v; want %s", got.Email, got.Status, err, want[i])
			}
			if id == left.ID && (!slices.Equal(got.Tags, left.Tags) || !slices.Equal(got.Interests, left.Interests)) {
				t.Errorf("tags %v and interests %v are left", got.Tags, got.Interests)
			}
		}
	}
	report, err := c.Contacts.Import(ctx, list.ID, everybody, client.ImportOptions{})
	if err != nil || report.Imported != 1 || report.Updated != 2 {
		t.Errorf("%v, %+v", err, report)
	}
	statuses(events.ContactStatusUnsubscribed, events.ContactStatusPending)
	if _, err := c.Contacts.Create(ctx, list.ID, client.ContactCreate{Email: "left@example.com"}); !errors.Is(err, client.ErrContactExists) {
		t.Errorf("Create: %v", err)
	}
	statuses(events.ContactStatusUnsubscribed, events.ContactStatusPending)
	if _, err := c.Contacts.Import(ctx, list.ID, everybody, client.ImportOptions{Resubscribe: true}); err != nil {
		t.Error(err)
	}
	statuses(events.ContactStatusActive, events.ContactStatusActive)
}
