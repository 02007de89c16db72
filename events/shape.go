package events

import "example.com/emailplatform/internal/jsonscan"

// readShape reads the data of an event in the type of its shape. It returns nil
// if the data has no shape of that event, which is then a mismatch, or if the
// event is not known, when it reads nothing.
func readShape(c *jsonscan.Cursor, event string) (_ Data, known bool) {
	switch event {
	case NameEmailBounced:
		return readBounce(c), true
	case NameEmailReportedAsSpam:
		return readComplaint(c), true
	case NameEmailUnsubscribed:
		return object(c, readEmailUnsubscribed), true
	case NameEmailGlobalUnsubscribed:
		return object(c, readEmailGloballyUnsubscribed), true
	case NameEmailRejected:
		return object(c, readEmailRejected), true
	case NameEmailError:
		return object(c, readEmailErrored), true
	case NameEmailOpened:
		return object(c, readEmailOpened), true
	case NameEmailClicked:
		return object(c, readEmailClicked), true
	case NameContactAdded:
		return object(c, readContactAdded), true
	case NameContactUnsubscribed:
		return object(c, readContactUnsubscribed), true
	case NameContactRemoved:
		return object(c, readContactRemoved), true
	case NameSuppressedEmailAdded:
		return object(c, readEmailSuppressed), true
	case NameCampaignSent:
		return object(c, readCampaignSent), true
	case NameCampaignScheduled:
		return object(c, readCampaignScheduled), true
	}
	return nil, false
}

// object reads an object by read. Anything else, null too, is a mismatch.
func object[T any, P interface {
	*T
	Data
}](c *jsonscan.Cursor, read func(*jsonscan.Cursor) T) Data {
	if c.Peek() != '{' {
		c.Mismatch("an object")
		return nil
	}
	v := read(c)
	return P(&v)
}

func readBounce(c *jsonscan.Cursor) Data {
	switch sentBy(*c) {
	case SendingTypeCampaign:
		return object(c, readCampaignBounce)
	case SendingTypeWorkflow:
		return object(c, readWorkflowBounce)
	case SendingTypeTransactional:
		return object(c, readTransactionalBounce)
	case SendingTypeEmailAPI:
		return object(c, readEmailAPIBounce)
	}
	return noShape(c)
}

func readComplaint(c *jsonscan.Cursor) Data {
	switch sentBy(*c) {
	case SendingTypeCampaign:
		return object(c, readCampaignComplaint)
	case SendingTypeWorkflow:
		return object(c, readWorkflowComplaint)
	case SendingTypeTransactional:
		return object(c, readTransactionalComplaint)
	case SendingTypeEmailAPI:
		return object(c, readEmailAPIComplaint)
	}
	return noShape(c)
}

func noShape(c *jsonscan.Cursor) Data {
	c.Mismatch("an object with one of the members campaign, automation, transactional_email and email")
	return nil
}

// sentBy looks ahead for how the email of a bounce or complaint was sent: with a
// member bounce or fbl by what the members beside it name, without one through the
// Email API. Names that the platform may add to either do not change that.
func sentBy(c jsonscan.Cursor) (by SendingType) {
	var detailed, emailAPI bool
	for name := range c.Object() {
		if c.Peek() == '{' { // email is elsewhere an address
			switch name {
			case "bounce", "fbl":
				detailed = true
			case "campaign":
				by = SendingTypeCampaign
			case "automation":
				by = SendingTypeWorkflow
			case "transactional_email":
				by = SendingTypeTransactional
			case "email":
				emailAPI = true
			}
			if detailed && by != "" {
				return by
			}
		}
		c.Skip()
	}
	if emailAPI {
		return SendingTypeEmailAPI
	}
	return by
}
