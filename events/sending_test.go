package events_test

import (
	"reflect"
	"testing"

	"example.com/emailplatform/events"
)

func TestQuestions(t *testing.T) {
	const (
		ada      = "ada@example.org"
		bob      = "bob@example.org"
		sent     = "8f14e45fceea"
		campaign = events.SendingTypeCampaign
		workflow = events.SendingTypeWorkflow
		transact = events.SendingTypeTransactional
		emailAPI = events.SendingTypeEmailAPI
	)
	n, s, none := events.IntID(42), events.StringID("42"), events.ID{}
	answers := map[string]struct {
		recipient, emailID string
		list               events.ID
		sending            events.SendingType
	}{
		"campaign_bounce":                  {recipient: ada, list: n, sending: campaign},
		"campaign_bounce_segment":          {recipient: bob, list: n, sending: campaign},
		"campaign_complaint":               {recipient: ada, list: s, sending: campaign},
		"campaign_complaint_segment":       {recipient: bob, list: s, sending: campaign},
		"campaign_scheduled":               {list: s},
		"campaign_sent":                    {list: s},
		"contact_added":                    {recipient: ada, list: s},
		"contact_removed_by_link":          {recipient: ada, list: n},
		"contact_removed_by_user":          {recipient: ada, list: n},
		"contact_removed_deleted":          {recipient: ada, list: n},
		"contact_unsubscribed":             {recipient: ada, list: s},
		"email_api_bounce":                 {recipient: ada, emailID: emailID, list: n, sending: emailAPI},
		"email_api_bounce_no_contact":      {emailID: emailID, list: none, sending: emailAPI},
		"email_api_complaint":              {emailID: emailID, list: none, sending: emailAPI},
		"email_clicked":                    {recipient: ada, emailID: "e-771", list: s, sending: campaign},
		"email_errored":                    {emailID: emailID, list: none, sending: emailAPI},
		"email_globally_unsubscribed":      {emailID: emailID, list: none, sending: emailAPI},
		"email_opened":                     {recipient: ada, emailID: "e-771", list: s, sending: campaign},
		"email_opened_no_contact":          {recipient: ada, emailID: emailID, list: none},
		"email_rejected":                   {recipient: ada, emailID: emailID, list: n, sending: emailAPI},
		"email_rejected_no_contact":        {emailID: emailID, list: none, sending: emailAPI},
		"email_suppressed":                 {recipient: ada, list: none},
		"email_unsubscribed":               {recipient: ada, emailID: emailID, list: n, sending: emailAPI},
		"email_unsubscribed_still_active":  {recipient: bob, emailID: emailID, list: n, sending: emailAPI},
		"transactional_bounce":             {recipient: ada, emailID: sent, list: none, sending: transact},
		"transactional_bounce_no_headers":  {recipient: bob, emailID: sent, list: none, sending: transact},
		"transactional_complaint":          {recipient: ada, emailID: sent, list: none, sending: transact},
		"workflow_bounce_system_action":    {recipient: "cy@example.org", list: n, sending: workflow},
		"workflow_bounce_trigger":          {recipient: ada, list: n, sending: workflow},
		"workflow_complaint_system_action": {recipient: "cy@example.org", list: s, sending: workflow},
		"workflow_complaint_trigger":       {recipient: ada, list: s, sending: workflow},
	}
	for _, file := range deliveries(t) {
		t.Run(file, func(t *testing.T) {
			want, asked := answers[file]
			if !asked {
				t.Fatalf("TestQuestions has no row for %s", file)
			}
			ev := mustParse(t, delivery(t, file))
			if got := ev.Recipient(); got != want.recipient {
				t.Errorf("recipient %q, want %q", got, want.recipient)
			}
			if got := ev.EmailID(); got != want.emailID {
				t.Errorf("email %q, want %q", got, want.emailID)
			}
			if got := ev.ListID(); !reflect.DeepEqual(got, want.list) {
				t.Errorf("list %v, want %v", got, want.list)
			}
			if got := ev.SendingType(); got != want.sending {
				t.Errorf("sending type %q, want %q", got, want.sending)
			}
		})
	}
	for _, ev := range []events.Event{{}, {Data: &events.Unknown{}}, {Data: (*events.Unknown)(nil)}} {
		if ev.Recipient() != "" || ev.EmailID() != "" || !ev.ListID().IsZero() || ev.SendingType() != "" {
			t.Errorf("%+v: want no recipient, email, list or sending type", ev)
		}
	}
}

// TestCampaignAndBounce asks every example of the document.
func TestCampaignAndBounce(t *testing.T) {
	n, text := events.IntID(5001), events.StringID("5001")
	campaigns := map[string]events.ID{
		"campaign_bounce": n, "campaign_bounce_segment": n, "campaign_complaint": n, "campaign_complaint_segment": n,
		"campaign_scheduled": text, "campaign_sent": text, "email_clicked": text, "email_opened": text,
	}
	categories := map[string]events.BounceCategory{
		"campaign_bounce":                 events.BounceCategoryHard,
		"campaign_bounce_segment":         events.BounceCategoryMailboxFull,
		"transactional_bounce":            events.BounceCategoryBlocked,
		"transactional_bounce_no_headers": events.BounceCategoryAddressChange,
		"workflow_bounce_system_action":   events.BounceCategoryDNSFailure,
		"workflow_bounce_trigger":         events.BounceCategorySoft,
	}
	for _, file := range deliveries(t) {
		ev := mustParse(t, delivery(t, file))
		if got := ev.CampaignID(); !reflect.DeepEqual(got, campaigns[file]) {
			t.Errorf("%s: campaign %v, want %v", file, got, campaigns[file])
		}
		want, tells := categories[file]
		if got, told := ev.Bounce(); got.Category != want || told != tells {
			t.Errorf("%s: bounce %+v, %v, want %q", file, got, told, want)
		}
	}
	for _, ev := range []events.Event{{}, {Data: &events.Unknown{}}, {Data: (*events.Unknown)(nil)}, {Data: &events.CampaignBounce{}}} {
		if _, told := ev.Bounce(); told || !ev.CampaignID().IsZero() {
			t.Errorf("%+v: want no bounce and no campaign", ev)
		}
	}
	partial := mustParse(t, []byte(`{"event": "Email.Bounced", "data": {"campaign": {"type": "campaign", "id": 9, "name": 7}, "bounce": {"category": "bounce_sb"}}}`))
	if got, told := partial.Bounce(); !told || got.Category != events.BounceCategorySoft || !partial.CampaignID().Equal(events.IntID(9)) {
		t.Errorf("of data that does not fit: %+v, %v, campaign %v", got, told, partial.CampaignID())
	}
}
