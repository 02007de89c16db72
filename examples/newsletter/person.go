package main

import (
	"context"

	"example.com/emailplatform/client"
)

// erase first removes a person's attributes and then deletes the contact, because a
// deleted contact cannot be updated.
func (s *service) erase(ctx context.Context, contact client.Contact) error {
	update := client.ContactUpdate{CustomAttributes: []client.CustomAttributeUpdate{}}
	for _, a := range contact.CustomAttributes {
		update.CustomAttributes = append(update.CustomAttributes,
			client.CustomAttributeUpdate{Name: a.Name, Value: client.Null[string]()})
	}
	if _, err := s.platform.Contacts.Update(ctx, s.listID, contact.ID, update); err != nil {
		return err
	}
	return s.platform.Contacts.Delete(ctx, s.listID, contact.ID)
}
