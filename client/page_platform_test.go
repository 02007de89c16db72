package client_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// TestAllWhileContactsLeave: without a filter, each contact that stays on the list is returned once while others
// leave or join. With a filter, the client detects that contacts left.
func TestAllWhileContactsLeave(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		filter string
		want   error
	}{"no filter": {"", nil}, "filter": {"status:active", client.ErrListChanged}} {
		for _, depth := range []int{0, 3} {
			p := mockserver.New(mockserver.Config{})
			c, err := client.New(client.Config{BaseURL: p.URL(), Token: p.Token(), HTTPClient: p.HTTPClient()})
			fatal(t, err)
			list := contactsOf(t, c, 0, 1000)
			changed := false
			ctx := client.WithResponseHook(t.Context(), func(r client.Response) {
				if changed || r.Op != "listContacts" {
					return
				}
				changed = true
				leave(t, c, list)
				contactsOf(t, c, list, 30)
			})
			seen := map[string]int{}
			for contact, e := range c.Contacts.All(ctx, list, client.ListContactsParams{Filter: tc.filter}, client.Prefetch(depth)) {
				if err = e; e == nil {
					seen[contact.Email]++
				}
			}
			if !errors.Is(err, tc.want) || (err == nil) != (tc.want == nil) {
				t.Errorf("%s, Prefetch(%d): %v, want %v", name, depth, err, tc.want)
			}
			for i := range 1000 {
				if n := seen[fmt.Sprintf("r%04d.0@example.org", i)]; n != 1 && tc.filter == "" {
					t.Errorf("%s, Prefetch(%d): contact %d was yielded %d times", name, depth, i, n)
				}
			}
			p.Close()
		}
	}
}

// contactsOf adds n contacts to a list, or to a new one, and returns its id.
func contactsOf(t *testing.T, c *client.Client, list int64, n int) int64 {
	t.Helper()
	first := list == 0
	if first {
		l, err := c.Lists.Create(t.Context(), client.ListCreate{Name: "Readers"})
		fatal(t, err)
		list = l.ID
	}
	contacts := make([]client.ImportContact, n)
	for i := range contacts {
		contacts[i].Email = fmt.Sprintf("r%04d.%d@example.org", i, map[bool]int{true: 0, false: 1}[first])
	}
	must(t)(c.Contacts.Import(t.Context(), list, client.ContactsFromSlice(contacts), client.ImportOptions{}))
	return list
}

// leave unsubscribes 40 contacts of the first page, and deletes 20 others.
func leave(t *testing.T, c *client.Client, list int64) {
	t.Helper()
	page, err := c.Contacts.List(context.WithoutCancel(t.Context()), list, client.ListContactsParams{PerPage: 60})
	if err != nil {
		t.Error(err)
	}
	for i, contact := range page.Data {
		act := c.Contacts.Unsubscribe
		if i >= 40 {
			act = c.Contacts.Delete
		}
		if err := act(t.Context(), list, contact.ID); err != nil {
			t.Error(err)
		}
	}
}
