package platform

import (
	"maps"
	"slices"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
)

// tagContacts implements POST /lists/{list_id}/contacts/tag. If one of the
// contacts does not exist, no contact changes.
func (t *tx) tagContacts(r api.TagContactsRequestObject) (api.TagContactsResponseObject, error) {
	for i, tag := range r.Body.Tags {
		if tag == "" {
			return nil, problem.Invalid("must not be empty", "body", "tags", i)
		}
	}
	l, err := t.list(r.ListID)
	if err != nil {
		return nil, err
	}
	contacts := make([]*contact, len(r.Body.ContactIds))
	for i, id := range r.Body.ContactIds {
		c := l.contacts.find(id)
		if c == nil || c.Status == statusDeleted {
			return nil, problem.NotFound("contact", id, "body", "contact_ids", i)
		}
		contacts[i] = c
	}
	for _, c := range contacts {
		l.contacts.tag(l.contacts.edit(c), r.Body.Tags)
	}
	for _, tag := range r.Body.Tags {
		t.account.Tags[tag] = true
	}
	return api.TagContacts204Response{}, nil
}

// listTags implements GET /tags.
func (t *tx) listTags(r api.ListTagsRequestObject) (api.ListTagsResponseObject, error) {
	names, wire := slices.Sorted(maps.Keys(t.account.Tags)), func(name string) api.Tag { return api.Tag{Name: name} }
	data, pagination, err := pageOf(len(names), ranked(names), r.Params.Page, r.Params.PerPage, r.Params.WithCount, wire)
	return api.ListTags200JSONResponse{Data: data, Pagination: pagination}, err
}
