package main

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/examples/faulttest"
	"example.com/emailplatform/mockserver"
)

var check = faulttest.Check

// TestExportUnderFaults: if export returns nil, each contact that stayed on the list is exported once, even if other
// contacts unsubscribe in the meantime.
func TestExportUnderFaults(t *testing.T) {
	faulttest.UnderFaults(t, []string{"listContacts"}, func(t *testing.T, p *mockserver.Server) func() {
		c := faulttest.Client(t, p)
		list, err := c.Lists.Create(t.Context(), client.ListCreate{Name: "Newsletter"})
		check(t, err)
		contacts := make([]client.ImportContact, 250)
		for i := range contacts {
			contacts[i].Email = fmt.Sprintf("r%d@example.org", i)
		}
		_, err = c.Contacts.Import(t.Context(), list.ID, client.ContactsFromSlice(contacts), client.ImportOptions{})
		check(t, err)
		first, err := c.Contacts.List(t.Context(), list.ID, client.ListContactsParams{PerPage: 50})
		check(t, err)
		return func() {
			faulttest.Repeat(t, func() error {
				var out bytes.Buffer
				_, err := export(leaving(t, c, list.ID, first.Data), c, &out, list.ID, events.ContactStatusActive, nil)
				for i := 50; i < len(contacts); i++ {
					if n := bytes.Count(out.Bytes(), fmt.Appendf(nil, "\nr%d@", i)); err == nil && n != 1 {
						t.Errorf("contact %d is exported %d times", i, n)
					}
				}
				return err
			})
		}
	})
}

// leaving returns a context that unsubscribes the contacts after the first page of an export.
func leaving(t *testing.T, c *client.Client, list int64, contacts []client.Contact) context.Context {
	left := false
	return client.WithResponseHook(t.Context(), func(r client.Response) {
		if r.Op != "listContacts" || r.StatusCode != 200 || left {
			return
		}
		left = true
		for _, contact := range contacts {
			if err := c.Contacts.Unsubscribe(t.Context(), list, contact.ID); err != nil {
				t.Error(err)
			}
		}
	})
}
