package events_test

import (
	"encoding/json"
	"testing"
	"time"

	"example.com/emailplatform/events"
)

const emailID = "01JD5K7Z8Q9WXYZ4T6N2M3B1CD"

func unix(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

// examples are the expected results of the methods of Event for the deliveries in testdata.
var examples = map[string]struct {
	recipient, emailID, list string
	sender                   events.SendingType
	campaign                 string
	bounce                   events.BounceCategory
}{
	"campaign_bounce":                  {recipient: "ada@example.org", list: "42", sender: events.SendingTypeCampaign, campaign: "5001", bounce: events.BounceCategoryHard},
	"campaign_bounce_segment":          {recipient: "bob@example.org", list: "42", sender: events.SendingTypeCampaign, campaign: "5001", bounce: events.BounceCategoryMailboxFull},
	"workflow_bounce_trigger":          {recipient: "ada@example.org", list: "42", sender: events.SendingTypeWorkflow, bounce: events.BounceCategorySoft},
	"workflow_bounce_system_action":    {recipient: "cy@example.org", list: "42", sender: events.SendingTypeWorkflow, bounce: events.BounceCategoryDNSFailure},
	"transactional_bounce":             {recipient: "ada@example.org", emailID: "8f14e45fceea", sender: events.SendingTypeTransactional, bounce: events.BounceCategoryBlocked},
	"transactional_bounce_no_headers":  {recipient: "bob@example.org", emailID: "8f14e45fceea", sender: events.SendingTypeTransactional, bounce: events.BounceCategoryAddressChange},
	"email_api_bounce":                 {recipient: "ada@example.org", emailID: emailID, list: "42", sender: events.SendingTypeEmailAPI},
	"email_api_bounce_no_contact":      {emailID: emailID, sender: events.SendingTypeEmailAPI},
	"campaign_complaint":               {recipient: "ada@example.org", list: "42", sender: events.SendingTypeCampaign, campaign: "5001"},
	"campaign_complaint_segment":       {recipient: "bob@example.org", list: "42", sender: events.SendingTypeCampaign, campaign: "5001"},
	"workflow_complaint_trigger":       {recipient: "ada@example.org", list: "42", sender: events.SendingTypeWorkflow},
	"workflow_complaint_system_action": {recipient: "cy@example.org", list: "42", sender: events.SendingTypeWorkflow},
	"transactional_complaint":          {recipient: "ada@example.org", emailID: "8f14e45fceea", sender: events.SendingTypeTransactional},
	"email_api_complaint":              {emailID: emailID, sender: events.SendingTypeEmailAPI},
	"email_unsubscribed":               {recipient: "ada@example.org", emailID: emailID, list: "42", sender: events.SendingTypeEmailAPI},
	"email_unsubscribed_still_active":  {recipient: "bob@example.org", emailID: emailID, list: "42", sender: events.SendingTypeEmailAPI},
	"email_globally_unsubscribed":      {emailID: emailID, sender: events.SendingTypeEmailAPI},
	"email_rejected":                   {recipient: "ada@example.org", emailID: emailID, list: "42", sender: events.SendingTypeEmailAPI},
	"email_rejected_no_contact":        {emailID: emailID, sender: events.SendingTypeEmailAPI},
	"email_errored":                    {emailID: emailID, sender: events.SendingTypeEmailAPI},
	"contact_removed_by_link":          {recipient: "ada@example.org", list: "42"},
	"contact_removed_by_user":          {recipient: "ada@example.org", list: "42"},
	"contact_removed_deleted":          {recipient: "ada@example.org", list: "42"},
	"email_suppressed":                 {recipient: "ada@example.org"},
	"email_opened":                     {recipient: "ada@example.org", emailID: "e-771", list: "42", sender: events.SendingTypeCampaign, campaign: "5001"},
	"email_opened_no_contact":          {recipient: "ada@example.org", emailID: emailID},
	"email_clicked":                    {recipient: "ada@example.org", emailID: "e-771", list: "42", sender: events.SendingTypeCampaign, campaign: "5001"},
	"contact_added":                    {recipient: "ada@example.org", list: "42"},
	"contact_unsubscribed":             {recipient: "ada@example.org", list: "42"},
	"campaign_sent":                    {list: "42", campaign: "5001"},
	"campaign_scheduled":               {list: "42", campaign: "5001"},
}

// TestExampleDeliveries: each delivery of openapi.yaml has the expected results of the methods of Event.
// TestParsePayloadType compares the data.
func TestExampleDeliveries(t *testing.T) {
	for _, name := range deliveries(t) {
		t.Run(name, func(t *testing.T) {
			want, known := examples[name]
			ev := mustParse(t, delivery(t, name))
			if !known || ev.Recipient() != want.recipient || ev.EmailID() != want.emailID || ev.SendingType() != want.sender {
				t.Errorf("got the recipient %q, the email %q, the sending type %q", ev.Recipient(), ev.EmailID(), ev.SendingType())
			}
			if ev.ListID().String() != want.list || ev.CampaignID().String() != want.campaign {
				t.Errorf("got the list %v and the campaign %v, want %v and %v", ev.ListID(), ev.CampaignID(), want.list, want.campaign)
			}
			if got, ok := ev.Bounce(); got.Category != want.bounce || ok != (want.bounce != "") {
				t.Errorf("got the bounce %+v, %v, want %s", got, ok, want.bounce)
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
	user := events.User{ID: events.Value(int64(31)), Email: events.Value("ops@shop.example"), AccountID: events.Value(int64(1204))}
	if ev := mustParse(t, delivery(t, "email_rejected")); ev.User != user {
		t.Errorf("got the user %+v", ev.User)
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
	if got, ok := partial.Bounce(); !ok || got.Category != events.BounceCategorySoft || !partial.CampaignID().Equal(events.IntID(9)) {
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
