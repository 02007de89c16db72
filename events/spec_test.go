package events_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"example.com/emailplatform/events"
)

// cell is one cell, or one row, of a table of the specification: in the delivery
// of that file, the member at path is this JSON, or absent, and the Go value too.
type cell struct {
	name string
	file string
	path []string // in data
	json string   // "" is absent
	get  func(ev *events.Event) any
	want any
}

func field[D events.Data, V any](get func(d D) V) func(*events.Event) any {
	return func(ev *events.Event) any {
		d, ok := ev.Data.(D)
		if !ok {
			return ev.Data
		}
		return get(d)
	}
}

func path(names ...string) []string { return names }

func unix(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }

func check(t *testing.T, cells []cell) {
	for _, c := range cells {
		t.Run(c.name, func(t *testing.T) {
			ev := mustParse(t, delivery(t, c.file))
			if c.get != nil {
				if got := c.get(ev); !reflect.DeepEqual(got, c.want) {
					t.Errorf("Go value is %#v, want %#v", got, c.want)
				}
			}
			written, err := json.Marshal(ev.Data) // from the fields alone
			if err != nil {
				t.Fatal(err)
			}
			if got := member(t, written, c.path); got != c.json {
				t.Errorf("written as %q, want %q", got, c.json)
			}
			if got := member(t, ev.RawData(), c.path); got != c.json {
				t.Errorf("came as %q, want %q", got, c.json)
			}
		})
	}
}

