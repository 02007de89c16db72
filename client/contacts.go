package client

import (
	"context"
	"iter"
	"strings"
)

// The known values of [Contact.Status]. The set is open.
const (
	ContactActive       = "active"
	ContactPending      = "pending" // has not confirmed yet
	ContactUnsubscribed = "unsubscribed"
	ContactDeleted      = "deleted"
	ContactSpam         = "spam" // has complained
	ContactBounced      = "bounced"
	ContactSuppressed   = "suppressed"
)

// Contacts are the members of a list, each address at most once on a list.
// (Specification: Lists and contacts.)
type Contacts struct{ x exchange }

// Create adds a contact to a list. An address that is already on the list is
// [ErrContactExists], and so is one that has unsubscribed, unless
// contact.Resubscribe is set. An address that was deleted, or that is
// resubscribed, becomes active again and keeps its id. With contact.DoubleOptIn
// the contact is pending until its recipient confirms.
func (s *Contacts) Create(ctx context.Context, listID int64, contact ContactCreate) (Contact, error) {
	params := createContactParams{Resubscribe: &contact.Resubscribe, SendDoubleOptIn: contact.DoubleOptIn}
	return do(ctx, s.x, createContactRequest(listID, params, contact), readContact)
}

// Get returns a contact.
func (s *Contacts) Get(ctx context.Context, listID, contactID int64) (Contact, error) {
	return do(ctx, s.x, getContactRequest(listID, contactID), readContact)
}

// Update sets the attributes that update names and leaves the others. A null
// value removes one.
func (s *Contacts) Update(ctx context.Context, listID, contactID int64, update ContactUpdate) (Contact, error) {
	return do(ctx, s.x, updateContactRequest(listID, contactID, update), readContact)
}

// Delete deletes a contact. Deleting what is gone is [ErrNotFound].
func (s *Contacts) Delete(ctx context.Context, listID, contactID int64) error {
	return perform(ctx, s.x, deleteContactRequest(listID, contactID), nil)
}

// Unsubscribe unsubscribes a contact from its list. Doing it again changes
// nothing and succeeds.
func (s *Contacts) Unsubscribe(ctx context.Context, listID, contactID int64) error {
	return perform(ctx, s.x, unsubscribeContactRequest(listID, contactID), nil)
}

// Tag adds tags to contacts of a list: all or nothing, an unknown contact is
// [ErrNotFound] and nobody is tagged.
func (s *Contacts) Tag(ctx context.Context, listID int64, tagging ContactTagging) error {
	return perform(ctx, s.x, tagContactsRequest(listID, tagging), nil)
}

// Find returns the contact with an address, compared without case, whatever its
// status: a platform may list deleted contacts too. It asks for contacts by the
// filter "email:address", and looks at each that comes: a platform that knows no
// such filter costs time, not a wrong contact. If there is none, the error is
// [ErrNotFound]; no address is [ErrValidation].
func (s *Contacts) Find(ctx context.Context, listID int64, email string) (Contact, error) {
	params := ListContactsParams{Filter: "email:" + email}
	return find(s.All(ctx, listID, params), listContactsRequest(listID, params), "email", email, func(c Contact) bool {
		return strings.EqualFold(c.Email, email)
	})
}

// List returns one page of contacts, in the order of their creation unless
// params.Sort says otherwise.
func (s *Contacts) List(ctx context.Context, listID int64, params ListContactsParams) (ContactPage, error) {
	return do(ctx, s.x, listContactsRequest(listID, params), readContactPage)
}

// All iterates over the items of List, from params.Page on. See Pagination in
// the package documentation.
func (s *Contacts) All(
	ctx context.Context, listID int64, params ListContactsParams, opts ...IterOption,
) iter.Seq2[Contact, error] {
	return paginate(ctx, s.x, readContactPage, params.Page, opts, func(page int64) request {
		params := params
		params.Page = page
		return listContactsRequest(listID, params)
	})
}

func (p ContactPage) items() ([]Contact, Pagination) { return p.Data, p.Pagination }
