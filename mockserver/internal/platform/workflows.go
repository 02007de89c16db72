package platform

import (
	"cmp"
	"context"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/api"
)

func (t *tx) workflow(id int64) (*api.Workflow, error) {
	return t.account.Workflows.find(id, "workflow", "path", "workflow_id")
}

// CreateWorkflow implements POST /workflows.
func (p *Platform) CreateWorkflow(
	ctx context.Context, r api.CreateWorkflowRequestObject,
) (api.CreateWorkflowResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.CreateWorkflowResponseObject, error) {
		if _, err := t.listNamed(r.Body.ListID); err != nil {
			return nil, err
		}
		if err := cmp.Or(checkSender(r.Body.Sender, true), t.checkContent(r.Body.Content, true)); err != nil {
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
		t.account.Templates.use(&w.Content, 0)
		return api.CreateWorkflow201JSONResponse(workflowWire(w)), nil
	})
}

// ListWorkflows implements GET /workflows.
func (p *Platform) ListWorkflows(
	ctx context.Context, r api.ListWorkflowsRequestObject,
) (api.ListWorkflowsResponseObject, error) {
	page, err := paging(r.Params.Page, r.Params.PerPage, r.Params.WithCount)
	if err != nil {
		return nil, err
	}
	return do(ctx, p, func(t *tx) (api.ListWorkflowsResponseObject, error) {
		data, pagination := pageOf(page, t.account.Workflows.len(), t.account.Workflows.from, workflowWire)
		return api.ListWorkflows200JSONResponse{Data: data, Pagination: pagination}, nil
	})
}

// GetWorkflow implements GET /workflows/{workflow_id}.
func (p *Platform) GetWorkflow(
	ctx context.Context, r api.GetWorkflowRequestObject,
) (api.GetWorkflowResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.GetWorkflowResponseObject, error) {
		w, err := t.workflow(r.WorkflowID)
		if err != nil {
			return nil, err
		}
		return api.GetWorkflow200JSONResponse(workflowWire(w)), nil
	})
}

// ActivateWorkflow implements POST /workflows/{workflow_id}/activate.
func (p *Platform) ActivateWorkflow(
	ctx context.Context, r api.ActivateWorkflowRequestObject,
) (api.ActivateWorkflowResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.ActivateWorkflowResponseObject, error) {
		w, err := t.workflow(r.WorkflowID)
		if err != nil {
			return nil, err
		}
		if err := t.account.Lists.get(w.ListID).mayBeSentTo("path", "workflow_id"); err != nil {
			return nil, err
		}
		w.Status = statusActive
		t.account.greet(w)
		return api.ActivateWorkflow204Response{}, nil
	})
}

// DeactivateWorkflow implements POST /workflows/{workflow_id}/deactivate.
func (p *Platform) DeactivateWorkflow(
	ctx context.Context, r api.DeactivateWorkflowRequestObject,
) (api.DeactivateWorkflowResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.DeactivateWorkflowResponseObject, error) {
		w, err := t.workflow(r.WorkflowID)
		if err != nil {
			return nil, err
		}
		w.Status = workflowInactive
		t.account.greet(w)
		return api.DeactivateWorkflow204Response{}, nil
	})
}

// runWorkflows sends the emails of the list's active workflows to a contact
// that has just become active.
func (t *tx) runWorkflows(l *list, c *contact) {
	for _, w := range t.account.greetings[l.ListID] {
		if c.Status != statusActive || t.account.Suppression.matches(c.Email) { // by the last one, perhaps
			return
		}
		m := &message{
			ID:          UUID(),
			SentBy:      events.SendingTypeWorkflow,
			From:        w.Sender,
			Content:     t.sendable(w.Content),
			WorkflowID:  w.WorkflowID,
			SubmittedOn: t.unix(),
		}
		m.address(c.Email, l, c)
		t.send(m)
	}
}