// member returns the JSON at path in data, compact and with sorted names, or "".
func member(t *testing.T, data []byte, path []string) string {
	t.Helper()
	for _, name := range path {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(data, &members); err != nil {
			t.Fatal(err)
		}
		data = members[name]
		if data == nil {
			return ""
		}
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	sorted, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(sorted)
}

const (
	nullSegment = `{"id":null,"name":null,"query":null}`
	nullContext = `{"ip":null,"timestamp":null,"user_agent":null}`
	nullRef     = `{"id":null,"name":null}`
	campaignRef = `{"id":5001,"name":"Autumn offers","type":"campaign"}`
	contactJSON = `{"custom_attributes":[{"name":"first_name","value":"Ada"},{"name":"city","value":"London"}],` +
		`"email":"ada@example.org","id":90210,"interests":["books"],"status":"active","subscribed_on":1735689600,` +
		`"tags":["customer","vip"]}`
	emailID = "01JD5K7Z8Q9WXYZ4T6N2M3B1CD"
)

var (
	ada = events.Contact{
		ID:               events.IntID(90210),
		Email:            "ada@example.org",
		Status:           "active",
		SubscribedOn:     unix(1735689600),
		CustomAttributes: []events.CustomAttribute{{Name: "first_name", Value: "Ada"}, {Name: "city", Value: "London"}},
		Tags:             []string{"customer", "vip"},
		Interests:        []string{"books"},
	}
	list42  = events.ListRef{ID: events.IntID(42), Name: events.Value("Newsletter")}
	headers = []events.MessageHeader{{Name: "X-Order", Value: "2231"}}
)

// The table of Email.Bounced, row by row: Campaign, Workflow, Transactional, Email API.
var bouncedTable = []cell{
	{
		name: "bounce/Campaign: yes",
		file: "campaign_bounce", path: path("bounce", "category"), json: `"bounce_hb"`,
		get: field(func(d *events.CampaignBounce) any { return d.Bounce.Category }), want: events.BounceCategoryHard,
	},
	{
		name: "bounce/Campaign: id null",
		file: "campaign_bounce", path: path("bounce", "id"), json: `null`,
		get: field(func(d *events.CampaignBounce) any { return d.Bounce.ID }), want: events.Null[int64]{},
	},
	{
		name: "bounce/Campaign: dsn_message",
		file: "campaign_bounce", path: path("bounce", "dsn_message"),
		json: `"550 5.1.1 The email account that you tried to reach does not exist"`,
		get:  field(func(d *events.CampaignBounce) any { return d.Bounce.DSNMessage }),
		want: "550 5.1.1 The email account that you tried to reach does not exist",
	},
	{
		name: "bounce/Campaign: source_ip",
		file: "campaign_bounce", path: path("bounce", "source_ip"), json: `"203.0.113.25"`,
		get: field(func(d *events.CampaignBounce) any { return d.Bounce.SourceIP }), want: "203.0.113.25",
	},
	{
		name: "bounce/Workflow: yes; id null",
		file: "workflow_bounce_trigger",
		path: path("bounce", "id"),
		json: `null`,
		get:  field(func(d *events.WorkflowBounce) any { return d.Bounce }),
		want: events.BounceDetail{
			DSNMessage: "451 4.3.0 Try again later",
			SourceIP:   "203.0.113.25",
			Category:   events.BounceCategorySoft,
		},
	},
	{
		name: "bounce/Transactional: id is an integer",
		file: "transactional_bounce", path: path("bounce", "id"), json: `66012`,
		get: field(func(d *events.TransactionalBounce) any { return d.Bounce.ID }), want: events.Value(int64(66012)),
	},
	{name: "bounce/Email API: not present", file: "email_api_bounce", path: path("bounce")},

	{
		name: "campaign/Campaign: type, id, name",
		file: "campaign_bounce", path: path("campaign"), json: campaignRef,
		get:  field(func(d *events.CampaignBounce) any { return d.Campaign }),
		want: events.CampaignRef{Type: "campaign", ID: events.IntID(5001), Name: "Autumn offers"},
	},
	{name: "campaign/Workflow: no", file: "workflow_bounce_trigger", path: path("campaign")},
	{name: "campaign/Transactional: no", file: "transactional_bounce", path: path("campaign")},
	{name: "campaign/Email API: no", file: "email_api_bounce", path: path("campaign")},

	{name: "automation/Campaign: no", file: "campaign_bounce", path: path("automation")},
	{
		name: "automation/Workflow: yes",
		file: "workflow_bounce_trigger", path: path("automation"), json: `{"trigger":{"id":810,"name":"Welcome"}}`,
		get:  field(func(d *events.WorkflowBounce) any { return d.Automation }),
		want: events.Automation{Trigger: &events.AutomationRef{ID: events.IntID(810), Name: events.Value("Welcome")}},
	},
	{name: "automation/Transactional: no", file: "transactional_bounce", path: path("automation")},
	{name: "automation/Email API: no", file: "email_api_bounce", path: path("automation")},

	{
		name: "contact/Campaign: id integer, email, status null",
		file: "campaign_bounce", path: path("contact"), json: `{"email":"ada@example.org","id":90210,"status":null}`,
		get:  field(func(d *events.CampaignBounce) any { return d.Contact }),
		want: events.BouncedContact{ID: events.IntID(90210), Email: "ada@example.org"},
	},
	{
		name: "contact/Workflow: same",
		file: "workflow_bounce_trigger", path: path("contact"), json: `{"email":"ada@example.org","id":90210,"status":null}`,
		get:  field(func(d *events.WorkflowBounce) any { return d.Contact }),
		want: events.BouncedContact{ID: events.IntID(90210), Email: "ada@example.org"},
	},
	{
		name: "contact/Transactional: email only",
		file: "transactional_bounce", path: path("contact"), json: `{"email":"ada@example.org"}`,
		get:  field(func(d *events.TransactionalBounce) any { return d.Contact }),
		want: events.AddressedContact{Email: "ada@example.org"},
	},
	{
		name: "contact/Email API: for a list contact",
		file: "email_api_bounce", path: path("contact"), json: contactJSON,
		get: field(func(d *events.EmailAPIBounce) any { return d.Contact }), want: &ada,
	},
	{
		name: "contact/Email API: not otherwise",
		file: "email_api_bounce_no_contact", path: path("contact"),
		get: field(func(d *events.EmailAPIBounce) any { return d.Contact }), want: (*events.Contact)(nil),
	},

	{
		name: "list/Campaign: id, name",
		file: "campaign_bounce", path: path("list"), json: `{"id":42,"name":"Newsletter"}`,
		get: field(func(d *events.CampaignBounce) any { return d.List }), want: list42,
	},
	{
		name: "list/Workflow: id, name null",
		file: "workflow_bounce_trigger", path: path("list"), json: `{"id":42,"name":null}`,
		get: field(func(d *events.WorkflowBounce) any { return d.List }), want: events.ListRef{ID: events.IntID(42)},
	},
	{
		name: "list/Transactional: both null",
		file: "transactional_bounce", path: path("list"), json: nullRef,
		get:  field(func(d *events.TransactionalBounce) any { return d.List }),
		want: events.ListRef{},
	},
	{
		name: "list/Email API: with contact",
		file: "email_api_bounce", path: path("list"), json: `{"id":42,"name":"Newsletter"}`,
		get: field(func(d *events.EmailAPIBounce) any { return d.List }), want: &list42,
	},
	{
		name: "list/Email API: not without contact",
		file: "email_api_bounce_no_contact", path: path("list"),
		get: field(func(d *events.EmailAPIBounce) any { return d.List }), want: (*events.ListRef)(nil),
	},

	{
		name: "segment/Campaign: null values",
		file: "campaign_bounce", path: path("segment"), json: nullSegment,
		get: field(func(d *events.CampaignBounce) any { return d.Segment }), want: events.Segment{},
	},
	{
		name: "segment/Campaign: of a segment",
		file: "campaign_bounce_segment",
		path: path("segment"),
		json: `{"id":77,"name":"Bought twice","query":"orders \u003e 1"}`,
		get:  field(func(d *events.CampaignBounce) any { return d.Segment }),
		want: events.Segment{
			ID:    events.IntID(77),
			Name:  events.Value("Bought twice"),
			Query: events.Value(json.RawMessage(`"orders > 1"`)),
		},
	},
	{
		name: "segment/Workflow: null values",
		file: "workflow_bounce_trigger", path: path("segment"), json: nullSegment,
		get: field(func(d *events.WorkflowBounce) any { return d.Segment }), want: events.Segment{},
	},
	{
		name: "segment/Transactional: null values",
		file: "transactional_bounce", path: path("segment"), json: nullSegment,
		get: field(func(d *events.TransactionalBounce) any { return d.Segment }), want: events.Segment{},
	},
	{name: "segment/Email API: no", file: "email_api_bounce", path: path("segment")},

	{
		name: "context/Campaign: null values",
		file: "campaign_bounce", path: path("context"), json: nullContext,
		get: field(func(d *events.CampaignBounce) any { return d.Context }), want: events.ActionContext{},
	},
	{
		name: "context/Workflow: null values",
		file: "workflow_bounce_trigger", path: path("context"), json: nullContext,
		get: field(func(d *events.WorkflowBounce) any { return d.Context }), want: events.ActionContext{},
	},
	{
		name: "context/Transactional: null values",
		file: "transactional_bounce", path: path("context"), json: nullContext,
		get: field(func(d *events.TransactionalBounce) any { return d.Context }), want: events.ActionContext{},
	},
	{name: "context/Email API: no", file: "email_api_bounce", path: path("context")},

	{name: "transactional_email/Campaign: no", file: "campaign_bounce", path: path("transactional_email")},
	{name: "transactional_email/Workflow: no", file: "workflow_bounce_trigger", path: path("transactional_email")},
	{
		name: "transactional_email/Transactional: yes",
		file: "transactional_bounce",
		path: path("transactional_email"),
		json: `{"additional_headers":[{"name":"X-Order","value":"2231"}],"envelope_from":"bounce+8f14@mail.shop.example",` +
			`"id":"8f14e45fceea","sender":{"email":"orders@shop.example","name":"Shop"}}`,
		get: field(func(d *events.TransactionalBounce) any { return d.TransactionalEmail }),
		want: events.TransactionalEmail{
			ID:                "8f14e45fceea",
			Sender:            events.MessageSender{Name: "Shop", Email: "orders@shop.example"},
			EnvelopeFrom:      "bounce+8f14@mail.shop.example",
			AdditionalHeaders: headers,
		},
	},
	{
		name: "transactional_email/Transactional: additional_headers null",
		file: "transactional_bounce_no_headers", path: path("transactional_email", "additional_headers"),
		json: `null`,
		get:  field(func(d *events.TransactionalBounce) any { return d.TransactionalEmail.AdditionalHeaders }),
		want: []events.MessageHeader(nil),
	},
	{name: "transactional_email/Email API: no", file: "email_api_bounce", path: path("transactional_email")},

	{name: "event_time/Campaign: no", file: "campaign_bounce", path: path("event_time")},
	{name: "event_time/Workflow: no", file: "workflow_bounce_trigger", path: path("event_time")},
	{name: "event_time/Transactional: no", file: "transactional_bounce", path: path("event_time")},
	{
		name: "event_time/Email API: yes",
		file: "email_api_bounce", path: path("event_time"), json: `1763651419`,
		get: field(func(d *events.EmailAPIBounce) any { return d.EventTime }), want: unix(1763651419),
	},

	{name: "email/Campaign: no", file: "campaign_bounce", path: path("email")},
	{name: "email/Workflow: no", file: "workflow_bounce_trigger", path: path("email")},
	{
		name: "email/Transactional: no, an address of the flat copy",
		file: "transactional_bounce", path: path("email"), json: `"ada@example.org"`,
		get: field(func(d *events.TransactionalBounce) any { return d.Email }), want: "ada@example.org",
	},
	{
		name: "email/Email API: id is a string",
		file: "email_api_bounce", path: path("email"), json: `{"id":"` + emailID + `"}`,
		get: field(func(d *events.EmailAPIBounce) any { return d.Email.ID }), want: emailID,
	},
}

func TestEmailBouncedTable(t *testing.T) { check(t, bouncedTable) }

// What the specification says below that table.
var bouncedNotes = []cell{
	{
		name: "automation: workflow with null values",
		file: "workflow_bounce_system_action", path: path("automation", "workflow"), json: nullRef,
		get: field(func(d *events.WorkflowBounce) any { return d.Automation.Workflow }), want: &events.AutomationRef{},
	},
	{
		name: "automation: action with null values",
		file: "workflow_bounce_system_action", path: path("automation", "action"), json: nullRef,
		get: field(func(d *events.WorkflowBounce) any { return d.Automation.Action }), want: &events.AutomationRef{},
	},
	{
		name: "automation: system_action",
		file: "workflow_bounce_system_action",
		path: path("automation", "system_action"),
		json: `{"id":12,"name":"Confirmation","type":"douopt-in"}`,
		get:  field(func(d *events.WorkflowBounce) any { return d.Automation.SystemAction }),
		want: &events.SystemAction{
			Type: events.SystemActionTypeDoubleOptIn,
			ID:   events.IntID(12),
			Name: events.Value("Confirmation"),
		},
	},
	{
		name: "automation: no trigger with a system action",
		file: "workflow_bounce_system_action", path: path("automation", "trigger"),
		get: field(func(d *events.WorkflowBounce) any { return d.Automation.Trigger }), want: (*events.AutomationRef)(nil),
	},
	{
		name: "automation: no system action with a trigger",
		file: "workflow_bounce_trigger", path: path("automation", "system_action"),
		get:  field(func(d *events.WorkflowBounce) any { return d.Automation.SystemAction }),
		want: (*events.SystemAction)(nil),
	},
	{
		name: "automation: system_action opt-in",
		file: "workflow_complaint_system_action", path: path("automation", "system_action", "type"),
		json: `"opt-in"`,
		get:  field(func(d *events.WorkflowComplaint) any { return d.Automation.SystemAction.Type }),
		want: events.SystemActionTypeOptIn,
	},
	{
		name: "flat copy: id",
		file: "transactional_bounce", path: path("id"), json: `66012`,
		get:  field(func(d *events.TransactionalBounce) any { return d.ID }),
		want: events.IntID(66012),
	},
	{
		name: "flat copy: email",
		file: "transactional_bounce", path: path("email"), json: `"ada@example.org"`,
		get: field(func(d *events.TransactionalBounce) any { return d.Email }), want: "ada@example.org",
	},
	{
		name: "flat copy: sent_id",
		file: "transactional_bounce", path: path("sent_id"), json: `"8f14e45fceea"`,
		get: field(func(d *events.TransactionalBounce) any { return d.SentID }), want: events.StringID("8f14e45fceea"),
	},
	{
		name: "flat copy: sender_name",
		file: "transactional_bounce", path: path("sender_name"), json: `"Shop"`,
		get: field(func(d *events.TransactionalBounce) any { return d.SenderName }), want: "Shop",
	},
	{
		name: "flat copy: sender_email",
		file: "transactional_bounce", path: path("sender_email"), json: `"orders@shop.example"`,
		get: field(func(d *events.TransactionalBounce) any { return d.SenderEmail }), want: "orders@shop.example",
	},
	{
		name: "flat copy: source_ip",
		file: "transactional_bounce", path: path("source_ip"), json: `"203.0.113.25"`,
		get: field(func(d *events.TransactionalBounce) any { return d.SourceIP }), want: "203.0.113.25",
	},
	{
		name: "flat copy: envelope_from",
		file: "transactional_bounce", path: path("envelope_from"), json: `"bounce+8f14@mail.shop.example"`,
		get:  field(func(d *events.TransactionalBounce) any { return d.EnvelopeFrom }),
		want: "bounce+8f14@mail.shop.example",
	},
	{
		name: "flat copy: dsn_message",
		file: "transactional_bounce", path: path("dsn_message"),
		json: `"554 5.7.1 Message blocked by the policy of the recipient"`,
		get:  field(func(d *events.TransactionalBounce) any { return d.DSNMessage }),
		want: "554 5.7.1 Message blocked by the policy of the recipient",
	},
	{
		name: "flat copy: additional_headers",
		file: "transactional_bounce", path: path("additional_headers"), json: `[{"name":"X-Order","value":"2231"}]`,
		get: field(func(d *events.TransactionalBounce) any { return d.AdditionalHeaders }), want: headers,
	},
	{
		name: "flat copy: additional_headers null",
		file: "transactional_bounce_no_headers", path: path("additional_headers"), json: `null`,
		get:  field(func(d *events.TransactionalBounce) any { return d.AdditionalHeaders }),
		want: []events.MessageHeader(nil),
	},
}

func TestEmailBouncedNotes(t *testing.T) { check(t, bouncedNotes) }

const (
	feedbackJSON       = `{"provider":"Mailbox.example","source_ip":"203.0.113.25"}`
	complainingJSON    = `{"email":"ada@example.org","id":"90210","status":"spam"}`
	complainedListJSON = `{"id":"42","name":"Newsletter"}`
)

var (
	feedback       = events.FeedbackLoop{Provider: "Mailbox.example", SourceIP: "203.0.113.25"}
	complainingAda = events.ComplainingContact{ID: events.StringID("90210"), Email: "ada@example.org", Status: "spam"}
	complainedList = events.ListRef{ID: events.StringID("42"), Name: events.Value("Newsletter")}
)

var reportedTable = []cell{
	{
		name: "fbl/Campaign",
		file: "campaign_complaint", path: path("fbl"), json: feedbackJSON,
		get:  field(func(d *events.CampaignComplaint) any { return d.FBL }),
		want: feedback,
	},
	{
		name: "fbl/Workflow",
		file: "workflow_complaint_trigger", path: path("fbl"), json: feedbackJSON,
		get:  field(func(d *events.WorkflowComplaint) any { return d.FBL }),
		want: feedback,
	},
	{
		name: "fbl/Transactional",
		file: "transactional_complaint", path: path("fbl"), json: feedbackJSON,
		get:  field(func(d *events.TransactionalComplaint) any { return d.FBL }),
		want: feedback,
	},
	{name: "fbl/Email API: no", file: "email_api_complaint", path: path("fbl")},
	{
		name: "contact/Campaign: id is a string, status spam",
		file: "campaign_complaint", path: path("contact"), json: complainingJSON,
		get:  field(func(d *events.CampaignComplaint) any { return d.Contact }),
		want: complainingAda,
	},
	{
		name: "contact/Workflow: id is a string, status spam",
		file: "workflow_complaint_trigger", path: path("contact"), json: complainingJSON,
		get:  field(func(d *events.WorkflowComplaint) any { return d.Contact }),
		want: complainingAda,
	},
	{
		name: "contact/Transactional: email only",
		file: "transactional_complaint", path: path("contact"), json: `{"email":"ada@example.org"}`,
		get:  field(func(d *events.TransactionalComplaint) any { return d.Contact }),
		want: events.AddressedContact{Email: "ada@example.org"},
	},
	{name: "contact/Email API: no", file: "email_api_complaint", path: path("contact")},
	{
		name: "list/Campaign: id is a string",
		file: "campaign_complaint", path: path("list"), json: complainedListJSON,
		get:  field(func(d *events.CampaignComplaint) any { return d.List }),
		want: complainedList,
	},
	{
		name: "list/Workflow: id is a string",
		file: "workflow_complaint_trigger", path: path("list"), json: complainedListJSON,
		get:  field(func(d *events.WorkflowComplaint) any { return d.List }),
		want: complainedList,
	},
	{
		name: "list/Transactional: both null",
		file: "transactional_complaint", path: path("list"), json: nullRef,
		get:  field(func(d *events.TransactionalComplaint) any { return d.List }),
		want: events.ListRef{},
	},
	{name: "list/Email API: no", file: "email_api_complaint", path: path("list")},
	{
		name: "segment: id, name, query",
		file: "campaign_complaint_segment", path: path("segment", "id"), json: `77`,
		get: field(func(d *events.CampaignComplaint) any { return d.Segment.ID }), want: events.IntID(77),
	},
	{
		name: "segment: null values",
		file: "campaign_complaint", path: path("segment"), json: nullSegment,
		get: field(func(d *events.CampaignComplaint) any { return d.Segment }), want: events.Segment{},
	},
	{
		name: "segment/Workflow",
		file: "workflow_complaint_trigger", path: path("segment"), json: nullSegment,
		get: field(func(d *events.WorkflowComplaint) any { return d.Segment }), want: events.Segment{},
	},
	{
		name: "segment/Transactional",
		file: "transactional_complaint", path: path("segment"), json: nullSegment,
		get: field(func(d *events.TransactionalComplaint) any { return d.Segment }), want: events.Segment{},
	},
	{
		name: "context: null values",
		file: "campaign_complaint", path: path("context"), json: nullContext,
		get: field(func(d *events.CampaignComplaint) any { return d.Context }), want: events.ActionContext{},
	},
	{
		name: "context/Workflow",
		file: "workflow_complaint_trigger", path: path("context"), json: nullContext,
		get: field(func(d *events.WorkflowComplaint) any { return d.Context }), want: events.ActionContext{},
	},
	{
		name: "context/Transactional",
		file: "transactional_complaint", path: path("context"), json: nullContext,
		get: field(func(d *events.TransactionalComplaint) any { return d.Context }), want: events.ActionContext{},
	},
	{
		name: "campaign",
		file: "campaign_complaint", path: path("campaign"), json: campaignRef,
		get: field(func(d *events.CampaignComplaint) any { return d.Campaign.ID }), want: events.IntID(5001),
	},
	{
		name: "automation",
		file: "workflow_complaint_trigger", path: path("automation", "trigger", "id"), json: `810`,
		get: field(func(d *events.WorkflowComplaint) any { return d.Automation.Trigger.ID }), want: events.IntID(810),
	},
	{
		name: "transactional_email",
		file: "transactional_complaint", path: path("transactional_email", "id"), json: `"8f14e45fceea"`,
		get: field(func(d *events.TransactionalComplaint) any { return d.TransactionalEmail.ID }), want: "8f14e45fceea",
	},
	{
		name: "Email API: event_time",
		file: "email_api_complaint", path: path("event_time"), json: `1763651839`,
		get: field(func(d *events.EmailAPIComplaint) any { return d.EventTime }), want: unix(1763651839),
	},
	{
		name: "Email API: email.id",
		file: "email_api_complaint", path: path("email"), json: `{"id":"` + emailID + `"}`,
		get: field(func(d *events.EmailAPIComplaint) any { return d.Email }), want: events.EmailRef{ID: emailID},
	},
}

func TestEmailReportedAsSpam(t *testing.T) { check(t, reportedTable) }

const placeJSON = `{"ip":"198.51.100.7","user_agent":"Mozilla/5.0 (X11; Linux x86_64)"}`

var place = events.RecipientContext{IP: "198.51.100.7", UserAgent: "Mozilla/5.0 (X11; Linux x86_64)"}

// unsubscribed is Ada after she has left.
func unsubscribed(ada events.Contact) events.Contact {
	ada.Status = "unsubscribed"
	return ada
}

var unsubscribedAda = unsubscribed(ada)

// The events that only the Email API fires.
var emailAPITable = []cell{
	{
		name: "Email.Unsubscribed: event_time",
		file: "email_unsubscribed_still_active", path: path("event_time"), json: `1763651959`,
		get: field(func(d *events.EmailUnsubscribed) any { return d.EventTime }), want: unix(1763651959),
	},
	{
		name: "Email.Unsubscribed: email.id",
		file: "email_unsubscribed_still_active", path: path("email", "id"), json: `"` + emailID + `"`,
		get: field(func(d *events.EmailUnsubscribed) any { return d.Email.ID }), want: emailID,
	},
	{
		name: "Email.Unsubscribed: contact, still active, no attributes",
		file: "email_unsubscribed_still_active",
		path: path("contact"),
		json: `{"custom_attributes":[],"email":"bob@example.org","id":90211,"interests":[],"status":"active",` +
			`"subscribed_on":1735689600,"tags":[]}`,
		get: field(func(d *events.EmailUnsubscribed) any { return d.Contact }),
		want: events.Contact{
			ID:               events.IntID(90211),
			Email:            "bob@example.org",
			Status:           "active",
			SubscribedOn:     unix(1735689600),
			CustomAttributes: []events.CustomAttribute{},
			Tags:             []string{},
			Interests:        []string{},
		},
	},
	{
		name: "Email.Unsubscribed: contact unsubscribed",
		file: "email_unsubscribed", path: path("contact", "status"), json: `"unsubscribed"`,
		get: field(func(d *events.EmailUnsubscribed) any { return d.Contact }), want: unsubscribedAda,
	},
	{
		name: "Email.Unsubscribed: list",
		file: "email_unsubscribed_still_active", path: path("list"), json: `{"id":42,"name":"Newsletter"}`,
		get: field(func(d *events.EmailUnsubscribed) any { return d.List }), want: list42,
	},
	{
		name: "Email.Unsubscribed: context",
		file: "email_unsubscribed_still_active", path: path("context"), json: placeJSON,
		get: field(func(d *events.EmailUnsubscribed) any { return d.Context }), want: place,
	},

	{
		name: "Email.GlobalUnsubscribed: event_time",
		file: "email_globally_unsubscribed", path: path("event_time"), json: `1763652019`,
		get: field(func(d *events.EmailGlobalUnsubscribed) any { return d.EventTime }), want: unix(1763652019),
	},
	{
		name: "Email.GlobalUnsubscribed: email.id",
		file: "email_globally_unsubscribed", path: path("email", "id"), json: `"` + emailID + `"`,
		get: field(func(d *events.EmailGlobalUnsubscribed) any { return d.Email.ID }), want: emailID,
	},
	{
		name: "Email.GlobalUnsubscribed: context",
		file: "email_globally_unsubscribed", path: path("context"), json: placeJSON,
		get:  field(func(d *events.EmailGlobalUnsubscribed) any { return d.Context }),
		want: place,
	},
	{name: "Email.GlobalUnsubscribed: no contact", file: "email_globally_unsubscribed", path: path("contact")},

	{
		name: "Email.Rejected: reason",
		file: "email_rejected", path: path("reason"), json: `"unsubscribed"`,
		get: field(func(d *events.EmailRejected) any { return d.Reason }), want: events.RejectReasonUnsubscribed,
	},
	{
		name: "Email.Rejected: event_time",
		file: "email_rejected", path: path("event_time"), json: `1763652079`,
		get: field(func(d *events.EmailRejected) any { return d.EventTime }), want: unix(1763652079),
	},
	{
		name: "Email.Rejected: email.id",
		file: "email_rejected", path: path("email", "id"), json: `"` + emailID + `"`,
		get: field(func(d *events.EmailRejected) any { return d.Email.ID }), want: emailID,
	},
	{
		name: "Email.Rejected: contact of a list contact",
		file: "email_rejected", path: path("contact", "id"), json: `90210`,
		get: field(func(d *events.EmailRejected) any { return d.Contact }), want: &unsubscribedAda,
	},
	{
		name: "Email.Rejected: list of a list contact",
		file: "email_rejected", path: path("list"), json: `{"id":42,"name":"Newsletter"}`,
		get: field(func(d *events.EmailRejected) any { return d.List }), want: &list42,
	},
	{
		name: "Email.Rejected: no contact otherwise",
		file: "email_rejected_no_contact", path: path("contact"),
		get: field(func(d *events.EmailRejected) any { return d.Contact }), want: (*events.Contact)(nil),
	},
	{
		name: "Email.Rejected: no list otherwise",
		file: "email_rejected_no_contact", path: path("list"),
		get: field(func(d *events.EmailRejected) any { return d.List }), want: (*events.ListRef)(nil),
	},
	{
		name: "Email.Rejected: the submitting user",
		file: "email_rejected", path: path("email", "id"), json: `"` + emailID + `"`,
		get: func(ev *events.Event) any { return ev.User }, want: user,
	},

	{
		name: "Email.Error: error",
		file: "email_errored", path: path("error"), json: `"internal error; the message could not be queued"`,
		get:  field(func(d *events.EmailErrored) any { return d.Error }),
		want: "internal error; the message could not be queued",
	},
	{
		name: "Email.Error: event_time",
		file: "email_errored", path: path("event_time"), json: `1763652199`,
		get: field(func(d *events.EmailErrored) any { return d.EventTime }), want: unix(1763652199),
	},
	{
		name: "Email.Error: email.id",
		file: "email_errored", path: path("email", "id"), json: `"` + emailID + `"`,
		get: field(func(d *events.EmailErrored) any { return d.Email.ID }), want: emailID,
	},
	{
		name: "Email.Error: the submitting user",
		file: "email_errored", path: path("email", "id"), json: `"` + emailID + `"`,
		get: func(ev *events.Event) any { return ev.User }, want: user,
	},
}

func TestEmailAPIEvents(t *testing.T) { check(t, emailAPITable) }

var user = events.User{
	ID:        events.Value(int64(31)),
	Email:     events.Value("ops@shop.example"),
	AccountID: events.Value(int64(1204)),
}

func TestContactRemovedAndSuppressed(t *testing.T) {
	type removed = *events.ContactRemoved
	const l, u, x = "contact_removed_by_link", "contact_removed_by_user", "contact_removed_deleted"
	check(t, []cell{
		{
			name: "list",
			file: l, path: path("list"), json: `{"id":42,"name":"Newsletter"}`,
			get: field(func(d removed) any { return d.List }), want: list42,
		},
		{
			name: "contact",
			file: u,
			path: path("contact"),
			json: `{"bounces_count":2,"custom_attributes":[{"name":"first_name","value":"Ada"}],"email":"ada@example.org",` +
				`"id":90210,"last_bounce_type":"soft","status":"unsubscribed","subscribed_on":1735689600}`,
			get: field(func(d removed) any { return d.Contact }),
			want: events.RemovedContact{
				ID:               events.IntID(90210),
				Email:            "ada@example.org",
				Status:           "unsubscribed",
				SubscribedOn:     unix(1735689600),
				LastBounceType:   "soft",
				BouncesCount:     2,
				CustomAttributes: []events.CustomAttribute{{Name: "first_name", Value: "Ada"}},
			},
		},
		{
			name: "contact: last_bounce_type none",
			file: l, path: path("contact", "last_bounce_type"), json: `"none"`,
			get: field(func(d removed) any { return d.Contact.LastBounceType }), want: events.BounceTypeNone,
		},
		{
			name: "contact: bounces_count zero is not absent",
			file: l, path: path("contact", "bounces_count"), json: `0`,
			get: field(func(d removed) any { return d.Contact.BouncesCount }), want: int64(0),
		},
		{
			name: "contact: deleted",
			file: x, path: path("contact", "status"), json: `"deleted"`,
			get: field(func(d removed) any { return d.Contact.Status }), want: events.ContactStatusDeleted,
		},
		{
			name: "context: of the contact through a link",
			file: l,
			path: path("context"),
			json: `{"ip":"198.51.100.7","timestamp":1763652259,"user_agent":"Mozilla/5.0 (X11; Linux x86_64)"}`,
			get:  field(func(d removed) any { return d.Context }),
			want: events.ActionContext{
				Timestamp: unix(1763652259),
				IP:        events.Value("198.51.100.7"),
				UserAgent: events.Value("Mozilla/5.0 (X11; Linux x86_64)"),
			},
		},
		{
			name: "context: null otherwise",
			file: u, path: path("context"), json: `{"ip":null,"timestamp":1763652319,"user_agent":null}`,
			get:  field(func(d removed) any { return d.Context }),
			want: events.ActionContext{Timestamp: unix(1763652319)},
		},
		{
			name: "user: who unsubscribed the contact",
			file: u, path: path("list", "id"), json: `42`, get: func(ev *events.Event) any { return ev.User },
			want: user,
		},
		{
			name: "user: who deleted the contact",
			file: x, path: path("list", "id"), json: `42`, get: func(ev *events.Event) any { return ev.User },
			want: user,
		},
		{
			name: "user: null when the contact did",
			file: l, path: path("list", "id"), json: `42`, get: func(ev *events.Event) any { return ev.User },
			want: events.User{},
		},
		{
			name: "suppressedEmail.email in camel case",
			file: "email_suppressed", path: path("suppressedEmail"), json: `{"email":"ada@example.org"}`,
			get:  field(func(d *events.SuppressedEmailAdded) any { return d.SuppressedEmail.Email }),
			want: "ada@example.org",
		},
	})
}

func TestGeneralEvents(t *testing.T) {
	at := func(hour, minute, second, nano int) time.Time {
		return time.Date(2025, 11, 20, hour, minute, second, nano, time.UTC)
	}
	contact, list, campaign := events.StringID("90210"), events.StringID("42"), events.StringID("5001")
	for file, want := range map[string]events.Data{
		"email_opened": &events.EmailOpened{
			EmailID: events.StringID("e-771"), ContactID: contact, CampaignID: campaign, ListID: list,
			EmailAddress: "ada@example.org", OpenedAt: at(15, 31, 59, 0),
		},
		"email_opened_no_contact": &events.EmailOpened{
			EmailID: events.StringID(emailID), EmailAddress: "ada@example.org", OpenedAt: at(15, 32, 59, 0),
		},
		"email_clicked": &events.EmailClicked{
			EmailID: events.StringID("e-771"), ContactID: contact, CampaignID: campaign, ListID: list,
			EmailAddress: "ada@example.org", URL: "https://shop.example/offers?week=47&ref=mail",
			ClickedAt: at(15, 33, 59, 25e7),
		},
		"contact_added": &events.ContactAdded{
			ContactID: contact, ListID: list, EmailAddress: "ada@example.org", AddedAt: at(15, 30, 0, 0),
		},
		"contact_unsubscribed": &events.ContactUnsubscribed{
			ContactID: contact, ListID: list, EmailAddress: "ada@example.org", UnsubscribedAt: at(15, 30, 59, 0),
		},
		"campaign_sent": &events.CampaignSent{
			CampaignID: campaign, ListID: list, Name: "Autumn offers", SentAt: at(15, 34, 58, 0),
		},
		"campaign_scheduled": &events.CampaignScheduled{
			CampaignID: campaign, ListID: list, Name: "Autumn offers",
			ScheduledFor: time.Date(2025, 11, 21, 8, 0, 0, 0, time.UTC),
		},
	} {
		t.Run(file, func(t *testing.T) {
			ev := mustParse(t, delivery(t, file))
			if !reflect.DeepEqual(ev.Data, want) {
				t.Errorf("got %+v, want %+v", ev.Data, want)
			}
			if ev.ID != "" || ev.AccountID != 0 || ev.IP != "" || ev.User != (events.User{}) {
				t.Errorf("the general envelope has no such fields: %+v", ev)
			}
			if ev.Time.Year() != 2025 || ev.Time.Before(at(15, 30, 0, 0)) {
				t.Errorf("time is %v, want that of the example", ev.Time)
			}
		})
	}
}

// The table of the event envelope, and all its user values null.
func TestComplianceEnvelope(t *testing.T) {
	ev := mustParse(t, delivery(t, "campaign_bounce"))
	for _, row := range []struct {
		name      string
		got, want any
	}{
		{"id", ev.ID, "6f1c2b01-3d4e-4a5b-9c6d-7e8f9a0b1c01"},
		{"event", ev.Name, events.NameEmailBounced},
		{"account_id", ev.AccountID, int64(1204)},
		{"account_lineage", member(t, ev.Raw(), path("account_lineage")), "null"},
		{"ip", ev.IP, "203.0.113.10"},
		{"user", ev.User, events.User{}},
		{"created_on", ev.Time, time.Unix(1763651060, 0).UTC()},
		{"data", member(t, ev.RawData(), path("bounce", "category")), `"bounce_hb"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			if !reflect.DeepEqual(row.got, row.want) {
				t.Errorf("got %#v, want %#v", row.got, row.want)
			}
		})
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
