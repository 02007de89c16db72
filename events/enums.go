package events

// SendingType describes how an email was sent, for example by a campaign. The
// sending type determines the payload type of bounces and spam complaints
// (specification, "Shape of data by sending type").
type SendingType string

// The known values of [SendingType].
const (
	// SendingTypeCampaign means that a campaign sent the email.
	SendingTypeCampaign SendingType = "campaign"
	// SendingTypeWorkflow means that a workflow sent the email, or that the email
	// is the confirmation email for a double opt-in.
	SendingTypeWorkflow SendingType = "workflow"
	// SendingTypeTransactional means that the email was sent with the
	// deprecated POST /emails.
	SendingTypeTransactional SendingType = "transactional"
	// SendingTypeEmailAPI means that the email was sent with POST /v2/emails,
	// including by an automation.
	SendingTypeEmailAPI SendingType = "email_api"
)

// BounceType is the severity of a bounce. The platform may add bounce types.
type BounceType string

// The known values of [BounceType].
const (
	BounceTypeNone BounceType = "none" // the contact has no bounces
	BounceTypeHard BounceType = "hard" // permanent
	BounceTypeSoft BounceType = "soft" // temporary
)

// Hard reports whether the category is [BounceCategoryHard]: the address does not exist
// or never accepts email, so further emails would harm the sender's reputation.
func (c BounceCategory) Hard() bool { return c == BounceCategoryHard }

// Soft reports whether the message was not delivered for a temporary reason, so later
// emails to the same address may succeed.
//
// Automatic replies, challenges and address changes are neither hard nor soft, because
// the message was received. Neither are unknown categories.
func (c BounceCategory) Soft() bool {
	switch c {
	case BounceCategorySoft, BounceCategoryMailboxFull, BounceCategoryBlocked, BounceCategoryTransient,
		BounceCategoryDNSFailure:
		return true
	}
	return false
}

// Hard reports whether the bounce is permanent; see [BounceCategory.Hard].
//
// To decide whether a bounce is permanent, use the category in a BounceDetail, not the
// bounce type of an email or contact. The bounce type is either hard or soft, although
// some bounces, such as automatic replies, are neither. The event for the bounce of an
// Email API message contains no BounceDetail, so look up the email with [Event.EmailID]
// to get the category.
func (b BounceDetail) Hard() bool { return b.Category.Hard() }

// Soft reports whether the reason of the bounce is temporary; see [BounceCategory.Soft].
// Some bounces, for example automatic replies, are neither hard nor soft.
func (b BounceDetail) Soft() bool { return b.Category.Soft() }
