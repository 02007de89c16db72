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
	contactJSON = `{"custom_attributes":[{"name":"first_name","value":"Ada"},{"name":"city","value":"London"}],"email":"ada@example.org","id":90210,"interests":["books"],"status":"active","subscribed_on":1735689600,"tags":["customer","vip"]}`
	emailID     = "01JD5K7Z8Q9WXYZ4T6N2M3B1CD"
)

var (
	ada     = events.Contact{ID: events.IntID(90210), Email: "ada@example.org", Status: "active", SubscribedOn: 1735689600, CustomAttributes: []events.CustomAttribute{{Name: "first_name", Value: "Ada"}, {Name: "city", Value: "London"}}, Tags: []string{"customer", "vip"}, Interests: []string{"books"}}
	list42  = events.ListRef{ID: events.IntID(42), Name: events.Value("Newsletter")}
	headers = []events.MessageHeader{{Name: "X-Order", Value: "2231"}}
)

// The table of Email.Bounced, row by row: Campaign, Workflow, Transactional, Email API.
func TestEmailBouncedTable(t *testing.T) {
	type (
		campaign      = *events.CampaignBounce
		workflow      = *events.WorkflowBounce
		transactional = *events.TransactionalBounce
		emailAPI      = *events.EmailAPIBounce
	)
	const c, w, x, a = "campaign_bounce", "workflow_bounce_trigger", "transactional_bounce", "email_api_bounce"
	check(t, []cell{
		{"bounce/Campaign: yes", c, path("bounce", "category"), `"bounce_hb"`, field(func(d campaign) any { return d.Bounce.Category }), events.BounceCategoryHard},
		{"bounce/Campaign: id null", c, path("bounce", "id"), `null`, field(func(d campaign) any { return d.Bounce.ID }), events.Null[int64]{}},
		{"bounce/Campaign: dsn_message", c, path("bounce", "dsn_message"), `"550 5.1.1 The email account that you tried to reach does not exist"`, field(func(d campaign) any { return d.Bounce.DSNMessage }), "550 5.1.1 The email account that you tried to reach does not exist"},
		{"bounce/Campaign: source_ip", c, path("bounce", "source_ip"), `"203.0.113.25"`, field(func(d campaign) any { return d.Bounce.SourceIP }), "203.0.113.25"},
		{"bounce/Workflow: yes; id null", w, path("bounce", "id"), `null`, field(func(d workflow) any { return d.Bounce }), events.BounceDetail{DSNMessage: "451 4.3.0 Try again later", SourceIP: "203.0.113.25", Category: events.BounceCategorySoft}},
		{"bounce/Transactional: id is an integer", x, path("bounce", "id"), `66012`, field(func(d transactional) any { return d.Bounce.ID }), events.Value(int64(66012))},
		{"bounce/Email API: not present", a, path("bounce"), ``, nil, nil},

		{"campaign/Campaign: type, id, name", c, path("campaign"), campaignRef, field(func(d campaign) any { return d.Campaign }), events.CampaignRef{Type: "campaign", ID: events.IntID(5001), Name: "Autumn offers"}},
		{"campaign/Workflow: no", w, path("campaign"), ``, nil, nil},
		{"campaign/Transactional: no", x, path("campaign"), ``, nil, nil},
		{"campaign/Email API: no", a, path("campaign"), ``, nil, nil},

		{"automation/Campaign: no", c, path("automation"), ``, nil, nil},
		{"automation/Workflow: yes", w, path("automation"), `{"trigger":{"id":810,"name":"Welcome"}}`, field(func(d workflow) any { return d.Automation }), events.Automation{Trigger: &events.AutomationRef{ID: events.IntID(810), Name: events.Value("Welcome")}}},
		{"automation/Transactional: no", x, path("automation"), ``, nil, nil},
		{"automation/Email API: no", a, path("automation"), ``, nil, nil},

		{"contact/Campaign: id integer, email, status null", c, path("contact"), `{"email":"ada@example.org","id":90210,"status":null}`, field(func(d campaign) any { return d.Contact }), events.BouncedContact{ID: events.IntID(90210), Email: "ada@example.org"}},
		{"contact/Workflow: same", w, path("contact"), `{"email":"ada@example.org","id":90210,"status":null}`, field(func(d workflow) any { return d.Contact }), events.BouncedContact{ID: events.IntID(90210), Email: "ada@example.org"}},
		{"contact/Transactional: email only", x, path("contact"), `{"email":"ada@example.org"}`, field(func(d transactional) any { return d.Contact }), events.AddressedContact{Email: "ada@example.org"}},
		{"contact/Email API: for a list contact", a, path("contact"), contactJSON, field(func(d emailAPI) any { return d.Contact }), &ada},
		{"contact/Email API: not otherwise", "email_api_bounce_no_contact", path("contact"), ``, field(func(d emailAPI) any { return d.Contact }), (*events.Contact)(nil)},

		{"list/Campaign: id, name", c, path("list"), `{"id":42,"name":"Newsletter"}`, field(func(d campaign) any { return d.List }), list42},
		{"list/Workflow: id, name null", w, path("list"), `{"id":42,"name":null}`, field(func(d workflow) any { return d.List }), events.ListRef{ID: events.IntID(42)}},
		{"list/Transactional: both null", x, path("list"), nullRef, field(func(d transactional) any { return d.List }), events.ListRef{}},
		{"list/Email API: with contact", a, path("list"), `{"id":42,"name":"Newsletter"}`, field(func(d emailAPI) any { return d.List }), &list42},
		{"list/Email API: not without contact", "email_api_bounce_no_contact", path("list"), ``, field(func(d emailAPI) any { return d.List }), (*events.ListRef)(nil)},

		{"segment/Campaign: null values", c, path("segment"), nullSegment, field(func(d campaign) any { return d.Segment }), events.Segment{}},
		{"segment/Campaign: of a segment", "campaign_bounce_segment", path("segment"), `{"id":77,"name":"Bought twice","query":"orders \u003e 1"}`, field(func(d campaign) any { return d.Segment }), events.Segment{ID: events.IntID(77), Name: events.Value("Bought twice"), Query: events.Value(json.RawMessage(`"orders > 1"`))}},
		{"segment/Workflow: null values", w, path("segment"), nullSegment, field(func(d workflow) any { return d.Segment }), events.Segment{}},
		{"segment/Transactional: null values", x, path("segment"), nullSegment, field(func(d transactional) any { return d.Segment }), events.Segment{}},
		{"segment/Email API: no", a, path("segment"), ``, nil, nil},

		{"context/Campaign: null values", c, path("context"), nullContext, field(func(d campaign) any { return d.Context }), events.ActionContext{}},
		{"context/Workflow: null values", w, path("context"), nullContext, field(func(d workflow) any { return d.Context }), events.ActionContext{}},
		{"context/Transactional: null values", x, path("context"), nullContext, field(func(d transactional) any { return d.Context }), events.ActionContext{}},
		{"context/Email API: no", a, path("context"), ``, nil, nil},

		{"transactional_email/Campaign: no", c, path("transactional_email"), ``, nil, nil},
		{"transactional_email/Workflow: no", w, path("transactional_email"), ``, nil, nil},
		{"transactional_email/Transactional: yes", x, path("transactional_email"), `{"additional_headers":[{"name":"X-Order","value":"2231"}],"envelope_from":"bounce+8f14@mail.shop.example","id":"8f14e45fceea","sender":{"email":"orders@shop.example","name":"Shop"}}`, field(func(d transactional) any { return d.TransactionalEmail }), events.TransactionalEmail{ID: "8f14e45fceea", Sender: events.MessageSender{Name: "Shop", Email: "orders@shop.example"}, EnvelopeFrom: "bounce+8f14@mail.shop.example", AdditionalHeaders: headers}},
		{"transactional_email/Transactional: additional_headers null", "transactional_bounce_no_headers", path("transactional_email", "additional_headers"), `null`, field(func(d transactional) any { return d.TransactionalEmail.AdditionalHeaders }), []events.MessageHeader(nil)},
		{"transactional_email/Email API: no", a, path("transactional_email"), ``, nil, nil},

		{"event_time/Campaign: no", c, path("event_time"), ``, nil, nil},
		{"event_time/Workflow: no", w, path("event_time"), ``, nil, nil},
		{"event_time/Transactional: no", x, path("event_time"), ``, nil, nil},
		{"event_time/Email API: yes", a, path("event_time"), `1763651419`, field(func(d emailAPI) any { return d.EventTime }), int64(1763651419)},

		{"email/Campaign: no", c, path("email"), ``, nil, nil},
		{"email/Workflow: no", w, path("email"), ``, nil, nil},
		{"email/Transactional: no, an address of the flat copy", x, path("email"), `"ada@example.org"`, field(func(d transactional) any { return d.Email }), "ada@example.org"},
		{"email/Email API: id is a string", a, path("email"), `{"id":"` + emailID + `"}`, field(func(d emailAPI) any { return d.Email.ID }), emailID},
	})
}

