package client

import (
	"context"
	"iter"
	"strings"
)

// Contacts manages the recipients on a list. A list contains an address at most
// once. (Specification: Lists and contacts.)
type Contacts struct{ x exchange }

// Create adds a contact to a list. A deleted contact becomes active again and keeps
// its id. However, a contact that has unsubscribed becomes active again only if
// contact.Resubscribe is set, even if it was deleted later. If the list contains
// the address with any other status, the error is [ErrContactExists]. If
// contact.DoubleOptIn is set, the contact is pending until the recipient confirms
// the subscription. If DoubleOptIn is set and the list's policy has not been
// accepted, the error is [ErrPolicyNotAccepted].
func (s *Contacts) Create(ctx context.Context, listID int64, contact ContactCreate) (Contact, error) {
	params := createContactParams{Resubscribe: &contact.Resubscribe, SendDoubleOptIn: contact.DoubleOptIn}
	return do(ctx, s.x, createContactRequest(listID, params, contact), readContact)
}

// Get returns a contact.
func (s *Contacts) Get(ctx context.Context, listID, contactID int64) (Contact, error) {
	return do(ctx, s.x, getContactRequest(listID, contactID), readContact)
}

// Update sets the given attributes and leaves the others unchanged. A null value
// removes an attribute.
func (s *Contacts) Update(ctx context.Context, listID, contactID int64, update ContactUpdate) (Contact, error) {
	return do(ctx, s.x, updateContactRequest(listID, contactID, update), readContact)
}

// Delete deletes a contact. If the contact does not exist, the error is
// [ErrNotFound].
func (s *Contacts) Delete(ctx context.Context, listID, contactID int64) error {
	return perform(ctx, s.x, deleteContactRequest(listID, contactID), nil)
}

// Unsubscribe unsubscribes a contact from its list. It is idempotent.
func (s *Contacts) Unsubscribe(ctx context.Context, listID, contactID int64) error {
	return perform(ctx, s.x, unsubscribeContactRequest(listID, contactID), nil)
}

// Tag adds tags to contacts on a list. If one of the contacts does not exist, the
// error is [ErrNotFound] and no contact is tagged.
func (s *Contacts) Tag(ctx context.Context, listID int64, tagging ContactTagging) error {
	return perform(ctx, s.x, tagContactsRequest(listID, tagging), nil)
}

// Find returns the contact with the given address, ignoring letter case. The
// contact can have any status, including deleted. Find uses the filter
// "email:address" and also compares the addresses, because a platform may ignore
// the filter. If no contact has the address, the error is [ErrNotFound]. If the
// address is empty, the error is [ErrValidation].
func (s *Contacts) Find(ctx context.Context, listID int64, email string) (Contact, error) {
	list := listContactsRequest(listID, ListContactsParams{Filter: "email:" + email})
	is := func(c Contact) bool { return strings.EqualFold(c.Email, email) }
	return find(ctx, s.x, readContactPage, list, "email", email, is)
}

// List returns one page of contacts, by default in the order of creation.
func (s *Contacts) List(ctx context.Context, listID int64, params ListContactsParams) (ContactPage, error) {
	return do(ctx, s.x, listContactsRequest(listID, params), readContactPage)
}

// All iterates over all items, starting at params.Page. See Pagination in the
// package documentation.
//
// Without Sort and Filter, an iteration yields each contact exactly once if the
// contact is on the list during the whole iteration. Unsubscribed and deleted
// contacts stay on the list, and new contacts are at the end. To read all active
// contacts while recipients unsubscribe, do not filter by status. Check the status
// in the loop:
//
//	for contact, err := range c.Contacts.All(ctx, listID, client.ListContactsParams{}) {
//		if err != nil {
//			return err
//		}
//		if contact.Status == events.ContactStatusActive {
//			…
//		}
//	}
//
// With Filter or Sort, a contact may be missing or duplicated if contacts change
// during the iteration.
func (s *Contacts) All(
	ctx context.Context, listID int64, params ListContactsParams, opts ...IterOption,
) iter.Seq2[Contact, error] {
	return paginate(ctx, s.x, readContactPage, listContactsRequest(listID, params), opts)
}

func (p ContactPage) items() ([]Contact, Pagination) { return p.Data, p.Pagination }
