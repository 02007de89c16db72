package client

import (
	"context"
	"iter"
)

// WorkflowStatus is the status of a workflow. The platform may add new
// statuses.
type WorkflowStatus string

// The known values of [WorkflowStatus].
const (
	WorkflowStatusActive   WorkflowStatus = "active"
	WorkflowStatusInactive WorkflowStatus = "inactive"
)

// Workflows manages workflows. A workflow sends a message to each contact that is
// added to a list. (Specification: What the service does.)
type Workflows struct{ x exchange }

// Create creates an inactive workflow.
func (s *Workflows) Create(ctx context.Context, workflow WorkflowCreate) (Workflow, error) {
	return do(ctx, s.x, createWorkflowRequest(workflow), readWorkflow)
}

// Get returns a workflow.
func (s *Workflows) Get(ctx context.Context, workflowID string) (Workflow, error) {
	return do(ctx, s.x, getWorkflowRequest(workflowID), readWorkflow)
}

// Activate starts a workflow. It is idempotent.
func (s *Workflows) Activate(ctx context.Context, workflowID string) error {
	return perform(ctx, s.x, activateWorkflowRequest(workflowID), nil)
}

// Deactivate stops a workflow. It is idempotent.
func (s *Workflows) Deactivate(ctx context.Context, workflowID string) error {
	return perform(ctx, s.x, deactivateWorkflowRequest(workflowID), nil)
}

// List returns one page of workflows, oldest first.
func (s *Workflows) List(ctx context.Context, params ListWorkflowsParams) (WorkflowPage, error) {
	return do(ctx, s.x, listWorkflowsRequest(params), readWorkflowPage)
}

// All iterates over all items, starting at params.Page. See Pagination in the
// package documentation.
func (s *Workflows) All(
	ctx context.Context, params ListWorkflowsParams, opts ...IterOption,
) iter.Seq2[Workflow, error] {
	return paginate(ctx, s.x, readWorkflowPage, listWorkflowsRequest(params), opts)
}

func (p WorkflowPage) items() ([]Workflow, Pagination) { return p.Data, p.Pagination }
