package events

// SendingType is the kind of sender that sent an email. The sending type
// determines the payload type of bounces and spam complaints (specification,
// "Shape of data by sending type").
type SendingType string

// The known values of [SendingType].
const (
	// SendingTypeCampaign means that a campaign sent the email.
	SendingTypeCampaign SendingType = "campaign"
	// SendingTypeWorkflow means that a workflow sent the email, or that the email
	// is the confirmation email for a double opt-in.
	SendingTypeWorkflow SendingType = "workflow"
	// SendingTypeTransactional means that the deprecated endpoint POST /emails
	// sent the email.
	SendingTypeTransactional SendingType = "transactional"
	// SendingTypeEmailAPI means that the endpoint POST /v2/emails sent the email,
	// including for automations.
	SendingTypeEmailAPI SendingType = "email_api"
)

// SendingType returns the sending type of the email, or "" if the event does
// not contain it.
func (e *Event) SendingType() SendingType {
	switch d := known(e.Data).(type) {
	case *CampaignBounce, *CampaignComplaint:
		return SendingTypeCampaign
	case *WorkflowBounce, *WorkflowComplaint:
		return SendingTypeWorkflow
	case *TransactionalBounce, *TransactionalComplaint:
		return SendingTypeTransactional
	case *EmailAPIBounce, *EmailAPIComplaint, *EmailUnsubscribed, *EmailGlobalUnsubscribed, *EmailRejected,
		*EmailErrored:
		return SendingTypeEmailAPI
	case *EmailOpened:
		return ofCampaign(d.CampaignID)
	case *EmailClicked:
		return ofCampaign(d.CampaignID)
	}
	return ""
}

// ofCampaign returns the sending type for the id of a campaign, or "" if the
// id is null.
func ofCampaign(id ID) SendingType {
	if id.IsZero() {
		return ""
	}
	return SendingTypeCampaign
}

// Recipient returns the address of the contact, or "" if the event does not
// contain the address. If the address is missing, look up the email with
// [Event.EmailID]. For SuppressedEmail.Added, Recipient returns the new entry
// in the suppression list, which may be a pattern such as *@example.com.
func (e *Event) Recipient() string { return recipientOf(known(e.Data)) }

func addressOf(c *Contact) string {
	if c == nil {
		return ""
	}
	return c.Email
}

// EmailID returns the id of the email, or "" if the event contains no id, for
// example for campaigns and workflows. POST /v2/emails returns this id, and GET
// /v2/emails/{email_id} accepts it.
func (e *Event) EmailID() string { return emailOf(known(e.Data)) }

// ListID returns the id of the list, or the zero ID if the event contains no
// list id.
func (e *Event) ListID() ID { return listOf(known(e.Data)) }

// CampaignID returns the id of the campaign that the event describes or that sent
// the email. It returns the zero ID if the event contains no campaign id.
func (e *Event) CampaignID() ID { return campaignOf(known(e.Data)) }

// Bounce returns the bounce, and reports whether the event contains it. Only
// Email.Bounced events contain a bounce. If the email was sent through the
// Email API, the event contains no bounce, so look up the email with
// [Event.EmailID].
func (e *Event) Bounce() (_ BounceDetail, told bool) {
	b := bounceOf(known(e.Data))
	return b, b != (BounceDetail{})
}

func idOf(l *ListRef) ID {
	if l == nil {
		return ID{}
	}
	return l.ID
}

// known returns d, or its valid fields if d does not match its payload type.
func known(d Data) Data {
	if u, _ := d.(*Unknown); u != nil {
		return u.Partial
	}
	return d
}
