package platform

import (
	"strconv"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/delivery"
)

// The platform's IP addresses in events.
const (
	platformIP = "203.0.113.10"
	sourceIP   = "203.0.113.25" // the machine that sends email
)

// The recipient's IP address and user agent in events.
const (
	recipientIP    = "198.51.100.23"
	recipientAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
)

// fire collects an event whose user is unknown.
func (t *tx) fire(name events.Name, data events.Data) { t.fireBy(events.User{}, name, data) }

// fireByCaller collects an event that the user who sent the request has caused. Recipient
// actions do not use it, because they have no user.
func (t *tx) fireByCaller(name events.Name, data events.Data) {
	if t.caller == nil {
		t.fire(name, data)
		return
	}
	t.fireBy(events.User{
		ID:        events.Value(t.caller.UserID),
		Email:     events.Value(t.caller.UserEmail),
		AccountID: events.Value(t.caller.AccountID),
	}, name, data)
}

// fireBy collects an event if a webhook is subscribed to it or if all events are recorded.
// During a seed, it does nothing. The event name determines the envelope; only the
// compliance envelope contains the user.
func (t *tx) fireBy(user events.User, name events.Name, data events.Data) {
	if t.isSeed || !t.p.Deliveries.HasSubscriber(t.account.ID, name) && !t.p.RecordEvents {
		return
	}
	event := events.Event{Name: name, Time: t.now.Truncate(time.Millisecond), Data: data}
	e := delivery.Event{AccountID: t.account.ID, MessageID: t.messageID, Name: name, Payload: event}
	e.Recipient = e.Payload.Recipient()
	if m := t.p.message(t.messageID); m != nil {
		e.Recipient, e.Subject = m.To, m.subject()
	}
	if !api.EventName(name).General() {
		e.ID = UUID()
		e.Payload.ID, e.Payload.AccountID, e.Payload.IP, e.Payload.User = e.ID, t.account.ID, platformIP, user
	}
	t.events = append(t.events, e)
}

func stringID(id int64) events.ID {
	if id == 0 {
		return events.ID{}
	}
	return events.StringID(strconv.FormatInt(id, 10))
}

func listRef(l *list) events.ListRef {
	return events.ListRef{ID: events.IntID(l.ListID), Name: events.Value(l.Name)}
}

func attributesOf(in []api.CustomAttribute) []events.CustomAttribute {
	out := make([]events.CustomAttribute, len(in))
	for i, a := range in {
		out[i] = events.CustomAttribute(a)
	}
	return out
}

func eventContact(c *contact) events.Contact {
	return events.Contact{
		ID:               events.IntID(c.ID),
		Email:            c.Email,
		Status:           events.ContactStatus(c.Status),
		SubscribedOn:     clock.Unix(c.SubscribedOn),
		CustomAttributes: attributesOf(c.CustomAttributes),
		Tags:             orEmpty(c.Tags),
		Interests:        orEmpty(c.Interests),
	}
}

// listContact returns nil, nil if the contact is nil.
func listContact(l *list, c *contact) (*events.Contact, *events.ListRef) {
	if c == nil {
		return nil, nil
	}
	contact, list := eventContact(c), listRef(l)
	return &contact, &list
}

func (t *tx) contactAdded(l *list, c *contact) {
	t.fire(events.NameContactAdded, &events.ContactAdded{
		ContactID: stringID(c.ID), ListID: stringID(l.ListID), EmailAddress: c.Email, AddedAt: t.second(),
	})
}

func (t *tx) contactUnsubscribed(l *list, c *contact) {
	t.fire(events.NameContactUnsubscribed, &events.ContactUnsubscribed{
		ContactID: stringID(c.ID), ListID: stringID(l.ListID), EmailAddress: c.Email, UnsubscribedAt: t.second(),
	})
}

func (t *tx) contactRemoved(l *list, c *contact) {
	context := events.ActionContext{Timestamp: t.second()}
	if t.caller == nil {
		context.IP, context.UserAgent = events.Value(recipientIP), events.Value(recipientAgent)
	}
	t.fireByCaller(events.NameContactRemoved, &events.ContactRemoved{
		List: listRef(l),
		Contact: events.RemovedContact{
			ID:               events.IntID(c.ID),
			Email:            c.Email,
			Status:           events.ContactStatus(c.Status),
			SubscribedOn:     clock.Unix(c.SubscribedOn),
			LastBounceType:   events.BounceType(c.lastBounce()),
			BouncesCount:     c.BouncesCount,
			CustomAttributes: attributesOf(c.CustomAttributes),
		},
		Context: context,
	})
}

