package client

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
type Workflows struct{ handler handler }
