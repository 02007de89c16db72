package platform

import "example.com/emailplatform/mockserver/internal/api"

// If you add a status, add it to WorkflowStatuses.
const (
	workflowActive   = "active"
	workflowInactive = "inactive"
)

// WorkflowStatuses returns the statuses of a workflow.
func WorkflowStatuses() []string { return []string{workflowActive, workflowInactive} }

func workflowWire(w *api.Workflow) api.Workflow {
	out := *w
	out.Content = contentForAPI(w.Content)
	return out
}
