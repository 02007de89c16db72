package main

import (
	"errors"
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// TestErase: the platform keeps the address and the tags of an erased person, but
// no attributes. Erasing again reports that there is nothing to erase.
func TestErase(t *testing.T) {
	inBubble(t, func(t *testing.T, s *service, _ *mockserver.Server) {
		created, err := s.platform.Contacts.Create(t.Context(), s.listID, client.ContactCreate{
			Email: "ada@example.org", Tags: []string{"vip"},
			CustomAttributes: client.Attributes{{Name: "name", Value: "Ada"}, {Name: "city", Value: "London"}},
		})
		check(t, err)
		person, err := s.platform.Contacts.Find(t.Context(), s.listID, created.Email)
		if err != nil || person.CustomAttributes.Get("city") != "London" {
			t.Fatal(person, err)
		}
		check(t, s.erase(t.Context(), person))
		kept, err := s.platform.Contacts.Find(t.Context(), s.listID, created.Email)
		if err != nil || kept.Status != events.ContactStatusDeleted || kept.Email != created.Email ||
			len(kept.Tags) != 1 || len(kept.CustomAttributes) != 0 {
			t.Errorf("kept %+v, %v", kept, err)
		}
		if err := s.erase(t.Context(), kept); !errors.Is(err, client.ErrNotFound) {
			t.Errorf("erased again: %v", err)
		}
	})
}

// TestEraseWithoutAttributes: a contact without attributes can be erased too.
func TestEraseWithoutAttributes(t *testing.T) {
	inBubble(t, func(t *testing.T, s *service, _ *mockserver.Server) {
		contact, err := s.platform.Contacts.Create(t.Context(), s.listID, client.ContactCreate{Email: "ada@example.org"})
		check(t, err)
		check(t, s.erase(t.Context(), contact))
	})
}
