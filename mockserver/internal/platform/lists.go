package platform

import (
	"example.com/emailplatform/mockserver/internal/api"
)

// list returns the list that a request path identifies.
func (t *tx) list(id int64) (*list, error) {
	return t.account.Lists.find(id, "list", "path", "list_id")
}

// listNamed returns the list that a request body identifies.
func (t *tx) listNamed(id int64) (*list, error) {
	return t.account.Lists.find(id, "list", "body", "list_id")
}

// createList implements POST /lists.
func (t *tx) createList(r api.CreateListRequestObject) (api.CreateListResponseObject, error) {
	l := &list{api.List{ListID: t.newID(), Name: r.Body.Name, CreatedOn: t.unix()}, newContactTable()}
	t.account.Lists.add(l.ListID, l)
	return api.CreateList201JSONResponse(l.List), nil
}

// listLists implements GET /lists.
func (t *tx) listLists(r api.ListListsRequestObject) (api.ListListsResponseObject, error) {
	data, pagination, err := pageOf(t.account.Lists.len(), t.account.Lists.from, r.Params.Page, r.Params.PerPage, r.Params.WithCount, (*list).wire)
	return api.ListLists200JSONResponse{Data: data, Pagination: pagination}, err
}

// getList implements GET /lists/{list_id}.
func (t *tx) getList(r api.GetListRequestObject) (api.GetListResponseObject, error) {
	l, err := t.list(r.ListID)
	if err != nil {
		return nil, err
	}
	return api.GetList200JSONResponse(l.List), nil
}

// acceptListPolicy implements POST /lists/{list_id}/accept-policy.
func (t *tx) acceptListPolicy(r api.AcceptListPolicyRequestObject) (api.AcceptListPolicyResponseObject, error) {
	l, err := t.list(r.ListID)
	if err != nil {
		return nil, err
	}
	l.PolicyAccepted = true
	return api.AcceptListPolicy204Response{}, nil
}
