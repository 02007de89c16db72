package events_test

import (
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
		"campaign_bounce":                  {ada, "", n, campaign},
		"campaign_bounce_segment":          {bob, "", n, campaign},
		"campaign_complaint":               {ada, "", s, campaign},
		"campaign_complaint_segment":       {bob, "", s, campaign},
		"campaign_scheduled":               {"", "", s, ""},
		"campaign_sent":                    {"", "", s, ""},
		"contact_added":                    {ada, "", s, ""},
		"contact_removed_by_link":          {ada, "", n, ""},
		"contact_removed_by_user":          {ada, "", n, ""},
		"contact_removed_deleted":          {ada, "", n, ""},
		"contact_unsubscribed":             {ada, "", s, ""},
		"email_api_bounce":                 {ada, emailID, n, emailAPI},
		"email_api_bounce_no_contact":      {"", emailID, none, emailAPI},
		"email_api_complaint":              {"", emailID, none, emailAPI},
		"email_clicked":                    {ada, "e-771", s, campaign},
		"email_errored":                    {"", emailID, none, emailAPI},
		"email_globally_unsubscribed":      {"", emailID, none, emailAPI},
		"email_opened":                     {ada, "e-771", s, campaign},
		"email_opened_no_contact":          {ada, emailID, none, ""},
		"email_rejected":                   {ada, emailID, n, emailAPI},
		"email_rejected_no_contact":        {"", emailID, none, emailAPI},
		"email_suppressed":                 {ada, "", none, ""},
		"email_unsubscribed":               {ada, emailID, n, emailAPI},
		"email_unsubscribed_still_active":  {bob, emailID, n, emailAPI},
		"transactional_bounce":             {ada, sent, none, transact},
		"transactional_bounce_no_headers":  {bob, sent, none, transact},
		"transactional_complaint":          {ada, sent, none, transact},
		"workflow_bounce_system_action":    {"cy@example.org", "", n, workflow},
		"workflow_bounce_trigger":          {ada, "", n, workflow},
		"workflow_complaint_system_action": {"cy@example.org", "", s, workflow},
		"workflow_complaint_trigger":       {ada, "", s, workflow},
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
			if got := ev.ListID(); got != want.list {
				t.Errorf("list %v, want %v", got, want.list)
			}
			if got := ev.SendingType(); got != want.sending {
				t.Errorf("sending type %q, want %q", got, want.sending)
			}
		})
	}
	for _, ev := range []events.Event{{}, {Data: &events.Unknown{}}, {Data: (*events.Unknown)(nil)}} {
		if ev.Recipient() != "" || ev.EmailID() != "" || !ev.ListID().IsZero() || ev.SendingType() != "" {
			t.Errorf("%+v", ev)
		}
	}
}