func (t *tx) emailSuppressed(email string) {
	t.fire(events.NameSuppressedEmailAdded, &events.SuppressedEmailAdded{SuppressedEmail: events.SuppressedAddress{Email: email}})
}

func (t *tx) emailRejected(m *message, l *list, c *contact) {
	contact, list := listContact(l, c)
	t.fireByCaller(events.NameEmailRejected, &events.EmailRejected{
		Reason:    events.RejectReason(m.Reason),
		EventTime: t.second(),
		Email:     events.EmailRef{ID: m.ID},
		Contact:   contact,
		List:      list,
	})
}

func (t *tx) emailErrored(m *message) {
	t.fireByCaller(events.NameEmailError, &events.EmailErrored{Error: m.Error, EventTime: t.second(), Email: events.EmailRef{ID: m.ID}})
}

func (t *tx) campaignScheduled(c *campaign, l *list) {
	t.fire(events.NameCampaignScheduled, &events.CampaignScheduled{
		CampaignID:   stringID(c.CampaignID),
		ListID:       stringID(l.ListID),
		Name:         c.Name,
		ScheduledFor: clock.Unix(c.ScheduledFor),
	})
}

func (t *tx) campaignSent(c *campaign, l *list) {
	t.fire(events.NameCampaignSent, &events.CampaignSent{
		CampaignID: stringID(c.CampaignID), ListID: stringID(l.ListID), Name: c.Name, SentAt: t.second(),
	})
}

func (t *tx) emailOpened(m *message) {
	t.fire(events.NameEmailOpened, &events.EmailOpened{
		EmailID:      events.StringID(m.ID),
		ContactID:    m.shownID(m.ContactID),
		CampaignID:   stringID(m.CampaignID),
		ListID:       m.shownID(m.ListID),
		EmailAddress: m.To,
		OpenedAt:     t.second(),
	})
}

func (t *tx) emailClicked(m *message, url string) {
	t.fire(events.NameEmailClicked, &events.EmailClicked{
		EmailID:      events.StringID(m.ID),
		ContactID:    m.shownID(m.ContactID),
		CampaignID:   stringID(m.CampaignID),
		ListID:       m.shownID(m.ListID),
		EmailAddress: m.To,
		URL:          url,
		ClickedAt:    t.second(),
	})
}

// A transactional email is sent to an address, so its events omit the contact and the list.
func (m *message) shownID(id int64) events.ID {
	if m.SentBy == events.SendingTypeTransactional {
		return events.ID{}
	}
	return stringID(id)
}

// automation describes the sender of a workflow email. The sender is a workflow
// or, for a confirmation email, the list.
func (t *tx) automation(m *message) events.Automation {
	if w := t.account.Workflows.get(m.WorkflowID); w != nil {
		return events.Automation{Trigger: &events.AutomationRef{ID: events.IntID(w.WorkflowID), Name: events.Value(w.Name)}}
	}
	return events.Automation{
		Workflow: &events.AutomationRef{},
		Action:   &events.AutomationRef{},
		SystemAction: &events.SystemAction{
			ID: events.IntID(m.ListID), Type: events.SystemActionTypeDoubleOptIn, Name: events.Value("Confirmation"),
		},
	}
}

func (t *tx) campaignRef(m *message) events.CampaignRef {
	c := t.account.Campaigns.get(m.CampaignID)
	return events.CampaignRef{Type: "campaign", ID: events.IntID(c.CampaignID), Name: c.Name}
}

func (m *message) transactional() events.TransactionalEmail {
	out := events.TransactionalEmail{
		ID:           m.ID,
		Sender:       events.MessageSender{Name: m.From.Name, Email: m.From.Email},
		EnvelopeFrom: "bounce+" + m.ID + "@mail.platform.example",
	}
	for _, h := range m.Headers {
		out.AdditionalHeaders = append(out.AdditionalHeaders, events.MessageHeader(h))
	}
	return out
}

