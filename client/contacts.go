package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/emailplatform/events"
)

// Contacts manages the recipients on a list. A list contains an address at most
// once. (Specification: Lists and contacts.)
type Contacts struct{ handler handler }

// Create adds a contact to a list. If the list already contains the address, the result
// depends on the existing contact:
//
//   - If the contact has unsubscribed, it becomes active only if contact.Resubscribe is
//     set. Otherwise, the error is [ErrContactExists]. This applies even if the contact
//     was deleted after it unsubscribed.
//   - If the contact was deleted without unsubscribing first, it becomes active again.
//   - For any other status, the error is [ErrContactExists].
//
// A contact that becomes active again keeps its id.
//
// If contact.DoubleOptIn is set, the contact is pending until the recipient confirms the
// subscription. If the platform then reports the status active, or no status, it may have
// ignored the double opt-in, so the error is [ErrInvalidResponse] (see "Confirmed writes"
// in the package documentation).
//
// The platform sends the confirmation email only if the list's policy
// has been accepted. Otherwise, the error is [ErrPolicyNotAccepted].
func (s *Contacts) Create(ctx context.Context, listID int64, contact ContactCreate) (Contact, error) {
	params := createContactParams{SendDoubleOptIn: contact.DoubleOptIn}
	if !contact.Resubscribe { // the default of the platform is true
		params.Resubscribe = &contact.Resubscribe
	}
	r := createContactRequest(listID, params, contact)
	created, err := callJSON(ctx, s.handler, r, readContact)
	if refusesResubscribe(err) && r.dropQuery("resubscribe") {
		created, err = s.createUnlisted(ctx, r, listID, contact.Email, err)
	}
	if err != nil || !contact.DoubleOptIn {
		return created, err
	}
	get := func() (Contact, error) { return s.Get(ctx, listID, created.ID) }
	return confirmed(r, created, "the double opt-in", get, func(c Contact) bool {
		return c.Status != "" && c.Status != events.ContactStatusActive
	})
}

// refusesResubscribe reports whether err means that the platform does not know the
// parameter resubscribe. It checks the location of the error, not the text, because an
// error about the consent of the contact can also contain the word "resubscribe".
func refusesResubscribe(err error) bool {
	e, ok := topLevelError(err)
	if !ok || e.StatusCode < 400 || !e.Is(ErrValidation) {
		return false
	}
	other := func(d ErrorDetail) bool { return !slices.Equal(d.Loc, Location{"query", "resubscribe"}) }
	return len(e.Details) > 0 && !slices.ContainsFunc(e.Details, other)
}

// createUnlisted adds a contact without the request parameter resubscribe. The argument
// refused is the platform's error for this parameter. If the list already contains the
// address, createUnlisted returns ErrContactExists, because a request without the
// parameter could activate a contact that has unsubscribed.
func (s *Contacts) createUnlisted(ctx context.Context, r request, listID int64, email string, refused error) (Contact, error) {
	if _, err := s.Find(ctx, listID, email); err == nil {
		return Contact{}, newErrorAfterSuccess(r, fmt.Errorf("%w: %w", ErrContactExists, refused))
	} else if !errors.Is(err, ErrNotFound) {
		return Contact{}, err
	}
	return callJSON(ctx, s.handler, r, readContact)
}

// Find returns the contact with the given address, ignoring letter case. The contact can
// have any status, including deleted. Find requests the contacts with this address, and
// compares the addresses in the response, because a platform may ignore the filter. If no
// contact has the address, the error is [ErrNotFound]. If the address is empty, the error
// is [ErrValidation].
func (s *Contacts) Find(ctx context.Context, listID int64, email string) (Contact, error) {
	list := listContactsRequest(listID, ListContactsParams{Filter: "email:" + email})
	is := func(c Contact) bool { return strings.EqualFold(c.Email, email) }
	return find(ctx, s.handler, readContactPage, list, "email", email, is)
}

// Tags lists the tags of the account's contacts. (Specification: Contact.)
type Tags struct{ handler handler }

// SuppressedEmails manages the suppression list. The platform does not send email
// to addresses on this list. (Specification: Suppression list entry.)
type SuppressedEmails struct{ handler handler }

// Add adds an address or a pattern, "*@domain" or "local@*", to the suppression
// list. It is idempotent.
func (s *SuppressedEmails) Add(ctx context.Context, email string) (SuppressedEmail, error) {
	return callJSON(ctx, s.handler, addSuppressedEmailRequest(suppressedEmailCreate{Email: email}), readSuppressedEmail)
}
