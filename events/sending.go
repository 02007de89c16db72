package events

// SendingType is the kind of sender of an email. It determines the payload type
// of bounces and spam complaints (specification, "Shape of data by sending
// type").
type SendingType string

// The known values of [SendingType].
const (
	// SendingTypeCampaign means that a campaign sent the email.
	SendingTypeCampaign SendingType = "campaign"
	// SendingTypeWorkflow means that a workflow or the list itself sent the email;
	// lists send double opt-in confirmations.
	SendingTypeWorkflow SendingType = "workflow"
	// SendingTypeTransactional means that the deprecated endpoint POST /emails
	// sent the email.
	SendingTypeTransactional SendingType = "transactional"
	// SendingTypeEmailAPI means that the endpoint POST /v2/emails sent the email,
	// including for automations.
	SendingTypeEmailAPI SendingType = "email_api"
)

// SendingType returns the sending type of the email, or "" if the event does
// not contain it or has no email.
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

// ofCampaign returns the sending type of an email with the campaign's id, which
// may be null.
func ofCampaign(id ID) SendingType {
	if id.IsZero() {
		return ""
	}
	return SendingTypeCampaign
}

// Recipient returns the address of the contact, or "" if the event does not
// contain it. In that case, look up the email with [Event.EmailID]. For
// SuppressedEmail.Added it is the added entry of the suppression list, which can
// match many addresses, for example *@example.com.
func (e *Event) Recipient() string { return recipientOf(known(e.Data)) }

func addressOf(c *Contact) string {
	if c == nil {
		return ""
	}
	return c.Email
}

// EmailID returns the id of the email, or "" if the event contains none, as in
// events of campaigns and workflows. For the Email API, POST /v2/emails
// returned this id and GET /v2/emails/{email_id} accepts it.
func (e *Event) EmailID() string { return emailOf(known(e.Data)) }

// ListID returns the id of the list, or the zero ID if the event contains none.
func (e *Event) ListID() ID { return listOf(known(e.Data)) }

// CampaignID returns the id of the campaign in the event, or of the campaign that
// sent the email. It returns the zero ID if the event contains none.
func (e *Event) CampaignID() ID { return campaignOf(known(e.Data)) }

// Bounce returns the bounce and whether the event contains it. Email.Bounced
// events contain it, except from the Email API: look up their email with GET
// /v2/emails/{email_id} and [Event.EmailID]. Other events do not contain it.
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

// known returns d, or the valid part of data that does not match its payload
// type.
func known(d Data) Data {
	if u, _ := d.(*Unknown); u != nil {
		return u.Partial
	}
	return d
}
