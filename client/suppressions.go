package client

import (
	"context"
	"iter"
)

// SuppressedEmails manages the suppression list. The platform does not send email
// to addresses on this list. (Specification: Suppression list entry.)
type SuppressedEmails struct{ x exchange }

// Add adds an address or a pattern, "*@domain" or "local@*", to the suppression
// list. It is idempotent.
func (s *SuppressedEmails) Add(ctx context.Context, email string) (SuppressedEmail, error) {
	return do(ctx, s.x, addSuppressedEmailRequest(suppressedEmailCreate{Email: email}), readSuppressedEmail)
}

// Remove removes an address or a pattern from the suppression list. If the list does not
// contain the entry, the error is [ErrNotFound].
func (s *SuppressedEmails) Remove(ctx context.Context, email string) error {
	return perform(ctx, s.x, removeSuppressedEmailRequest(email), nil)
}

// List returns one page of the suppression list.
func (s *SuppressedEmails) List(ctx context.Context, params ListSuppressedEmailsParams) (SuppressedEmailPage, error) {
	return do(ctx, s.x, listSuppressedEmailsRequest(params), readSuppressedEmailPage)
}

// All iterates over all items, starting at params.Page. See Pagination in the
// package documentation.
func (s *SuppressedEmails) All(
	ctx context.Context, params ListSuppressedEmailsParams, opts ...IterOption,
) iter.Seq2[SuppressedEmail, error] {
	return paginate(ctx, s.x, readSuppressedEmailPage, listSuppressedEmailsRequest(params), opts)
}

func (p SuppressedEmailPage) items() ([]SuppressedEmail, Pagination) { return p.Data, p.Pagination }
