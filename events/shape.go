package events

import "example.com/emailplatform/internal/json/jsonscan"

// object returns the data that read() decodes from a JSON object, and an empty Event for
// the caller to fill. Both are in one allocation, because this is cheaper than two. If the
// JSON value is not an object, for example null, object records a mismatch and returns
// nil data.
func object[T any, P interface {
	*T
	Data
}](c *jsonscan.Cursor, read func(*jsonscan.Cursor) T) (Data, *Event) {
	if c.Peek() != '{' {
		c.Mismatch("an object")
		return nil, new(Event)
	}
	v := struct {
		event Event
		data  T
	}{data: read(c)}
	return P(&v.data), &v.event
}

// readEmailBounced reads the data of Email.Bounced, which has one of four
// payload types.
func readEmailBounced(c *jsonscan.Cursor) (Data, *Event) {
	switch sendingTypeOf(*c) {
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

// readEmailReportedAsSpam reads the data of Email.ReportedAsSpam, which has one
// of four payload types.
func readEmailReportedAsSpam(c *jsonscan.Cursor) (Data, *Event) {
	switch sendingTypeOf(*c) {
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

func noShape(c *jsonscan.Cursor) (Data, *Event) {
	c.Mismatch("an object with one of the fields campaign, automation, transactional_email and email")
	return nil, new(Event)
}

// sendingTypeOf reads ahead to find out how the email of a bounce or complaint was sent.
// If the data has neither the field bounce nor the field fbl, the email was sent through
// the Email API. Otherwise the names of the other fields determine the sending type.
// Unknown fields do not change the result.
func sendingTypeOf(c jsonscan.Cursor) (by SendingType) {
	var detailed, emailAPI bool
	for name, more := c.First(); more; name, more = c.Next() {
		if c.Peek() == '{' { // in other payload types, email is an address
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
		c.SkipFast()
	}
	if emailAPI {
		return SendingTypeEmailAPI
	}
	return by
}
