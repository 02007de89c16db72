package events_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
)

const emailID = "01JD5K7Z8Q9WXYZ4T6N2M3B1CD"

func unix(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

// examples contains a description of each delivery in testdata.
var examples = map[string]string{
	"campaign_bounce":                  "CampaignBounce ada@example.org list=42 contact=90210 by=campaign campaign=5001 bounce=bounce_hb",
	"campaign_bounce_segment":          "CampaignBounce bob@example.org list=42 contact=90211 by=campaign campaign=5001 bounce=bounce_fm",
	"campaign_complaint":               "CampaignComplaint ada@example.org list=42 contact=90210 by=campaign campaign=5001",
	"campaign_complaint_segment":       "CampaignComplaint bob@example.org list=42 contact=90211 by=campaign campaign=5001",
	"campaign_scheduled":               "CampaignScheduled list=42 campaign=5001",
	"campaign_sent":                    "CampaignSent list=42 campaign=5001",
	"contact_added":                    "ContactAdded ada@example.org list=42 contact=90210",
	"contact_removed_by_link":          "ContactRemoved ada@example.org list=42 contact=90210",
	"contact_removed_by_user":          "ContactRemoved ada@example.org list=42 contact=90210",
	"contact_removed_deleted":          "ContactRemoved ada@example.org list=42 contact=90210",
	"contact_unsubscribed":             "ContactUnsubscribed ada@example.org list=42 contact=90210",
	"email_api_bounce":                 "EmailAPIBounce ada@example.org email=01JD5K7Z8Q9WXYZ4T6N2M3B1CD list=42 contact=90210 by=email_api",
	"email_api_bounce_no_contact":      "EmailAPIBounce email=01JD5K7Z8Q9WXYZ4T6N2M3B1CD by=email_api",
	"email_api_complaint":              "EmailAPIComplaint email=01JD5K7Z8Q9WXYZ4T6N2M3B1CD by=email_api",
	"email_clicked":                    "EmailClicked ada@example.org email=e-771 list=42 contact=90210 by=campaign campaign=5001",
	"email_errored":                    "EmailErrored email=01JD5K7Z8Q9WXYZ4T6N2M3B1CD by=email_api",
	"email_globally_unsubscribed":      "EmailGlobalUnsubscribed email=01JD5K7Z8Q9WXYZ4T6N2M3B1CD by=email_api",
	"email_opened":                     "EmailOpened ada@example.org email=e-771 list=42 contact=90210 by=campaign campaign=5001",
	"email_opened_no_contact":          "EmailOpened ada@example.org email=01JD5K7Z8Q9WXYZ4T6N2M3B1CD",
	"email_rejected":                   "EmailRejected ada@example.org email=01JD5K7Z8Q9WXYZ4T6N2M3B1CD list=42 contact=90210 by=email_api",
	"email_rejected_no_contact":        "EmailRejected email=01JD5K7Z8Q9WXYZ4T6N2M3B1CD by=email_api",
	"email_suppressed":                 "SuppressedEmailAdded ada@example.org",
	"email_unsubscribed":               "EmailUnsubscribed ada@example.org email=01JD5K7Z8Q9WXYZ4T6N2M3B1CD list=42 contact=90210 by=email_api",
	"email_unsubscribed_still_active":  "EmailUnsubscribed bob@example.org email=01JD5K7Z8Q9WXYZ4T6N2M3B1CD list=42 contact=90211 by=email_api",
	"transactional_bounce":             "TransactionalBounce ada@example.org email=8f14e45fceea by=transactional bounce=bounce_mb",
	"transactional_bounce_no_headers":  "TransactionalBounce bob@example.org email=8f14e45fceea by=transactional bounce=bounce_ac",
	"transactional_complaint":          "TransactionalComplaint ada@example.org email=8f14e45fceea by=transactional",
	"workflow_bounce_system_action":    "WorkflowBounce cy@example.org list=42 contact=90212 by=workflow bounce=bounce_df",
	"workflow_bounce_trigger":          "WorkflowBounce ada@example.org list=42 contact=90210 by=workflow bounce=bounce_sb",
	"workflow_complaint_system_action": "WorkflowComplaint cy@example.org list=42 contact=90212 by=workflow",
	"workflow_complaint_trigger":       "WorkflowComplaint ada@example.org list=42 contact=90210 by=workflow",
}

// describe returns the type of the data of ev, and the results of the methods of ev.
func describe(ev *events.Event) string {
	text := strings.TrimPrefix(fmt.Sprintf("%T", ev.Data), "*events.")
	for _, result := range []struct{ name, value string }{
		{"", ev.Recipient()},
		{"email=", ev.EmailID()},
		{"list=", ev.ListID().String()},
		{"contact=", ev.ContactID().String()},
		{"by=", string(ev.SendingType())},
		{"campaign=", ev.CampaignID().String()},
	} {
		if result.value != "" {
			text += " " + result.name + result.value
		}
	}
	if bounce, ok := ev.Bounce(); ok {
		text += fmt.Sprintf(" bounce=%s", bounce.Category)
	}
	return text
}

// TestExampleDeliveries: the exported fields of an event contain all values of each example delivery in
// openapi.yaml.
func TestExampleDeliveries(t *testing.T) {
	for _, name := range deliveries(t) {
		t.Run(name, func(t *testing.T) {
			body := delivery(t, name)
			ev := mustParse(t, body)
			assert.Equal(t, examples[name], describe(ev), "the row %s in examples", name)
			sameJSON(t, marshal(t, ev), body)
			sameJSON(t, marshal(t, ev.Data), ev.RawData())
			sameJSON(t, marshal(t, fieldsOf(ev)), body)
		})
	}
	ev := mustParse(t, delivery(t, "campaign_bounce"))
	if ev.Name != events.NameEmailBounced || ev.ID != "6f1c2b01-3d4e-4a5b-9c6d-7e8f9a0b1c01" || ev.AccountID != 1204 ||
		ev.IP != "203.0.113.10" || ev.Time != unix(1763651060) {
		t.Errorf("got the compliance envelope %+v", ev)
	}
	if ev := mustParse(t, delivery(t, "campaign_sent")); ev.ID != "" || ev.AccountID != 0 || ev.IP != "" || ev.Time.IsZero() {
		t.Errorf("got the general envelope %+v, want only the time", ev)
	}
	user := events.User{ID: events.Value(int64(31)), Email: events.Value("ops@shop.example"), AccountID: events.Value(int64(1204))}
	if ev := mustParse(t, delivery(t, "email_rejected")); ev.User != user {
		t.Errorf("got the user %+v", ev.User)
	}
}

// TestEventMethodsWithoutData: events without known data have no recipient, email, list, campaign or bounce.
func TestEventMethodsWithoutData(t *testing.T) {
	partial := `{"event":"Email.Bounced","data":{"campaign":{"id":9},"contact":{"email":7},"bounce":{"category":"bounce_sb"}}}`
	for _, row := range []struct {
		ev   *events.Event
		want string
	}{
		{&events.Event{}, "<nil>"},
		{&events.Event{Data: &events.Unknown{}}, "Unknown"},
		{&events.Event{Data: (*events.Unknown)(nil)}, "Unknown"},
		{&events.Event{Data: &events.CampaignBounce{}}, "CampaignBounce by=campaign"},
		{mustParse(t, []byte(partial)), "Unknown by=campaign campaign=9 bounce=bounce_sb"},
	} {
		assert.Equal(t, row.want, describe(row.ev))
	}
}

// TestBounceCategories: each category has a row.
func TestBounceCategories(t *testing.T) {
	var rows []events.BounceCategory
	for _, row := range []struct {
		category          events.BounceCategory
		text, description string
		hard, soft        bool
	}{
		{category: events.BounceCategoryHard, text: "bounce_hb", hard: true, description: "hard bounce"},
		{category: events.BounceCategorySoft, text: "bounce_sb", soft: true, description: "soft bounce"},
		{category: events.BounceCategoryMailboxFull, text: "bounce_fm", soft: true, description: "mailbox full"},
		{category: events.BounceCategoryBlocked, text: "bounce_mb", soft: true, description: "blocked"},
		{category: events.BounceCategoryTransient, text: "bounce_tr", soft: true, description: "transient failure"},
		{category: events.BounceCategoryDNSFailure, text: "bounce_df", soft: true, description: "DNS failure"},
		{category: events.BounceCategoryAutoReply, text: "bounce_ar", description: "automatic reply"},
		{category: events.BounceCategoryChallengeResponse, text: "bounce_cr", description: "challenge-response"},
		{category: events.BounceCategoryAddressChange, text: "bounce_ac", description: "address change"},
		{category: "bounce_xx", text: "bounce_xx", description: "bounce_xx"},
	} {
		rows = append(rows, row.category)
		c, b := row.category, events.BounceDetail{Category: row.category}
		if string(c) != row.text || c.Hard() != row.hard || c.Soft() != row.soft || b.Hard() != row.hard || b.Soft() != row.soft || c.Description() != row.description {
			t.Errorf("%s: hard %v, soft %v, %q; want %+v", c, c.Hard(), c.Soft(), c.Description(), row)
		}
	}
	assert.Equal(t, append(events.BounceCategories(), "bounce_xx"), rows, "the rows of this test")
}

// TestIDFieldsHaveTypeID: the platform writes ids as numbers or strings, so id fields have the type ID, with these
// exceptions.
func TestIDFieldsHaveTypeID(t *testing.T) {
	exceptions := "BounceDetail.ID Null[int64], EmailRef.ID string, User.ID Null[int64], User.AccountID Null[int64], " +
		"TransactionalEmail.ID string"
	source, err := os.ReadFile("types.gen.go")
	require.NoError(t, err)
	var got []string
	typ := ""
	fields := regexp.MustCompile("(?m)^type (\\w+) struct|^\t(\\w+) +(\\S+) +`json:\"(?:\\w+_)?id[,\"]")
	for _, m := range fields.FindAllStringSubmatch(string(source), -1) {
		if m[1] != "" {
			typ = m[1]
		} else if m[3] != "ID" {
			got = append(got, fmt.Sprintf("%s.%s %s", typ, m[2], m[3]))
		}
	}
	if strings.Join(got, ", ") != exceptions {
		t.Errorf("got %q, want %s: see \"Ids\" in internal/tools/codegen/events.overlay.yaml", got, exceptions)
	}
}
