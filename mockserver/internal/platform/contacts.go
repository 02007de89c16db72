package platform

import (
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
)

// contact returns the contact that a request path identifies.
func (t *tx) contact(listID, id int64) (*list, *contact, error) {
	l, err := t.list(listID)
	if err != nil {
		return nil, nil, err
	}
	c := l.contacts.find(id)
	if c == nil {
		return nil, nil, problem.NotFound("contact", id, "path", "contact_id")
	}
	return l, c, nil
}

// member returns the contact that a request path identifies, or an error if the
// contact is deleted. The caller may change the returned contact.
func (t *tx) member(listID, id int64) (*list, *contact, error) {
	l, c, err := t.contact(listID, id)
	if err == nil && c.Status == statusDeleted {
		err = problem.NotFound("contact", id, "path", "contact_id")
	}
	if err != nil {
		return nil, nil, err
	}
	return l, l.contacts.edit(c), nil
}

// createContact implements POST /lists/{list_id}/contacts.
func (t *tx) createContact(r api.CreateContactRequestObject) (api.CreateContactResponseObject, error) {
	if !isEmail(r.Body.Email) {
		return nil, problem.Invalid("not an email address", "body", "email")
	}
	l, err := t.list(r.ListID)
	if err != nil {
		return nil, err
	}
	resubscribe := r.Params.Resubscribe == nil || *r.Params.Resubscribe
	c, err := t.addContact(l, *r.Body, r.Params.SendDoubleOptIn, resubscribe)
	if err != nil {
		return nil, err
	}
	return api.CreateContact201JSONResponse(c.wire()), nil
}

// listContacts implements GET /lists/{list_id}/contacts.
func (t *tx) listContacts(r api.ListContactsRequestObject) (api.ListContactsResponseObject, error) {
	page, err := paging(r.Params.Page, r.Params.PerPage, r.Params.WithCount)
	if err != nil {
		return nil, err
	}
	q, err := contactQuery(r.Params.Sort, r.Params.Filter)
	if err != nil {
		return nil, err
	}
	l, err := t.list(r.ListID)
	if err != nil {
		return nil, err
	}
	found, n := l.contacts.page(q, page)
	out := api.ListContacts200JSONResponse{Data: make([]api.Contact, len(found)), Pagination: page.pagination(n)}
	for i, c := range found {
		out.Data[i] = c.wire()
	}
	return out, nil
}

// contactQuery parses sort=field:direction and filter=field:value.
func contactQuery(sort, filter string) (query, error) {
	q := query{sort: "id"}
	if sort != "" {
		field, direction, _ := strings.Cut(sort, ":")
		if !slices.Contains([]string{"id", "email", "status", "subscribed_on"}, field) || direction != "asc" && direction != "desc" {
			return q, problem.Invalid("must be id, email, status or subscribed_on, followed by :asc or :desc", "query", "sort")
		}
		q.sort, q.descending = field, direction == "desc"
	}
	if filter != "" {
		field, value, ok := strings.Cut(filter, ":")
		if !ok || !slices.Contains([]string{"status", "email", "tag", "interest"}, field) {
			return q, problem.Invalid("must be status:value, email:value, tag:value or interest:value", "query", "filter")
		}
		q.field, q.value = field, value
	}
	return q, nil
}

// getContact implements GET /lists/{list_id}/contacts/{contact_id}.
func (t *tx) getContact(r api.GetContactRequestObject) (api.GetContactResponseObject, error) {
	_, c, err := t.contact(r.ListID, r.ContactID)
	if err != nil {
		return nil, err
	}
	return api.GetContact200JSONResponse(c.wire()), nil
}

// updateContact implements PATCH /lists/{list_id}/contacts/{contact_id}.
func (t *tx) updateContact(r api.UpdateContactRequestObject) (api.UpdateContactResponseObject, error) {
	_, c, err := t.member(r.ListID, r.ContactID)
	if err != nil {
		return nil, err
	}
	set := c.CustomAttributes
	for _, a := range r.Body.CustomAttributes {
		if a.Value != nil {
			set = setAttribute(set, a.Name, *a.Value)
			continue
		}
		set = slices.DeleteFunc(slices.Clone(set), func(b api.CustomAttribute) bool { return b.Name == a.Name })
	}
	c.CustomAttributes = set
	return api.UpdateContact200JSONResponse(c.wire()), nil
}

// deleteContact implements DELETE /lists/{list_id}/contacts/{contact_id}.
func (t *tx) deleteContact(r api.DeleteContactRequestObject) (api.DeleteContactResponseObject, error) {
	l, c, err := t.member(r.ListID, r.ContactID)
	if err != nil {
		return nil, err
	}
	l.contacts.setStatus(c, statusDeleted)
	t.contactRemoved(l, c)
	return api.DeleteContact204Response{}, nil
}

// unsubscribeContact implements POST /lists/{list_id}/contacts/{contact_id}/unsubscribe.
func (t *tx) unsubscribeContact(r api.UnsubscribeContactRequestObject) (api.UnsubscribeContactResponseObject, error) {
	l, c, err := t.member(r.ListID, r.ContactID)
	if err != nil {
		return nil, err
	}
	if c.Status != statusUnsubscribed {
		l.contacts.setStatus(c, statusUnsubscribed)
		t.contactRemoved(l, c)
		t.contactUnsubscribed(l, c)
	}
	return api.UnsubscribeContact204Response{}, nil
}
