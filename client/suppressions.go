package client

import (
	"context"
	"iter"
)

// SuppressedEmails are addresses that are never sent to, whatever list they are
// on. (Specification: Suppression list entry.)
type SuppressedEmails struct{ x exchange }

// Add puts an address on the suppression list, or a pattern: "*@domain" or
// "local@*". Adding it again changes nothing and succeeds.
func (s *SuppressedEmails) Add(ctx context.Context, email string) (SuppressedEmail, error) {
	return do(ctx, s.x, addSuppressedEmailRequest(suppressedEmailCreate{Email: email}), readSuppressedEmail)
}

// Remove takes an address or a pattern off the list. If it is not there, the
// error is [ErrNotFound].
func (s *SuppressedEmails) Remove(ctx context.Context, email string) error {
	return perform(ctx, s.x, removeSuppressedEmailRequest(email), nil)
}

// List returns one page of the suppression list.
func (s *SuppressedEmails) List(ctx context.Context, params ListSuppressedEmailsParams) (SuppressedEmailPage, error) {
	return do(ctx, s.x, listSuppressedEmailsRequest(params), readSuppressedEmailPage)
}

// All iterates over the items of List, from params.Page on. See Pagination in
// the package documentation.
func (s *SuppressedEmails) All(
	ctx context.Context, params ListSuppressedEmailsParams, opts ...IterOption,
) iter.Seq2[SuppressedEmail, error] {
	return paginate(ctx, s.x, readSuppressedEmailPage, params.Page, opts, func(page int64) request {
		params := params
		params.Page = page
		return listSuppressedEmailsRequest(params)
	})
}

func (p SuppressedEmailPage) items() ([]SuppressedEmail, Pagination) { return p.Data, p.Pagination }
