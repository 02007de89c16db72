package main

import (
	"io"
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/tests/recipes"
	"example.com/emailplatform/mockserver"
)

// TestCleanUpUnderFaults: the command, repeated until it succeeds, changes the
// contacts that bounced hard and no others.
func TestCleanUpUnderFaults(t *testing.T) {
	for action, operation := range map[string]string{"tag": "tagContacts", "unsubscribe": "unsubscribeContact"} {
		recipes.UnderFaults(t, []string{operation, "listContacts"}, func(t *testing.T, p *mockserver.Server) func() {
			listID, err := fill(t.Context(), p)
			check(t, err)
			c, err := client.New(client.Config{BaseURL: p.URL(), Token: p.Token(), HTTPClient: p.HTTPClient()})
			check(t, err)
			return func() {
				j := job{Client: c, out: io.Discard, listID: listID, action: action, tag: "bounced-hard"}
				recipes.Repeat(t, func() error { return j.run(t.Context()) })
				for contact, err := range c.Contacts.All(t.Context(), listID, client.ListContactsParams{}) {
					changed := len(contact.Tags) > 0 || contact.Status == events.ContactStatusUnsubscribed
					if err != nil || changed != (contact.Email == "gone@example.org") {
						t.Errorf("%s: %s, tags %v, %v", contact.Email, contact.Status, contact.Tags, err)
					}
				}
			}
		})
	}
}