func (t *tx) emailBounced(m *message, l *list, c *contact) {
	detail := events.BounceDetail{DSNMessage: m.Bounce.Diagnostic, SourceIP: sourceIP, Category: m.Bounce.Category}
	var data events.Data
	switch m.SentBy {
	case events.SendingTypeCampaign:
		data = &events.CampaignBounce{
			Bounce:   detail,
			Campaign: t.campaignRef(m),
			Contact:  events.BouncedContact{ID: events.IntID(m.ContactID), Email: m.To},
			List:     listRef(l),
		}
	case events.SendingTypeWorkflow:
		data = &events.WorkflowBounce{
			Bounce:     detail,
			Automation: t.automation(m),
			Contact:    events.BouncedContact{ID: events.IntID(m.ContactID), Email: m.To},
			List:       events.ListRef{ID: events.IntID(m.ListID)},
		}
	case events.SendingTypeTransactional:
		data = t.transactionalBounce(m, detail)
	default:
		contact, list := listContact(l, c)
		data = &events.EmailAPIBounce{EventTime: t.second(), Email: events.EmailRef{ID: m.ID}, Contact: contact, List: list}
	}
	t.fire(events.NameEmailBounced, data)
}

// transactionalBounce returns a payload that repeats most values in an older, flat
// format.
func (t *tx) transactionalBounce(m *message, detail events.BounceDetail) *events.TransactionalBounce {
	id, email := t.nextID(), m.transactional()
	detail.ID = events.Value(id)
	return &events.TransactionalBounce{
		Bounce:             detail,
		TransactionalEmail: email,
		Contact:            events.AddressedContact{Email: m.To},
		ID:                 events.IntID(id),
		Email:              m.To,
		SentID:             events.StringID(m.ID),
		SenderName:         email.Sender.Name,
		SenderEmail:        email.Sender.Email,
		SourceIP:           detail.SourceIP,
		EnvelopeFrom:       email.EnvelopeFrom,
		DSNMessage:         detail.DSNMessage,
		AdditionalHeaders:  email.AdditionalHeaders,
	}
}

func (t *tx) emailReported(m *message, l *list, c *contact, provider string) {
	loop := events.FeedbackLoop{Provider: provider, SourceIP: sourceIP}
	var who events.ComplainingContact
	var on events.ListRef
	if c != nil {
		who = events.ComplainingContact{ID: stringID(c.ID), Email: m.To, Status: events.ContactStatus(c.Status)}
		on = events.ListRef{ID: stringID(l.ListID), Name: events.Value(l.Name)}
	}
	var data events.Data
	switch m.SentBy {
	case events.SendingTypeCampaign:
		data = &events.CampaignComplaint{FBL: loop, Campaign: t.campaignRef(m), Contact: who, List: on}
	case events.SendingTypeWorkflow:
		data = &events.WorkflowComplaint{FBL: loop, Automation: t.automation(m), Contact: who, List: on}
	case events.SendingTypeTransactional:
		data = &events.TransactionalComplaint{
			FBL: loop, TransactionalEmail: m.transactional(), Contact: events.AddressedContact{Email: m.To},
		}
	default:
		data = &events.EmailAPIComplaint{EventTime: t.second(), Email: events.EmailRef{ID: m.ID}}
	}
	t.fire(events.NameEmailReportedAsSpam, data)
}

func (t *tx) emailUnsubscribed(m *message, l *list, c *contact) {
	t.fire(events.NameEmailUnsubscribed, &events.EmailUnsubscribed{
		EventTime: t.second(),
		Email:     events.EmailRef{ID: m.ID},
		Contact:   eventContact(c),
		List:      listRef(l),
		Context:   events.RecipientContext{IP: recipientIP, UserAgent: recipientAgent},
	})
}

func (t *tx) emailGloballyUnsubscribed(m *message) {
	t.fire(events.NameEmailGlobalUnsubscribed, &events.EmailGlobalUnsubscribed{
		EventTime: t.second(),
		Email:     events.EmailRef{ID: m.ID},
		Context:   events.RecipientContext{IP: recipientIP, UserAgent: recipientAgent},
	})
}
