package events

// ContactStatus is the status of a contact. The platform may add statuses.
type ContactStatus string

// The known values of [ContactStatus].
const (
	ContactStatusActive       ContactStatus = "active"
	ContactStatusPending      ContactStatus = "pending" // the recipient has not confirmed yet
	ContactStatusUnsubscribed ContactStatus = "unsubscribed"
	ContactStatusDeleted      ContactStatus = "deleted"
	ContactStatusSpam         ContactStatus = "spam" // has complained
	ContactStatusBounced      ContactStatus = "bounced"
	ContactStatusSuppressed   ContactStatus = "suppressed"
)