// What the specification says below that table.
func TestEmailBouncedNotes(t *testing.T) {
	type workflow = *events.WorkflowBounce
	type transactional = *events.TransactionalBounce
	const s, x, n = "workflow_bounce_system_action", "transactional_bounce", "transactional_bounce_no_headers"
	check(t, []cell{
		{"automation: workflow with null values", s, path("automation", "workflow"), nullRef, field(func(d workflow) any { return d.Automation.Workflow }), &events.AutomationRef{}},
		{"automation: action with null values", s, path("automation", "action"), nullRef, field(func(d workflow) any { return d.Automation.Action }), &events.AutomationRef{}},
		{"automation: system_action", s, path("automation", "system_action"), `{"id":12,"name":"Confirmation","type":"douopt-in"}`, field(func(d workflow) any { return d.Automation.SystemAction }), &events.SystemAction{Type: events.SystemActionTypeDoubleOptIn, ID: events.IntID(12), Name: events.Value("Confirmation")}},
		{"automation: no trigger with a system action", s, path("automation", "trigger"), ``, field(func(d workflow) any { return d.Automation.Trigger }), (*events.AutomationRef)(nil)},
		{"automation: no system action with a trigger", "workflow_bounce_trigger", path("automation", "system_action"), ``, field(func(d workflow) any { return d.Automation.SystemAction }), (*events.SystemAction)(nil)},
		{"automation: system_action opt-in", "workflow_complaint_system_action", path("automation", "system_action", "type"), `"opt-in"`, field(func(d *events.WorkflowComplaint) any { return d.Automation.SystemAction.Type }), events.SystemActionTypeOptIn},
		{"flat copy: id", x, path("id"), `66012`, field(func(d transactional) any { return d.ID }), events.IntID(66012)},
		{"flat copy: email", x, path("email"), `"ada@example.org"`, field(func(d transactional) any { return d.Email }), "ada@example.org"},
		{"flat copy: sent_id", x, path("sent_id"), `"8f14e45fceea"`, field(func(d transactional) any { return d.SentID }), events.StringID("8f14e45fceea")},
		{"flat copy: sender_name", x, path("sender_name"), `"Shop"`, field(func(d transactional) any { return d.SenderName }), "Shop"},
		{"flat copy: sender_email", x, path("sender_email"), `"orders@shop.example"`, field(func(d transactional) any { return d.SenderEmail }), "orders@shop.example"},
		{"flat copy: source_ip", x, path("source_ip"), `"203.0.113.25"`, field(func(d transactional) any { return d.SourceIP }), "203.0.113.25"},
		{"flat copy: envelope_from", x, path("envelope_from"), `"bounce+8f14@mail.shop.example"`, field(func(d transactional) any { return d.EnvelopeFrom }), "bounce+8f14@mail.shop.example"},
		{"flat copy: dsn_message", x, path("dsn_message"), `"554 5.7.1 Message blocked by the policy of the recipient"`, field(func(d transactional) any { return d.DSNMessage }), "554 5.7.1 Message blocked by the policy of the recipient"},
		{"flat copy: additional_headers", x, path("additional_headers"), `[{"name":"X-Order","value":"2231"}]`, field(func(d transactional) any { return d.AdditionalHeaders }), headers},
		{"flat copy: additional_headers null", n, path("additional_headers"), `null`, field(func(d transactional) any { return d.AdditionalHeaders }), []events.MessageHeader(nil)},
	})
}

