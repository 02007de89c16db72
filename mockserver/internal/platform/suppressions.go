package platform

import (
	"context"
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
)

// suppressionList holds addresses and patterns (*@domain, local@*) that are
// not sent to, the oldest first.
type suppressionList struct {
	all       []suppressed
	byAddress map[string]bool // without case
}

type suppressed struct {
	Email     string `json:"email"`
	CreatedOn int64  `json:"created_on"`
}

func (s suppressed) wire() api.SuppressedEmail {
	return api.SuppressedEmail{Email: s.Email, CreatedOn: s.CreatedOn}
}

// matches reports whether an address is suppressed, by itself or by a pattern.
func (s *suppressionList) matches(address string) bool {
	address = strings.ToLower(address)
	local, domain, _ := strings.Cut(address, "@")
	return s.byAddress[address] || s.byAddress["*@"+domain] || s.byAddress[local+"@*"]
}

func (s *suppressionList) find(email string) int {
	if !s.byAddress[strings.ToLower(email)] {
		return -1
	}
	return slices.IndexFunc(s.all, func(e suppressed) bool { return strings.EqualFold(e.Email, email) })
}

// validPattern reports whether s is an address, *@domain or local@*.
func validPattern(s string) bool {
	local, domain, _ := strings.Cut(s, "@")
	switch {
	case local == "*":
		return validDomain(domain)
	case domain == "*":
		return validLocal(local)
	}
	return validAddress(s)
}

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
func (p *Platform) AddSuppressedEmail(ctx context.Context, r api.AddSuppressedEmailRequestObject) (api.AddSuppressedEmailResponseObject, error) {
	email := r.Body.Email
	if !validPattern(email) {
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
func (p *Platform) ListSuppressedEmails(ctx context.Context, r api.ListSuppressedEmailsRequestObject) (api.ListSuppressedEmailsResponseObject, error) {
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
func (p *Platform) RemoveSuppressedEmail(ctx context.Context, r api.RemoveSuppressedEmailRequestObject) (api.RemoveSuppressedEmailResponseObject, error) {
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
