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

// ofCampaign returns what is known of an email from the id of its campaign.
func ofCampaign(id ID) SendingType {
	if id.IsZero() {
		return ""
	}
	return SendingTypeCampaign
}

// Recipient returns the address of the contact that the event is about, or ""
// if the event does not contain it; then look up the email with
// [Event.EmailID]. For SuppressedEmail.Added it is the added entry of the
// suppression list, which can match many addresses, for example *@example.com.
func (e *Event) Recipient() string { return recipientOf(known(e.Data)) }

func addressOf(c *Contact) string {
	if c == nil {
		return ""
	}
	return c.Email
}

// EmailID returns the id of the email that the event is about, or "" if it
// carries none, as the events of campaigns and workflows. For the Email API it
// is the id that POST /v2/emails returned and GET /v2/emails/{email_id} takes.
func (e *Event) EmailID() string { return emailOf(known(e.Data)) }

// ListID returns the id of the list that the event is about, or the zero ID if
// it carries none.
func (e *Event) ListID() ID { return listOf(known(e.Data)) }

// CampaignID returns the id of the campaign that the event is about, or that sent
// the email that it is about, or the zero ID if it carries none.
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

// known returns d, or what could be read of data that does not fit its shape.
func known(d Data) Data {
	if u, _ := d.(*Unknown); u != nil {
		return u.Partial
	}
	return d
}
