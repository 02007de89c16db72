package platform

import (
	"context"
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/address"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
)

// suppress puts an address on the list and reports whether it is new there.
func (t *tx) suppress(email string) bool {
	s := &t.account.Suppression
	if s.find(email) >= 0 {
		return false
	}
	if s.byAddress == nil {
		s.byAddress = map[string]bool{}
	}
	s.byAddress[strings.ToLower(email)] = true
	s.all = append(s.all, suppressed{email, t.unix()})
	return true
}

// AddSuppressedEmail implements POST /suppressed-emails.
func (p *Platform) AddSuppressedEmail(
	ctx context.Context, r api.AddSuppressedEmailRequestObject,
) (api.AddSuppressedEmailResponseObject, error) {
	email := r.Body.Email
	if !address.Pattern(email) {
		return nil, problem.Invalid("want an address, *@domain or local@*", "body", "email")
	}
	return do(ctx, p, func(t *tx) (api.AddSuppressedEmailResponseObject, error) {
		if t.suppress(email) {
			t.emailSuppressed(email)
		}
		s := &t.account.Suppression
		return api.AddSuppressedEmail201JSONResponse(s.all[s.find(email)].wire()), nil
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
	field, email, _ := strings.Cut(r.Params.Filter, ":")
	if r.Params.Filter != "" && field != "email" {
		return nil, problem.Invalid("want email, then a colon and the value", "query", "filter")
	}
	return do(ctx, p, func(t *tx) (api.ListSuppressedEmailsResponseObject, error) {
		entries := t.account.Suppression.all
		if field != "" {
			i := t.account.Suppression.find(email)
			if i < 0 {
				i = len(entries)
			}
			entries = entries[i:min(i+1, len(entries))]
		}
		data, pagination := pageOf(page, entries, suppressed.wire)
		return api.ListSuppressedEmails200JSONResponse{Data: data, Pagination: pagination}, nil
	})
}

// RemoveSuppressedEmail implements DELETE /suppressed-emails/{email}.
func (p *Platform) RemoveSuppressedEmail(
	ctx context.Context, r api.RemoveSuppressedEmailRequestObject,
) (api.RemoveSuppressedEmailResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.RemoveSuppressedEmailResponseObject, error) {
		s := &t.account.Suppression
		i := s.find(r.Email)
		if i < 0 {
			return nil, problem.NotFound("suppressed address", r.Email, "path", "email")
		}
		delete(s.byAddress, strings.ToLower(r.Email))
		s.all = slices.Delete(s.all, i, i+1)
		return api.RemoveSuppressedEmail204Response{}, nil
	})
}
