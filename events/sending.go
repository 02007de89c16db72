package events

// SendingType is how an email was sent. The shape of a bounce and of a spam
// complaint depends on it: see "Shape of data by sending type" in the specification.
type SendingType string

// The ways to send an email.
const (
	// SendingTypeCampaign is by a campaign.
	SendingTypeCampaign SendingType = "campaign"
	// SendingTypeWorkflow is by a workflow, or by an event of a list such as the
	// double opt-in confirmation.
	SendingTypeWorkflow SendingType = "workflow"
	// SendingTypeTransactional is with the deprecated POST /emails.
	SendingTypeTransactional SendingType = "transactional"
	// SendingTypeEmailAPI is with POST /v2/emails, also by automations.
	SendingTypeEmailAPI SendingType = "email_api"
)

// SendingType returns how the email of the event was sent, or "" if the event
// does not tell or is about no email.
func (e *Event) SendingType() SendingType {
	switch d := known(e.Data).(type) {
	case *CampaignBounce, *CampaignComplaint:
		return SendingTypeCampaign
	case *WorkflowBounce, *WorkflowComplaint:
		return SendingTypeWorkflow
	case *TransactionalBounce, *TransactionalComplaint:
		return SendingTypeTransactional
	case *EmailAPIBounce, *EmailAPIComplaint, *EmailUnsubscribed, *EmailGloballyUnsubscribed, *EmailRejected, *EmailErrored:
		return SendingTypeEmailAPI
	case *EmailOpened:
		return ofCampaign(d.CampaignID)
	case *EmailClicked:
		return ofCampaign(d.CampaignID)
	}
	return ""
}

// ofCampaign returns what is known of an email from the id of its campaign.
func ofCampaign(id ID) SendingType {
	if id.IsZero() {
		return ""
	}
	return SendingTypeCampaign
}

// Recipient returns the address of the contact that the event is about, or ""
// if it carries none: then [Event.EmailID] tells which email to look up. Of
// SuppressedEmail.Added it is the entry that was added to the suppression list,
// which may stand for many addresses, as *@example.com does.
func (e *Event) Recipient() string {
	switch d := known(e.Data).(type) {
	case *CampaignBounce:
		return d.Contact.Email
	case *WorkflowBounce:
		return d.Contact.Email
	case *TransactionalBounce:
		return d.Contact.Email
	case *EmailAPIBounce:
		return addressOf(d.Contact)
	case *CampaignComplaint:
		return d.Contact.Email
	case *WorkflowComplaint:
		return d.Contact.Email
	case *TransactionalComplaint:
		return d.Contact.Email
	case *EmailUnsubscribed:
		return d.Contact.Email
	case *EmailRejected:
		return addressOf(d.Contact)
	case *EmailOpened:
		return d.EmailAddress
	case *EmailClicked:
		return d.EmailAddress
	case *ContactAdded:
		return d.EmailAddress
	case *ContactUnsubscribed:
		return d.EmailAddress
	case *ContactRemoved:
		return d.Contact.Email
	case *EmailSuppressed:
		return d.SuppressedEmail.Email
	}
	return ""
}

func addressOf(c *Contact) string {
	if c == nil {
		return ""
	}
	return c.Email
}

// EmailID returns the id of the email that the event is about, or "" if it
// carries none, as the events of campaigns and workflows. For the Email API it
// is the id that POST /v2/emails returned and GET /v2/emails/{email_id} takes.
func (e *Event) EmailID() string {
	switch d := known(e.Data).(type) {
	case *TransactionalBounce:
		return d.TransactionalEmail.ID
	case *TransactionalComplaint:
		return d.TransactionalEmail.ID
	case *EmailAPIBounce:
		return d.Email.ID
	case *EmailAPIComplaint:
		return d.Email.ID
	case *EmailUnsubscribed:
		return d.Email.ID
	case *EmailGloballyUnsubscribed:
		return d.Email.ID
	case *EmailRejected:
		return d.Email.ID
	case *EmailErrored:
		return d.Email.ID
	case *EmailOpened:
		return d.EmailID.String()
	case *EmailClicked:
		return d.EmailID.String()
	}
	return ""
}

// ListID returns the id of the list that the event is about, or the zero ID if
// it carries none.
func (e *Event) ListID() ID {
	switch d := known(e.Data).(type) {
	case *CampaignBounce:
		return d.List.ID
	case *WorkflowBounce:
		return d.List.ID
	case *EmailAPIBounce:
		return idOf(d.List)
	case *CampaignComplaint:
		return d.List.ID
	case *WorkflowComplaint:
		return d.List.ID
	case *EmailUnsubscribed:
		return d.List.ID
	case *EmailRejected:
		return idOf(d.List)
	case *EmailOpened:
		return d.ListID
	case *EmailClicked:
		return d.ListID
	case *ContactAdded:
		return d.ListID
	case *ContactUnsubscribed:
		return d.ListID
	case *ContactRemoved:
		return d.List.ID
	case *CampaignSent:
		return d.ListID
	case *CampaignScheduled:
		return d.ListID
	}
	return ID{}
}

func idOf(l *ListRef) ID {
	if l == nil {
		return ID{}
	}
	return l.ID
}

// known returns d, or what could be read of data that does not fit its shape.
func known(d Data) Data {
	if u, ok := d.(*Unknown); ok && u != nil {
		return u.Partial
	}
	return d
}
