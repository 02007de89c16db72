package platform

import (
	"context"
	"maps"
	"slices"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
)

// TagContacts implements POST /lists/{list_id}/contacts/tag: all or nothing.
func (p *Platform) TagContacts(
	ctx context.Context, r api.TagContactsRequestObject,
) (api.TagContactsResponseObject, error) {
	for i, tag := range r.Body.Tags {
		if tag == "" {
			return nil, problem.Invalid("must not be empty", "body", "tags", i)
		}
	}
	return do(ctx, p, func(t *tx) (api.TagContactsResponseObject, error) {
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
	})
}

// ListTags implements GET /tags.
func (p *Platform) ListTags(ctx context.Context, r api.ListTagsRequestObject) (api.ListTagsResponseObject, error) {
	page, err := paging(r.Params.Page, r.Params.PerPage, r.Params.WithCount)
	if err != nil {
		return nil, err
	}
	return do(ctx, p, func(t *tx) (api.ListTagsResponseObject, error) {
		names := slices.Sorted(maps.Keys(t.account.Tags))
		data, pagination := pageOf(page, len(names), ranked(names), func(name string) api.Tag { return api.Tag{Name: name} })
		return api.ListTags200JSONResponse{Data: data, Pagination: pagination}, nil
	})
}
