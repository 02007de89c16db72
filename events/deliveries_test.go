package events_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"example.com/emailplatform/events"
)

const (
	emailID   = "01JD5K7Z8Q9WXYZ4T6N2M3B1CD"
	sourceIP  = "203.0.113.25"
	userAgent = "Mozilla/5.0 (X11; Linux x86_64)"

	campaignSender = events.SendingTypeCampaign
	workflowSender = events.SendingTypeWorkflow
	legacySender   = events.SendingTypeTransactional
	emailAPISender = events.SendingTypeEmailAPI
)

func unix(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

var (
	number, text = events.IntID, events.StringID
	noID, noUser = events.ID{}, events.User{}
	offers       = events.Value("Autumn offers")
	user         = events.User{ID: events.Value(int64(31)), Email: events.Value("ops@shop.example"), AccountID: events.Value(int64(1204))}
	email        = events.EmailRef{ID: emailID}
	feedback     = events.FeedbackLoop{Provider: "Mailbox.example", SourceIP: sourceIP}
	place        = events.RecipientContext{IP: "198.51.100.7", UserAgent: userAgent}
	campaign     = events.CampaignRef{Type: "campaign", ID: number(5001), Name: offers.V}
	list         = events.ListRef{ID: number(42), Name: events.Value("Newsletter")}
	listText     = events.ListRef{ID: text("42"), Name: events.Value("Newsletter")} // the same list in a complaint
	segment      = events.Segment{ID: number(77), Name: events.Value("Bought twice"), Query: events.Value(json.RawMessage(`"orders > 1"`))}
	trigger      = events.Automation{Trigger: &events.AutomationRef{ID: number(810), Name: events.Value("Welcome")}}
	firstName    = events.CustomAttribute{Name: "first_name", Value: "Ada"}
	headers      = []events.MessageHeader{{Name: "X-Order", Value: "2231"}}
	ada          = events.Contact{
		ID: number(90210), Email: "ada@example.org", Status: "active", SubscribedOn: unix(1735689600),
		CustomAttributes: []events.CustomAttribute{firstName, {Name: "city", Value: "London"}},
		Tags:             []string{"customer", "vip"}, Interests: []string{"books"},
	}
	adaUnsubscribed = func() events.Contact { a := ada; a.Status = "unsubscribed"; return a }()
	adaRemoved      = events.RemovedContact{
		ID: number(90210), Email: "ada@example.org", Status: "unsubscribed", SubscribedOn: unix(1735689600),
		CustomAttributes: []events.CustomAttribute{firstName}, LastBounceType: events.BounceTypeNone,
	}
)

// systemAction is the automation of an email that an event of a list sent.
func systemAction(id int64, kind events.SystemActionType, name string) events.Automation {
	return events.Automation{
		Workflow: &events.AutomationRef{}, Action: &events.AutomationRef{},
		SystemAction: &events.SystemAction{Type: kind, ID: number(id), Name: events.Value(name)},
	}
}

func bounced(id int64, address string) events.BouncedContact {
	return events.BouncedContact{ID: number(id), Email: address}
}

// complaining returns a contact of a complaint, where ids are strings.
func complaining(id, address string) events.ComplainingContact {
	return events.ComplainingContact{ID: text(id), Email: address, Status: "spam"}
}

// transactional returns a transactional email and its bounce, which has a flat copy of both.
func transactional(id int64, address string, category events.BounceCategory, dsn string, headers []events.MessageHeader) *events.TransactionalBounce {
	from := events.MessageSender{Name: "Shop", Email: "orders@shop.example"}
	const envelope = "bounce+8f14@mail.shop.example"
	return &events.TransactionalBounce{
		Bounce:             events.BounceDetail{ID: events.Value(id), DSNMessage: dsn, SourceIP: sourceIP, Category: category},
		TransactionalEmail: events.TransactionalEmail{ID: "8f14e45fceea", Sender: from, EnvelopeFrom: envelope, AdditionalHeaders: headers},
		Contact:            events.AddressedContact{Email: address},
		ID:                 number(id), Email: address, SentID: text("8f14e45fceea"), SenderName: from.Name, SenderEmail: from.Email, SourceIP: sourceIP,
		EnvelopeFrom: envelope, DSNMessage: dsn, AdditionalHeaders: headers,
	}
}

// removed returns the data of Contact.Removed.
func removed(at int64, change func(*events.ContactRemoved)) *events.ContactRemoved {
	r := &events.ContactRemoved{List: list, Contact: adaRemoved, Context: events.ActionContext{Timestamp: unix(at)}}
	change(r)
	return r
}

// examples are the contents of the deliveries in testdata.
var examples = map[string]struct {
	data      events.Data
	recipient string
	emailID   string
	list      events.ID
	sender    events.SendingType
	campaign  events.ID
	user      events.User
}{
	"campaign_bounce": {&events.CampaignBounce{
		Bounce: events.BounceDetail{
			DSNMessage: "550 5.1.1 The email account that you tried to reach does not exist", SourceIP: sourceIP, Category: events.BounceCategoryHard,
		}, Campaign: campaign, Contact: bounced(90210, "ada@example.org"), List: list,
	}, "ada@example.org", "", list.ID, campaignSender, campaign.ID, noUser},
	"campaign_bounce_segment": {&events.CampaignBounce{
		Bounce:   events.BounceDetail{DSNMessage: "452 4.2.2 Mailbox full", SourceIP: sourceIP, Category: events.BounceCategoryMailboxFull},
		Campaign: campaign, Contact: bounced(90211, "bob@example.org"), List: list, Segment: segment,
	}, "bob@example.org", "", list.ID, campaignSender, campaign.ID, noUser},
	"workflow_bounce_trigger": {&events.WorkflowBounce{
		Bounce:     events.BounceDetail{DSNMessage: "451 4.3.0 Try again later", SourceIP: sourceIP, Category: events.BounceCategorySoft},
		Automation: trigger, Contact: bounced(90210, "ada@example.org"), List: events.ListRef{ID: list.ID},
	}, "ada@example.org", "", list.ID, workflowSender, noID, noUser},
	"workflow_bounce_system_action": {&events.WorkflowBounce{
		Bounce:     events.BounceDetail{DSNMessage: "550 5.1.2 Host not found", SourceIP: sourceIP, Category: events.BounceCategoryDNSFailure},
		Automation: systemAction(12, events.SystemActionTypeDoubleOptIn, "Confirmation"), Contact: bounced(90212, "cy@example.org"),
		List: events.ListRef{ID: list.ID},
	}, "cy@example.org", "", list.ID, workflowSender, noID, noUser},
	"transactional_bounce": {
		transactional(66012, "ada@example.org", events.BounceCategoryBlocked, "554 5.7.1 Message blocked by the policy of the recipient", headers),
		"ada@example.org", "8f14e45fceea", noID, legacySender, noID, noUser,
	},
	"transactional_bounce_no_headers": {
		transactional(66013, "bob@example.org", events.BounceCategoryAddressChange, "551 5.1.6 User has moved", nil),
		"bob@example.org", "8f14e45fceea", noID, legacySender, noID, noUser,
	},
	"email_api_bounce": {
		&events.EmailAPIBounce{EventTime: unix(1763651419), Email: email, Contact: &ada, List: &list},
		"ada@example.org", emailID, list.ID, emailAPISender, noID, noUser,
	},
	"email_api_bounce_no_contact": {
		&events.EmailAPIBounce{EventTime: unix(1763651479), Email: email}, "", emailID, noID, emailAPISender, noID, noUser,
	},

	"campaign_complaint": {
		&events.CampaignComplaint{FBL: feedback, Campaign: campaign, Contact: complaining("90210", "ada@example.org"), List: listText},
		"ada@example.org", "", listText.ID, campaignSender, campaign.ID, noUser,
	},
	"campaign_complaint_segment": {
		&events.CampaignComplaint{FBL: feedback, Campaign: campaign, Contact: complaining("90211", "bob@example.org"), List: listText, Segment: segment},
		"bob@example.org", "", listText.ID, campaignSender, campaign.ID, noUser,
	},
	"workflow_complaint_trigger": {
		&events.WorkflowComplaint{FBL: feedback, Automation: trigger, Contact: complaining("90210", "ada@example.org"), List: listText},
		"ada@example.org", "", listText.ID, workflowSender, noID, noUser,
	},
	"workflow_complaint_system_action": {&events.WorkflowComplaint{
		FBL: feedback, Automation: systemAction(13, events.SystemActionTypeOptIn, "Welcome to the list"),
		Contact: complaining("90212", "cy@example.org"), List: listText,
	}, "cy@example.org", "", listText.ID, workflowSender, noID, noUser},
	"transactional_complaint": {&events.TransactionalComplaint{
		FBL: feedback, Contact: events.AddressedContact{Email: "ada@example.org"},
		TransactionalEmail: transactional(0, "", "", "", headers).TransactionalEmail,
	}, "ada@example.org", "8f14e45fceea", noID, legacySender, noID, noUser},
	"email_api_complaint": {
		&events.EmailAPIComplaint{EventTime: unix(1763651839), Email: email}, "", emailID, noID, emailAPISender, noID, noUser,
	},

	"email_unsubscribed": {
		&events.EmailUnsubscribed{EventTime: unix(1763651899), Email: email, Contact: adaUnsubscribed, List: list, Context: place},
		"ada@example.org", emailID, list.ID, emailAPISender, noID, noUser,
	},
	"email_unsubscribed_still_active": {&events.EmailUnsubscribed{
		EventTime: unix(1763651959), Email: email, List: list, Context: place,
		Contact: events.Contact{
			ID: number(90211), Email: "bob@example.org", Status: "active", SubscribedOn: unix(1735689600),
			CustomAttributes: []events.CustomAttribute{}, Tags: []string{}, Interests: []string{},
		},
	}, "bob@example.org", emailID, list.ID, emailAPISender, noID, noUser},
	"email_globally_unsubscribed": {
		&events.EmailGlobalUnsubscribed{EventTime: unix(1763652019), Email: email, Context: place},
		"", emailID, noID, emailAPISender, noID, noUser,
	},
	"email_rejected": {&events.EmailRejected{
		Reason: events.RejectReasonUnsubscribed, EventTime: unix(1763652079), Email: email, Contact: &adaUnsubscribed, List: &list,
	}, "ada@example.org", emailID, list.ID, emailAPISender, noID, user},
	"email_rejected_no_contact": {
		&events.EmailRejected{Reason: events.RejectReasonSuppressed, EventTime: unix(1763652139), Email: email},
		"", emailID, noID, emailAPISender, noID, user,
	},
	"email_errored": {
		&events.EmailErrored{Error: "internal error; the message could not be queued", EventTime: unix(1763652199), Email: email},
		"", emailID, noID, emailAPISender, noID, user,
	},

	"contact_removed_by_link": {removed(1763652259, func(r *events.ContactRemoved) {
		r.Context.IP, r.Context.UserAgent = events.Value("198.51.100.7"), events.Value(userAgent)
	}), "ada@example.org", "", list.ID, "", noID, noUser},
	"contact_removed_by_user": {removed(1763652319, func(r *events.ContactRemoved) {
		r.Contact.BouncesCount, r.Contact.LastBounceType = 2, "soft"
	}), "ada@example.org", "", list.ID, "", noID, user},
	"contact_removed_deleted": {removed(1763652379, func(r *events.ContactRemoved) {
		r.Contact.Status, r.Contact.CustomAttributes = events.ContactStatusDeleted, []events.CustomAttribute{}
	}), "ada@example.org", "", list.ID, "", noID, user},
	"email_suppressed": {
		&events.SuppressedEmailAdded{SuppressedEmail: events.SuppressedAddress{Email: "ada@example.org"}},
		"ada@example.org", "", noID, "", noID, noUser,
	},

	"email_opened": {&events.EmailOpened{
		EmailID: text("e-771"), ContactID: text("90210"), CampaignID: text("5001"), ListID: text("42"),
		EmailAddress: "ada@example.org", OpenedAt: unix(1763652719),
	}, "ada@example.org", "e-771", text("42"), campaignSender, text("5001"), noUser},
	"email_opened_no_contact": {
		&events.EmailOpened{EmailID: text(emailID), EmailAddress: "ada@example.org", OpenedAt: unix(1763652779)},
		"ada@example.org", emailID, noID, "", noID, noUser,
	},
	"email_clicked": {&events.EmailClicked{
		EmailID: text("e-771"), ContactID: text("90210"), CampaignID: text("5001"), ListID: text("42"), EmailAddress: "ada@example.org",
		URL: "https://shop.example/offers?week=47&ref=mail", ClickedAt: unix(1763652839).Add(250 * time.Millisecond),
	}, "ada@example.org", "e-771", text("42"), campaignSender, text("5001"), noUser},
	"contact_added": {
		&events.ContactAdded{ContactID: text("90210"), ListID: text("42"), EmailAddress: "ada@example.org", AddedAt: unix(1763652600)},
		"ada@example.org", "", text("42"), "", noID, noUser,
	},
	"contact_unsubscribed": {
		&events.ContactUnsubscribed{ContactID: text("90210"), ListID: text("42"), EmailAddress: "ada@example.org", UnsubscribedAt: unix(1763652659)},
		"ada@example.org", "", text("42"), "", noID, noUser,
	},
	"campaign_sent": {
		&events.CampaignSent{CampaignID: text("5001"), ListID: text("42"), Name: "Autumn offers", SentAt: unix(1763652898)},
		"", "", text("42"), "", text("5001"), noUser,
	},
	"campaign_scheduled": {
		&events.CampaignScheduled{CampaignID: text("5001"), ListID: text("42"), Name: "Autumn offers", ScheduledFor: unix(1763712000)},
		"", "", text("42"), "", text("5001"), noUser,
	},
}

// bounceOf returns the bounce of the data.
func bounceOf(data events.Data) (b events.BounceDetail, ok bool) {
	switch d := data.(type) {
	case *events.CampaignBounce:
		return d.Bounce, true
	case *events.WorkflowBounce:
		return d.Bounce, true
	case *events.TransactionalBounce:
		return d.Bounce, true
	}
	return b, false
}

// TestExampleDeliveries: each delivery of openapi.yaml has the expected fields and the expected results of the methods of Event.
func TestExampleDeliveries(t *testing.T) {
	for _, name := range deliveries(t) {
		t.Run(name, func(t *testing.T) {
			want, known := examples[name]
			ev := mustParse(t, delivery(t, name))
			if !known || !reflect.DeepEqual(ev.Data, want.data) || ev.User != want.user {
				t.Errorf("got  %+v of the user %+v\nwant %+v of the user %+v", ev.Data, ev.User, want.data, want.user)
			}
			if ev.Recipient() != want.recipient || ev.EmailID() != want.emailID || ev.SendingType() != want.sender {
				t.Errorf("got the recipient %q, the email %q, the sending type %q", ev.Recipient(), ev.EmailID(), ev.SendingType())
			}
			if !reflect.DeepEqual(ev.ListID(), want.list) || !reflect.DeepEqual(ev.CampaignID(), want.campaign) {
				t.Errorf("got the list %v and the campaign %v, want %v and %v", ev.ListID(), ev.CampaignID(), want.list, want.campaign)
			}
			bounce, isBounce := bounceOf(want.data)
			if got, ok := ev.Bounce(); got != bounce || ok != isBounce {
				t.Errorf("got the bounce %+v, %v, want %+v", got, ok, bounce)
			}
			raw := map[string]any{}
			if fatal(t, json.Unmarshal(ev.Raw(), &raw)); raw["timestamp"] == nil {
				return
			}
			if ev.ID != "" || ev.AccountID != 0 || ev.IP != "" || raw["timestamp"] != ev.Time.Format(time.RFC3339Nano) {
				t.Errorf("got the general envelope %+v, want only the time %s", ev, raw["timestamp"])
			}
		})
	}
	ev := mustParse(t, delivery(t, "campaign_bounce"))
	if ev.Name != events.NameEmailBounced || ev.ID != "6f1c2b01-3d4e-4a5b-9c6d-7e8f9a0b1c01" || ev.AccountID != 1204 ||
		ev.IP != "203.0.113.10" || ev.Time != unix(1763651060) {
		t.Errorf("got the compliance envelope %+v", ev)
	}
}

// TestEventMethodsWithoutData: events without known data have no recipient, email, list, campaign or bounce.
func TestEventMethodsWithoutData(t *testing.T) {
	for _, ev := range []events.Event{{}, {Data: &events.Unknown{}}, {Data: (*events.Unknown)(nil)}, {Data: &events.CampaignBounce{}}} {
		_, isBounce := ev.Bounce()
		_, isCampaign := ev.Data.(*events.CampaignBounce)
		if ev.Recipient() != "" || ev.EmailID() != "" || !ev.ListID().IsZero() || !ev.CampaignID().IsZero() || isBounce || (ev.SendingType() == "") == isCampaign {
			t.Errorf("%+v: got a recipient, email, list, campaign, bounce or sending type", ev)
		}
	}
	partial := mustParse(t, []byte(`{"event": "Email.Bounced", "data": {"campaign": {"type": "campaign", "id": 9, "name": 7}, "bounce": {"category": "bounce_sb"}}}`))
	if got, ok := partial.Bounce(); !ok || got.Category != events.BounceCategorySoft || !partial.CampaignID().Equal(number(9)) {
		t.Errorf("of partial data: got %+v, %v, campaign %v", got, ok, partial.CampaignID())
	}
}

func TestBounceCategories(t *testing.T) {
	for _, row := range []struct {
		text        string
		category    events.BounceCategory
		hard, soft  bool
		description string
	}{
		{text: "bounce_hb", category: events.BounceCategoryHard, hard: true, description: "hard bounce"},
		{text: "bounce_sb", category: events.BounceCategorySoft, soft: true, description: "soft bounce"},
		{text: "bounce_fm", category: events.BounceCategoryMailboxFull, soft: true, description: "mailbox full"},
		{text: "bounce_mb", category: events.BounceCategoryBlocked, soft: true, description: "blocked"},
		{text: "bounce_tr", category: events.BounceCategoryTransient, soft: true, description: "transient failure"},
		{text: "bounce_df", category: events.BounceCategoryDNSFailure, soft: true, description: "DNS failure"},
		{text: "bounce_ar", category: events.BounceCategoryAutoReply, description: "automatic reply"},
		{text: "bounce_cr", category: events.BounceCategoryChallengeResponse, description: "challenge-response"},
		{text: "bounce_ac", category: events.BounceCategoryAddressChange, description: "address change"},
		{text: "bounce_xx", category: "bounce_xx", description: "bounce_xx"},
	} {
		t.Run(row.text, func(t *testing.T) {
			ev := mustParse(t, []byte(`{"event":"Email.Bounced","data":{"bounce":{"category":"`+row.text+`"},"campaign":{}}}`))
			d, ok := ev.Data.(*events.CampaignBounce)
			if !ok {
				t.Fatalf("%+v: want a bounce", ev.Data)
			}
			c := d.Bounce.Category
			if c != row.category || c.Hard() != row.hard || c.Soft() != row.soft || c.Description() != row.description {
				t.Errorf("%v: hard %v, soft %v, %q; want %v: hard %v, soft %v, %q", c, c.Hard(), c.Soft(), c.Description(),
					row.category, row.hard, row.soft, row.description)
			}
		})
	}
}

func TestRejectReasons(t *testing.T) {
	for text, want := range map[string]events.RejectReason{
		"bounced":      events.RejectReasonBounced,
		"unsubscribed": events.RejectReasonUnsubscribed,
		"pending":      events.RejectReasonPending,
		"spam":         events.RejectReasonSpam,
		"deleted":      events.RejectReasonDeleted,
		"suppressed":   events.RejectReasonSuppressed,
		"new":          "new",
	} {
		t.Run(text, func(t *testing.T) {
			ev := mustParse(t, []byte(`{"event":"Email.Rejected","data":{"reason":"`+text+`"}}`))
			if d, ok := ev.Data.(*events.EmailRejected); !ok || d.Reason != want {
				t.Errorf("%+v, want the reason %s", ev.Data, want)
			}
		})
	}
}
