package platform

import (
	"example.com/emailplatform/mockserver/internal/api"
)

func (t *tx) list(id int64) (*list, error) {
	return t.account.Lists.find(id, "list", "path", "list_id")
}

func (t *tx) listInBody(id int64) (*list, error) {
	return t.account.Lists.find(id, "list", "body", "list_id")
}

// checkList returns an error if a body names a list that does not exist. 0 means no list.
func (t *tx) checkList(id int64) (err error) {
	if id != 0 {
		_, err = t.listInBody(id)
	}
	return err
}

func (t *tx) createList(r api.CreateListRequestObject) (api.CreateListResponseObject, error) {
	l := &list{api.List{ListID: t.newID(), Name: r.Body.Name, CreatedOn: t.unix()}, newContactTable()}
	t.account.Lists.add(l.ListID, l)
	return api.CreateList201JSONResponse(l.List), nil
}

func (t *tx) listLists(r api.ListListsRequestObject) (api.ListListsResponseObject, error) {
	data, pagination, err := pageOf(t.account.Lists.inOrder, r.Params.Page, r.Params.PerPage, r.Params.WithCount, (*list).toAPI)
	return api.ListLists200JSONResponse{Data: data, Pagination: pagination}, err
}

func (t *tx) getList(r api.GetListRequestObject) (api.GetListResponseObject, error) {
	l, err := t.list(r.ListID)
	if err != nil {
		return nil, err
	}
	return api.GetList200JSONResponse(l.List), nil
}

func (t *tx) acceptListPolicy(r api.AcceptListPolicyRequestObject) (api.AcceptListPolicyResponseObject, error) {
	l, err := t.list(r.ListID)
	if err != nil {
		return nil, err
	}
	t.account.Lists.edit(l.ListID).PolicyAccepted = true
	return api.AcceptListPolicy204Response{}, nil
}
