package platform

import (
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/contract"
)

func (t *tx) suppress(email string) bool {
	return t.account.Suppression.suppress(api.SuppressedEmail{Email: email, CreatedOn: t.unix()})
}

func (t *tx) addSuppressedEmail(r api.AddSuppressedEmailRequestObject) (api.AddSuppressedEmailResponseObject, error) {
	email := r.Body.Email
	if !contract.IsPattern(email) {
		return nil, apierror.Invalid("must be an address, *@domain or local@*", "body", "email")
	}
	if t.suppress(email) {
		t.emailSuppressed(email)
	}
	return api.AddSuppressedEmail201JSONResponse(*t.account.Suppression.entry(email)), nil
}

func (t *tx) listSuppressedEmails(r api.ListSuppressedEmailsRequestObject) (api.ListSuppressedEmailsResponseObject, error) {
	field, email, ok := strings.Cut(r.Params.Filter, ":")
	if r.Params.Filter != "" && (!ok || field != "email") {
		return nil, apierror.Invalid("must be email:value", "query", "filter")
	}
	s := &t.account.Suppression
	found := s.inOrder
	if field != "" {
		found = slices.DeleteFunc([]*api.SuppressedEmail{s.entry(email)}, func(e *api.SuppressedEmail) bool { return e == nil })
	}
	data, pagination, err := pageOf(found, r.Params.Page, r.Params.PerPage, r.Params.WithCount, copyOf)
	return api.ListSuppressedEmails200JSONResponse{Data: data, Pagination: pagination}, err
}

func (t *tx) removeSuppressedEmail(r api.RemoveSuppressedEmailRequestObject) (api.RemoveSuppressedEmailResponseObject, error) {
	if t.account.Suppression.entry(r.Email) == nil {
		return nil, apierror.NotFound("suppressed address", r.Email, "path", "email")
	}
	t.account.Suppression.remove(strings.ToLower(r.Email))
	return api.RemoveSuppressedEmail204Response{}, nil
}
