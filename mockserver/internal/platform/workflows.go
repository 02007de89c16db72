package platform

import (
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
)

func (t *tx) workflow(id int64) (*api.Workflow, error) {
	return t.account.Workflows.find(id, "workflow", "path", "workflow_id")
}

func (t *tx) createWorkflow(r api.CreateWorkflowRequestObject) (api.CreateWorkflowResponseObject, error) {
	_, err := t.listInBody(r.Body.ListID)
	if err = apierror.Join(err, checkSender(r.Body.Sender, true), t.checkContent(r.Body.Content, true)); err != nil {
		return nil, err
	}
	w := &api.Workflow{
		WorkflowID: t.newID(),
		Name:       r.Body.Name,
		ListID:     r.Body.ListID,
		Trigger:    string(r.Body.Trigger),
		Sender:     r.Body.Sender,
		Content:    r.Body.Content,
		Status:     workflowInactive,
		CreatedOn:  t.unix(),
	}
	t.account.Workflows.add(w.WorkflowID, w)
	return api.CreateWorkflow201JSONResponse(workflowWire(w)), nil
}

func (t *tx) listWorkflows(r api.ListWorkflowsRequestObject) (api.ListWorkflowsResponseObject, error) {
	data, pagination, err := pageOf(t.account.Workflows.inOrder, r.Params.Page, r.Params.PerPage, r.Params.WithCount, workflowWire)
	return api.ListWorkflows200JSONResponse{Data: data, Pagination: pagination}, err
}

func (t *tx) getWorkflow(r api.GetWorkflowRequestObject) (api.GetWorkflowResponseObject, error) {
	w, err := t.workflow(r.WorkflowID)
	if err != nil {
		return nil, err
	}
	return api.GetWorkflow200JSONResponse(workflowWire(w)), nil
}

func (t *tx) activateWorkflow(r api.ActivateWorkflowRequestObject) (api.ActivateWorkflowResponseObject, error) {
	w, err := t.workflow(r.WorkflowID)
	if err != nil {
		return nil, err
	}
	if err := t.account.Lists.get(w.ListID).mayBeSentTo("path", "workflow_id"); err != nil {
		return nil, err
	}
	t.account.Workflows.edit(w.WorkflowID).Status = workflowActive
	return api.ActivateWorkflow204Response{}, nil
}

func (t *tx) deactivateWorkflow(r api.DeactivateWorkflowRequestObject) (api.DeactivateWorkflowResponseObject, error) {
	w, err := t.workflow(r.WorkflowID)
	if err != nil {
		return nil, err
	}
	t.account.Workflows.edit(w.WorkflowID).Status = workflowInactive
	return api.DeactivateWorkflow204Response{}, nil
}

// runWorkflows sends the emails of the list's active workflows to a contact
// that has become active.
func (t *tx) runWorkflows(l *list, c *contact) {
	for w := range t.account.Workflows.all() {
		if w.Status != workflowActive || w.ListID != l.ListID {
			continue
		}
		if c.Status != statusActive || t.account.Suppression.matches(c.Email) { // the previous email may have changed the contact
			return
		}
		m := t.newMessage(events.SendingTypeWorkflow, w.Sender, t.withTemplateParts(w.Content))
		m.WorkflowID = w.WorkflowID
		m.setRecipient(c.Email, l, c)
		t.deliver(m)
	}
}
