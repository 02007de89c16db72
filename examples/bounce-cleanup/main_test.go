package main

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/tests/recipes"
	"example.com/emailplatform/mockserver"
)

// TestContactsDeletedConcurrently: contacts that are deleted between the listing and the change
// do not stop the command from changing the others.
func TestContactsDeletedConcurrently(t *testing.T) {
	for _, action := range []string{"tag", "unsubscribe"} {
		platform := mockserver.New(mockserver.Config{})
		defer platform.Close()
		c := recipes.Client(t, platform)
		var addresses []string
		for i := range 9 {
			addresses = append(addresses, fmt.Sprintf("bounce+hb+%d@mock.test", i))
		}
		check(t, fill(t.Context(), platform, addresses...))
		j := job{Client: c, out: io.Discard, listID: 1, action: action, tag: "bounced-hard"}
		bounced, err := j.bouncedHard(t.Context())
		if err != nil || len(bounced) != 9 {
			t.Fatal(len(bounced), err)
		}
		for _, i := range []int{0, 4, 8} {
			check(t, c.Contacts.Delete(t.Context(), 1, bounced[i].ID))
		}
		change := map[string]func() error{
			"tag":         func() error { return j.tagAll(t.Context(), bounced) },
			"unsubscribe": func() error { return j.unsubscribe(t.Context(), bounced) },
		}[action]
		for range 2 {
			if err := change(); err != nil {
				t.Errorf("%s: %v", action, err)
			}
		}
		if left, err := j.bouncedHard(t.Context()); err != nil || len(left) != 0 {
			t.Errorf("%s: %d contacts remain, %v", action, len(left), err)
		}
	}
}

var check = recipes.Check

// TestPrintable: an address cannot control the terminal.
func TestPrintable(t *testing.T) {
	platform := mockserver.New(mockserver.Config{})
	defer platform.Close()
	check(t, fill(t.Context(), platform, "bounce+hb@mock.test"))
	var out strings.Builder
	j := job{Client: recipes.Replacing(t, platform, `"bounce+hb`, `"\u001b[2J\nbounce+hb`), out: &out, listID: 1, action: "tag", dryRun: true}
	check(t, j.run(t.Context()))
	if !strings.HasPrefix(out.String(), `tag "\x1b[2J\nbounce+hb@mock.test", bounces: 1`) {
		t.Errorf("printed %q", &out)
	}
}

// TestCleanUpUnderFaults: the command, repeated until it succeeds, changes the
// contacts that bounced hard and no others.
func TestCleanUpUnderFaults(t *testing.T) {
	for action, operation := range map[string]string{"tag": "tagContacts", "unsubscribe": "unsubscribeContact"} {
		recipes.UnderFaults(t, []string{operation, "listContacts"}, func(t *testing.T, p *mockserver.Server) func() {
			check(t, fill(t.Context(), p, "bounce+hb@mock.test", "bounce+sb@mock.test", "fine@example.org"))
			c := recipes.Client(t, p)
			return func() {
				j := job{Client: c, out: io.Discard, listID: 1, action: action, tag: "bounced-hard"}
				recipes.Repeat(t, func() error { return j.run(t.Context()) })
				for contact, err := range c.Contacts.All(t.Context(), 1, client.ListContactsParams{}) {
					changed := len(contact.Tags) > 0 || contact.Status == events.ContactStatusUnsubscribed
					if err != nil || changed != (contact.Email == "bounce+hb@mock.test") {
						t.Errorf("%s: %s, tags %v, %v", contact.Email, contact.Status, contact.Tags, err)
					}
				}
			}
		})
	}
}
