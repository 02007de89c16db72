package platform

import (
	"context"
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
)

// suppress adds an address to the suppression list and reports whether it is
// new.
func (t *tx) suppress(email string) bool {
	return t.account.Suppression.suppress(api.SuppressedEmail{Email: email, CreatedOn: t.unix()})
}

// AddSuppressedEmail implements POST /suppressed-emails.
func (p *Platform) AddSuppressedEmail(
	ctx context.Context, r api.AddSuppressedEmailRequestObject,
) (api.AddSuppressedEmailResponseObject, error) {
	email := r.Body.Email
	if !isPattern(email) {
		return nil, problem.Invalid("must be an address, *@domain or local@*", "body", "email")
	}
	return do(ctx, p, func(t *tx) (api.AddSuppressedEmailResponseObject, error) {
		if t.suppress(email) {
			t.emailSuppressed(email)
		}
		return api.AddSuppressedEmail201JSONResponse(*t.account.Suppression.entry(email)), nil
	})
}

// ListSuppressedEmails implements GET /suppressed-emails.
func (p *Platform) ListSuppressedEmails(
	ctx context.Context, r api.ListSuppressedEmailsRequestObject,
) (api.ListSuppressedEmailsResponseObject, error) {
	page, err := paging(r.Params.Page, r.Params.PerPage, r.Params.WithCount)
	if err != nil {
		return nil, err
	}
	field, email, ok := strings.Cut(r.Params.Filter, ":")
	if r.Params.Filter != "" && (!ok || field != "email") {
		return nil, problem.Invalid("must be email, followed by a colon and the value", "query", "filter")
	}
	return do(ctx, p, func(t *tx) (api.ListSuppressedEmailsResponseObject, error) {
		s := &t.account.Suppression
		n, from := s.len(), s.from
		if field != "" {
			found := slices.DeleteFunc([]*api.SuppressedEmail{s.entry(email)}, func(e *api.SuppressedEmail) bool { return e == nil })
			n, from = len(found), ranked(found)
		}
		data, pagination := pageOf(page, n, from, suppressedWire)
		return api.ListSuppressedEmails200JSONResponse{Data: data, Pagination: pagination}, nil
	})
}

// RemoveSuppressedEmail implements DELETE /suppressed-emails/{email}.
func (p *Platform) RemoveSuppressedEmail(
	ctx context.Context, r api.RemoveSuppressedEmailRequestObject,
) (api.RemoveSuppressedEmailResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.RemoveSuppressedEmailResponseObject, error) {
		if t.account.Suppression.entry(r.Email) == nil {
			return nil, problem.NotFound("suppressed address", r.Email, "path", "email")
		}
		t.account.Suppression.remove(strings.ToLower(r.Email))
		return api.RemoveSuppressedEmail204Response{}, nil
	})
}