func TestEmailReportedAsSpam(t *testing.T) {
	type (
		campaign      = *events.CampaignComplaint
		workflow      = *events.WorkflowComplaint
		transactional = *events.TransactionalComplaint
		emailAPI      = *events.EmailAPIComplaint
	)
	const c, w, x, a = "campaign_complaint", "workflow_complaint_trigger", "transactional_complaint", "email_api_complaint"
	fbl := events.FeedbackLoop{Provider: "Mailbox.example", SourceIP: "203.0.113.25"}
	const fblJSON = `{"provider":"Mailbox.example","source_ip":"203.0.113.25"}`
	ada := events.ComplainingContact{ID: events.StringID("90210"), Email: "ada@example.org", Status: "spam"}
	const adaJSON = `{"email":"ada@example.org","id":"90210","status":"spam"}`
	list := events.ListRef{ID: events.StringID("42"), Name: events.Value("Newsletter")}
	const listJSON = `{"id":"42","name":"Newsletter"}`
	check(t, []cell{
		{"fbl/Campaign", c, path("fbl"), fblJSON, field(func(d campaign) any { return d.FBL }), fbl},
		{"fbl/Workflow", w, path("fbl"), fblJSON, field(func(d workflow) any { return d.FBL }), fbl},
		{"fbl/Transactional", x, path("fbl"), fblJSON, field(func(d transactional) any { return d.FBL }), fbl},
		{"fbl/Email API: no", a, path("fbl"), ``, nil, nil},
		{"contact/Campaign: id is a string, status spam", c, path("contact"), adaJSON, field(func(d campaign) any { return d.Contact }), ada},
		{"contact/Workflow: id is a string, status spam", w, path("contact"), adaJSON, field(func(d workflow) any { return d.Contact }), ada},
		{"contact/Transactional: email only", x, path("contact"), `{"email":"ada@example.org"}`, field(func(d transactional) any { return d.Contact }), events.AddressedContact{Email: "ada@example.org"}},
		{"contact/Email API: no", a, path("contact"), ``, nil, nil},
		{"list/Campaign: id is a string", c, path("list"), listJSON, field(func(d campaign) any { return d.List }), list},
		{"list/Workflow: id is a string", w, path("list"), listJSON, field(func(d workflow) any { return d.List }), list},
		{"list/Transactional: both null", x, path("list"), nullRef, field(func(d transactional) any { return d.List }), events.ListRef{}},
		{"list/Email API: no", a, path("list"), ``, nil, nil},
		{"segment: id, name, query", "campaign_complaint_segment", path("segment", "id"), `77`, field(func(d campaign) any { return d.Segment.ID }), events.IntID(77)},
		{"segment: null values", c, path("segment"), nullSegment, field(func(d campaign) any { return d.Segment }), events.Segment{}},
		{"segment/Workflow", w, path("segment"), nullSegment, field(func(d workflow) any { return d.Segment }), events.Segment{}},
		{"segment/Transactional", x, path("segment"), nullSegment, field(func(d transactional) any { return d.Segment }), events.Segment{}},
		{"context: null values", c, path("context"), nullContext, field(func(d campaign) any { return d.Context }), events.ActionContext{}},
		{"context/Workflow", w, path("context"), nullContext, field(func(d workflow) any { return d.Context }), events.ActionContext{}},
		{"context/Transactional", x, path("context"), nullContext, field(func(d transactional) any { return d.Context }), events.ActionContext{}},
		{"campaign", c, path("campaign"), campaignRef, field(func(d campaign) any { return d.Campaign.ID }), events.IntID(5001)},
		{"automation", w, path("automation", "trigger", "id"), `810`, field(func(d workflow) any { return d.Automation.Trigger.ID }), events.IntID(810)},
		{"transactional_email", x, path("transactional_email", "id"), `"8f14e45fceea"`, field(func(d transactional) any { return d.TransactionalEmail.ID }), "8f14e45fceea"},
		{"Email API: event_time", a, path("event_time"), `1763651839`, field(func(d emailAPI) any { return d.EventTime }), int64(1763651839)},
		{"Email API: email.id", a, path("email"), `{"id":"` + emailID + `"}`, field(func(d emailAPI) any { return d.Email }), events.EmailRef{ID: emailID}},
	})
}

