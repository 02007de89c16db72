package client_test

import (
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
)

// TestImportKeepsOrderOfDuplicates: if an address occurs several times, its last
// row wins, even if batches are sent concurrently and an early batch is slow.
func TestImportKeepsOrderOfDuplicates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPlatform(t)
		defer p.Close()
		list, err := p.clean.Lists.Create(t.Context(), client.ListCreate{Name: "L"})
		fatal(t, err)
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
		fatal(t, err)
		ada, err := p.clean.Contacts.Find(t.Context(), list.ID, "ada@example.com")
		if err != nil || len(ada.CustomAttributes) != 1 || ada.CustomAttributes[0].Value != "35" {
			t.Errorf("%+v, %v; want the attributes of row 35", ada.CustomAttributes, err)
		}
	})
}

// TestImportKeepsUnsubscribedContacts: an import activates unsubscribed and pending contacts only with Resubscribe.
func TestImportKeepsUnsubscribedContacts(t *testing.T) {
	p := newPlatform(t)
	defer p.Close()
	ctx, c := t.Context(), p.clean
	list, err := c.Lists.Create(ctx, client.ListCreate{Name: "L"})
	fatal(t, err)
	fatal(t, c.Lists.AcceptPolicy(ctx, list.ID))
	left, err := c.Contacts.Create(ctx, list.ID, client.ContactCreate{Email: "left@example.com", Tags: []string{"vip"}, Interests: []string{"shoes"}})
	fatal(t, err)
	fatal(t, c.Contacts.Unsubscribe(ctx, list.ID, left.ID))
	pending, err := c.Contacts.Create(ctx, list.ID, client.ContactCreate{Email: "pending@example.com", DoubleOptIn: true})
	fatal(t, err)
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
