package platform

import (
	"context"

	"example.com/emailplatform/mockserver/internal/api"
)

// list returns the list in a path.
func (t *tx) list(id int64) (*list, error) {
	return t.account.Lists.find(id, "list", "path", "list_id")
}

// listNamed returns the list in a body.
func (t *tx) listNamed(id int64) (*list, error) {
	return t.account.Lists.find(id, "list", "body", "list_id")
}

// CreateList implements POST /lists.
func (p *Platform) CreateList(
	ctx context.Context, r api.CreateListRequestObject,
) (api.CreateListResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.CreateListResponseObject, error) {
		l := &list{api.List{ListID: t.newID(), Name: r.Body.Name, CreatedOn: t.unix()}, newContactTable()}
		t.account.Lists.add(l.ListID, l)
		return api.CreateList201JSONResponse(l.List), nil
	})
}

// ListLists implements GET /lists.
func (p *Platform) ListLists(ctx context.Context, r api.ListListsRequestObject) (api.ListListsResponseObject, error) {
	page, err := paging(r.Params.Page, r.Params.PerPage, r.Params.WithCount)
	if err != nil {
		return nil, err
	}
	return do(ctx, p, func(t *tx) (api.ListListsResponseObject, error) {
		data, pagination := pageOf(page, t.account.Lists.len(), t.account.Lists.from, (*list).wire)
		return api.ListLists200JSONResponse{Data: data, Pagination: pagination}, nil
	})
}

// GetList implements GET /lists/{list_id}.
func (p *Platform) GetList(ctx context.Context, r api.GetListRequestObject) (api.GetListResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.GetListResponseObject, error) {
		l, err := t.list(r.ListID)
		if err != nil {
			return nil, err
		}
		return api.GetList200JSONResponse(l.List), nil
	})
}

// AcceptListPolicy implements POST /lists/{list_id}/accept-policy.
func (p *Platform) AcceptListPolicy(
	ctx context.Context, r api.AcceptListPolicyRequestObject,
) (api.AcceptListPolicyResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.AcceptListPolicyResponseObject, error) {
		l, err := t.list(r.ListID)
		if err != nil {
			return nil, err
		}
		l.PolicyAccepted = true
		return api.AcceptListPolicy204Response{}, nil
	})
}