// The events that only the Email API fires.
func TestEmailAPIEvents(t *testing.T) {
	type (
		unsubscribed = *events.EmailUnsubscribed
		globally     = *events.EmailGloballyUnsubscribed
		rejected     = *events.EmailRejected
		errored      = *events.EmailErrored
	)
	const u, g, r, e = "email_unsubscribed_still_active", "email_globally_unsubscribed", "email_rejected", "email_errored"
	const from = `{"ip":"198.51.100.7","user_agent":"Mozilla/5.0 (X11; Linux x86_64)"}`
	place := events.RecipientContext{IP: "198.51.100.7", UserAgent: "Mozilla/5.0 (X11; Linux x86_64)"}
	unsubscribedAda := ada
	unsubscribedAda.Status = "unsubscribed"
	check(t, []cell{
		{"Email.Unsubscribed: event_time", u, path("event_time"), `1763651959`, field(func(d unsubscribed) any { return d.EventTime }), int64(1763651959)},
		{"Email.Unsubscribed: email.id", u, path("email", "id"), `"` + emailID + `"`, field(func(d unsubscribed) any { return d.Email.ID }), emailID},
		{"Email.Unsubscribed: contact, still active, no attributes", u, path("contact"), `{"custom_attributes":[],"email":"bob@example.org","id":90211,"interests":[],"status":"active","subscribed_on":1735689600,"tags":[]}`, field(func(d unsubscribed) any { return d.Contact }), events.Contact{ID: events.IntID(90211), Email: "bob@example.org", Status: "active", SubscribedOn: 1735689600, CustomAttributes: []events.CustomAttribute{}, Tags: []string{}, Interests: []string{}}},
		{"Email.Unsubscribed: contact unsubscribed", "email_unsubscribed", path("contact", "status"), `"unsubscribed"`, field(func(d unsubscribed) any { return d.Contact }), unsubscribedAda},
		{"Email.Unsubscribed: list", u, path("list"), `{"id":42,"name":"Newsletter"}`, field(func(d unsubscribed) any { return d.List }), list42},
		{"Email.Unsubscribed: context", u, path("context"), from, field(func(d unsubscribed) any { return d.Context }), place},

		{"Email.GlobalUnsubscribed: event_time", g, path("event_time"), `1763652019`, field(func(d globally) any { return d.EventTime }), int64(1763652019)},
		{"Email.GlobalUnsubscribed: email.id", g, path("email", "id"), `"` + emailID + `"`, field(func(d globally) any { return d.Email.ID }), emailID},
		{"Email.GlobalUnsubscribed: context", g, path("context"), from, field(func(d globally) any { return d.Context }), place},
		{"Email.GlobalUnsubscribed: no contact", g, path("contact"), ``, nil, nil},

		{"Email.Rejected: reason", r, path("reason"), `"unsubscribed"`, field(func(d rejected) any { return d.Reason }), events.RejectReasonUnsubscribed},
		{"Email.Rejected: event_time", r, path("event_time"), `1763652079`, field(func(d rejected) any { return d.EventTime }), int64(1763652079)},
		{"Email.Rejected: email.id", r, path("email", "id"), `"` + emailID + `"`, field(func(d rejected) any { return d.Email.ID }), emailID},
		{"Email.Rejected: contact of a list contact", r, path("contact", "id"), `90210`, field(func(d rejected) any { return d.Contact }), &unsubscribedAda},
		{"Email.Rejected: list of a list contact", r, path("list"), `{"id":42,"name":"Newsletter"}`, field(func(d rejected) any { return d.List }), &list42},
		{"Email.Rejected: no contact otherwise", "email_rejected_no_contact", path("contact"), ``, field(func(d rejected) any { return d.Contact }), (*events.Contact)(nil)},
		{"Email.Rejected: no list otherwise", "email_rejected_no_contact", path("list"), ``, field(func(d rejected) any { return d.List }), (*events.ListRef)(nil)},
		{"Email.Rejected: the submitting user", r, path("email", "id"), `"` + emailID + `"`, func(ev *events.Event) any { return ev.User }, user},

		{"Email.Error: error", e, path("error"), `"internal error; the message could not be queued"`, field(func(d errored) any { return d.Error }), "internal error; the message could not be queued"},
		{"Email.Error: event_time", e, path("event_time"), `1763652199`, field(func(d errored) any { return d.EventTime }), int64(1763652199)},
		{"Email.Error: email.id", e, path("email", "id"), `"` + emailID + `"`, field(func(d errored) any { return d.Email.ID }), emailID},
		{"Email.Error: the submitting user", e, path("email", "id"), `"` + emailID + `"`, func(ev *events.Event) any { return ev.User }, user},
	})
}

var user = events.User{ID: events.Value(int64(31)), Email: events.Value("ops@shop.example"), AccountID: events.Value(int64(1204))}

func TestContactRemovedAndSuppressed(t *testing.T) {
	type removed = *events.ContactRemoved
	const l, u, x = "contact_removed_by_link", "contact_removed_by_user", "contact_removed_deleted"
	check(t, []cell{
		{"list", l, path("list"), `{"id":42,"name":"Newsletter"}`, field(func(d removed) any { return d.List }), list42},
		{"contact", u, path("contact"), `{"bounces_count":2,"custom_attributes":[{"name":"first_name","value":"Ada"}],"email":"ada@example.org","id":90210,"last_bounce_type":"soft","status":"unsubscribed","subscribed_on":1735689600}`, field(func(d removed) any { return d.Contact }), events.RemovedContact{ID: events.IntID(90210), Email: "ada@example.org", Status: "unsubscribed", SubscribedOn: 1735689600, LastBounceType: "soft", BouncesCount: 2, CustomAttributes: []events.CustomAttribute{{Name: "first_name", Value: "Ada"}}}},
		{"contact: last_bounce_type none", l, path("contact", "last_bounce_type"), `"none"`, field(func(d removed) any { return d.Contact.LastBounceType }), "none"},
		{"contact: bounces_count zero is not absent", l, path("contact", "bounces_count"), `0`, field(func(d removed) any { return d.Contact.BouncesCount }), int64(0)},
		{"contact: deleted", x, path("contact", "status"), `"deleted"`, field(func(d removed) any { return d.Contact.Status }), "deleted"},
		{"context: of the contact through a link", l, path("context"), `{"ip":"198.51.100.7","timestamp":1763652259,"user_agent":"Mozilla/5.0 (X11; Linux x86_64)"}`, field(func(d removed) any { return d.Context }), events.ActionContext{Timestamp: events.Value(int64(1763652259)), IP: events.Value("198.51.100.7"), UserAgent: events.Value("Mozilla/5.0 (X11; Linux x86_64)")}},
		{"context: null otherwise", u, path("context"), `{"ip":null,"timestamp":1763652319,"user_agent":null}`, field(func(d removed) any { return d.Context }), events.ActionContext{Timestamp: events.Value(int64(1763652319))}},
		{"user: who unsubscribed the contact", u, path("list", "id"), `42`, func(ev *events.Event) any { return ev.User }, user},
		{"user: who deleted the contact", x, path("list", "id"), `42`, func(ev *events.Event) any { return ev.User }, user},
		{"user: null when the contact did", l, path("list", "id"), `42`, func(ev *events.Event) any { return ev.User }, events.User{}},
		{"suppressedEmail.email in camel case", "email_suppressed", path("suppressedEmail"), `{"email":"ada@example.org"}`, field(func(d *events.EmailSuppressed) any { return d.SuppressedEmail.Email }), "ada@example.org"},
	})
}

func TestGeneralEvents(t *testing.T) {
	at := func(hour, minute, second, nano int) time.Time {
		return time.Date(2025, 11, 20, hour, minute, second, nano, time.UTC)
	}
	contact, list, campaign := events.StringID("90210"), events.StringID("42"), events.StringID("5001")
	for file, want := range map[string]events.Data{
		"email_opened":            &events.EmailOpened{EmailID: events.StringID("e-771"), ContactID: contact, CampaignID: campaign, ListID: list, EmailAddress: "ada@example.org", OpenedAt: at(15, 31, 59, 0)},
		"email_opened_no_contact": &events.EmailOpened{EmailID: events.StringID(emailID), EmailAddress: "ada@example.org", OpenedAt: at(15, 32, 59, 0)},
		"email_clicked":           &events.EmailClicked{EmailID: events.StringID("e-771"), ContactID: contact, CampaignID: campaign, ListID: list, EmailAddress: "ada@example.org", URL: "https://shop.example/offers?week=47&ref=mail", ClickedAt: at(15, 33, 59, 25e7)},
		"contact_added":           &events.ContactAdded{ContactID: contact, ListID: list, EmailAddress: "ada@example.org", AddedAt: at(15, 30, 0, 0)},
		"contact_unsubscribed":    &events.ContactUnsubscribed{ContactID: contact, ListID: list, EmailAddress: "ada@example.org", UnsubscribedAt: at(15, 30, 59, 0)},
		"campaign_sent":           &events.CampaignSent{CampaignID: campaign, ListID: list, Name: "Autumn offers", SentAt: at(15, 34, 58, 0)},
		"campaign_scheduled":      &events.CampaignScheduled{CampaignID: campaign, ListID: list, Name: "Autumn offers", ScheduledFor: time.Date(2025, 11, 21, 8, 0, 0, 0, time.UTC)},
	} {
		t.Run(file, func(t *testing.T) {
			ev := mustParse(t, delivery(t, file))
			if !reflect.DeepEqual(ev.Data, want) {
				t.Errorf("got %+v, want %+v", ev.Data, want)
			}
			if ev.ID != "" || ev.AccountID != 0 || ev.IP != "" || ev.User != (events.User{}) {
				t.Errorf("the general envelope has no such members: %+v", ev)
			}
			if ev.Time.Year() != 2025 || ev.Time.Before(at(15, 30, 0, 0)) {
				t.Errorf("time is %v", ev.Time)
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
		{"event", ev.Name, "Email.Bounced"},
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
		{"bounce_hb", events.BounceCategoryHard, true, false, "hard bounce"},
		{"bounce_sb", events.BounceCategorySoft, false, true, "soft bounce"},
		{"bounce_fm", events.BounceCategoryMailboxFull, false, true, "mailbox full"},
		{"bounce_mb", events.BounceCategoryBlocked, false, true, "blocked"},
		{"bounce_tr", events.BounceCategoryTransient, false, true, "transient failure"},
		{"bounce_df", events.BounceCategoryDNSFailure, false, true, "DNS failure"},
		{"bounce_ar", events.BounceCategoryAutoReply, false, false, "automatic reply"},
		{"bounce_cr", events.BounceCategoryChallengeResponse, false, false, "challenge-response"},
		{"bounce_ac", events.BounceCategoryAddressChange, false, false, "address change"},
		{"bounce_xx", "bounce_xx", false, false, "bounce_xx"},
	} {
		t.Run(row.text, func(t *testing.T) {
			ev := mustParse(t, []byte(`{"event":"Email.Bounced","data":{"bounce":{"category":"`+row.text+`"},"campaign":{}}}`))
			d, ok := ev.Data.(*events.CampaignBounce)
			if !ok {
				t.Fatalf("%+v", ev.Data)
			}
			c := d.Bounce.Category
			if c != row.category || c.Hard() != row.hard || c.Soft() != row.soft || c.Description() != row.description {
				t.Errorf("%v: hard %v, soft %v, %q", c, c.Hard(), c.Soft(), c.Description())
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
				t.Errorf("%+v", ev.Data)
			}
		})
	}
}
