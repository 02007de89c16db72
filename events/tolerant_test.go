package events_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
)

// paths returns the paths of the mismatches in ev.
func paths(ev *events.Event) (all []string) {
	joined, _ := ev.Mismatch().(interface{ Unwrap() []error })
	if joined == nil {
		return nil
	}
	for _, err := range joined.Unwrap() {
		if pe, ok := errors.AsType[*events.ParseError](err); ok {
			all = append(all, pe.Path)
		}
	}
	return all
}

// TestOddValues: if a value has the wrong type, only this value is lost. The mismatch is reported, and the event is
// written with the original value.
func TestOddValues(t *testing.T) {
	for _, row := range []struct{ name, event, data, odd string }{
		{"no time", "Email.Bounced", `{"event_time":"soon","email":{"id":"e1"}}`, "data.event_time"},
		{"a boolean as time", "Email.Error", `{"event_time":true,"email":{"id":"e1"}}`, "data.event_time"},
		{"no date", "Contact.Added", `{"email_address":"a@b.c","added_at":"2025-13-01T00:00:00Z"}`, "data.added_at"},
		{"an object as date", "Email.Opened", `{"email_id":"e1","opened_at":{"date":"2026-01-02"}}`, "data.opened_at"},
		{"a number as tag", "Email.Rejected", `{"contact":{"email":"a@b.c","tags":["a",1]}}`, "data.contact.tags[1]"},
		{"a string as tags", "Email.Rejected", `{"contact":{"email":"a@b.c","tags":"vip"}}`, "data.contact.tags"},
		{"a number as interest", "Email.Bounced", `{"email":{"id":"e1"},"contact":{"email":"a@b.c","interests":[1]}}`, "data.contact.interests[0]"},
		{
			"a list as attribute", "Contact.Removed",
			`{"contact":{"email":"a@b.c","custom_attributes":[{"name":"age","value":[42]},{"name":"n","value":"v"}]}}`,
			"data.contact.custom_attributes[0].value",
		},
		{
			"a list in an object of attributes", "Contact.Removed", `{"contact":{"email":"a@b.c","custom_attributes":{"age":["42"]}}}`,
			"data.contact.custom_attributes.age",
		},
		{"a string as number", "Contact.Removed", `{"contact":{"email":"a@b.c","bounces_count":"many"}}`, "data.contact.bounces_count"},
		{"a fraction as number", "Contact.Removed", `{"contact":{"email":"a@b.c","bounces_count":1.5}}`, "data.contact.bounces_count"},
		{"a number as status", "Contact.Removed", `{"contact":{"email":"a@b.c","status":1}}`, "data.contact.status"},
		{"a string as bounce of a complaint", "Email.ReportedAsSpam", `{"fbl":{},"campaign":{"id":1,"name":7},"bounce":"x"}`, "data.campaign.name"},
		{"a string as id of a bounce", "Email.Bounced", `{"bounce":{"id":"b1"},"campaign":{"id":1}}`, "data.bounce.id"},
		{"a list as segment", "Email.Bounced", `{"bounce":{},"campaign":{"id":1},"segment":[]}`, "data.segment"},
		{"a list as context", "Email.ReportedAsSpam", `{"fbl":{},"campaign":{"id":1},"context":[]}`, "data.context"},
		{"a list as contact", "Email.Bounced", `{"email":{"id":"e1"},"contact":[]}`, "data.contact"},
		{"a list as list", "Contact.Removed", `{"contact":{"email":"a@b.c"},"list":[]}`, "data.list"},
		{"a boolean as user agent", "Contact.Removed", `{"contact":{"email":"a@b.c"},"context":{"user_agent":false}}`, "data.context.user_agent"},
		{"a number as name", "Campaign.Sent", `{"campaign_id":"1","name":7}`, "data.name"},
	} {
		t.Run(row.name, func(t *testing.T) {
			body := `{"id":"1","event":"` + row.event + `","data":` + row.data + `}`
			ev := mustParse(t, []byte(body))
			assert.NotContains(t, fmt.Sprintf("%T", ev.Data), "Unknown")
			assert.Equal(t, []string{row.odd}, paths(ev))
			assert.Equal(t, body, string(marshal(t, ev)))
			ev.ID = "2"
			sameJSON(t, marshal(t, ev), []byte(strings.Replace(body, `"id":"1"`, `"id":"2"`, 1)))
		})
	}
}

// TestOddValueIsZero: the fields after an odd value are read, and the odd value is zero or null.
func TestOddValueIsZero(t *testing.T) {
	ev := mustParse(t, []byte(`{"event":"Contact.Removed","ip":7,"data":{"contact":{"bounces_count":"x","email":"a@b.c","tags":[1]},`+
		`"context":{"user_agent":1,"timestamp":"x","ip":"192.0.2.1"},"list":{"name":[],"id":42}}}`))
	d, ok := ev.Data.(*events.ContactRemoved)
	require.True(t, ok, "%T", ev.Data)
	assert.Equal(t, events.ContactRemoved{
		Contact: events.RemovedContact{Email: "a@b.c"},
		List:    events.ListRef{ID: events.IntID(42)},
		Context: events.ActionContext{IP: events.Value("192.0.2.1")},
	}, *d)
	assert.Equal(t, []string{"ip", "data.contact.bounces_count", "data.context.user_agent", "data.context.timestamp", "data.list.name"},
		paths(ev))
}

// TestOtherForms: Parse reads a value in another form without a mismatch if the conversion loses nothing.
func TestOtherForms(t *testing.T) {
	at := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, form := range []string{
		`1767355200`, `"1767355200"`, `1767355200.0`, `1767355200000`, `"2026-01-02T12:00:00Z"`, `"2026-01-02 12:00:00"`,
		`"20260102T120000Z"`, `"2026-01-02T14:00:00+02"`,
	} {
		for _, envelope := range []string{"created_on", "timestamp"} {
			body := fmt.Sprintf(`{"event":"Email.Bounced",%q:%s,"data":{"event_time":%[2]s,"email":{"id":42},"contact":{"subscribed_on":%[2]s}}}`,
				envelope, form)
			ev := mustParse(t, []byte(body))
			d, ok := ev.Data.(*events.EmailAPIBounce)
			require.True(t, ok, "%s: %T", body, ev.Data)
			assert.Nil(t, paths(ev), body)
			for _, got := range []time.Time{ev.Time, d.EventTime, d.Contact.SubscribedOn} {
				assert.True(t, got.Equal(at), "%s: %s", body, got)
			}
			assert.Equal(t, body, string(marshal(t, ev)))
		}
	}
	ev := mustParse(t, []byte(`{"event":"contact.REMOVED","data":{"contact":{"id":7.0,"email":"a@b.c","status":"Unsubscribed",`+
		`"bounces_count":"3","last_bounce_type":"HARD","custom_attributes":{"age":42,"vip":true}},"list":{"id":4e1}}}`))
	assert.Nil(t, paths(ev))
	assert.Equal(t, events.NameContactRemoved, ev.Name)
	d, ok := ev.Data.(*events.ContactRemoved)
	require.True(t, ok, "%T", ev.Data)
	assert.Equal(t, events.RemovedContact{
		ID: events.IntID(7), Email: "a@b.c", Status: events.ContactStatusUnsubscribed, BouncesCount: 3, LastBounceType: events.BounceTypeHard,
		CustomAttributes: []events.CustomAttribute{{Name: "age", Value: "42"}, {Name: "vip", Value: "true"}},
	}, d.Contact)
	assert.Equal(t, "40", ev.ListID().String())
}

// TestLetterCase: Parse recognizes known values in any letter case, and does not change unknown values.
func TestLetterCase(t *testing.T) {
	for category, want := range map[string]events.BounceCategory{
		"BOUNCE_HB": events.BounceCategoryHard, "Bounce_sb": events.BounceCategorySoft, "New_Category": "New_Category",
	} {
		ev := mustParse(t, []byte(`{"event":"Email.Bounced","data":{"campaign":{"id":1},"bounce":{"category":"`+category+`"}}}`))
		bounce, _ := ev.Bounce()
		assert.Equal(t, want, bounce.Category)
	}
	for reason, want := range map[string]events.RejectReason{"Spam": events.RejectReasonSpam, "New": "New"} {
		ev := mustParse(t, []byte(`{"data":{"reason":"`+reason+`"},"event":"EMAIL.rejected"}`))
		assert.Equal(t, &events.EmailRejected{Reason: want}, ev.Data)
	}
	for name, want := range map[events.Name]string{"email.error": "events: data: expected an object at offset 0", "new.event": "<nil>"} {
		unknown, _ := mustParse(t, []byte(`{"event":"`+string(name)+`"}`)).Data.(*events.Unknown)
		assert.Equal(t, want, fmt.Sprint(unknown.Err), name)
	}
}

// TestUsualFieldsOfUnknownEvents: the methods read the usual fields of any data.
func TestUsualFieldsOfUnknownEvents(t *testing.T) {
	for _, row := range []struct{ event, data, recipient, email, list, contact, campaign string }{
		{
			event:     "Email.Delivered",
			data:      `{"email":{"id":"e1"},"contact":{"id":7,"email":"a@b.c"},"list":{"id":42,"name":"n"},"campaign":{"id":9}}`,
			recipient: "a@b.c", email: "e1", list: "42", contact: "7", campaign: "9",
		},
		{
			event:     "Email.Deferred",
			data:      `{"email_id":12,"email_address":"a@b.c","list_id":"42","campaign_id":null,"contact_id":true}`, // an id is not a boolean
			recipient: "a@b.c", email: "12", list: "42",
		},
		{event: "SuppressedEmail.Removed", data: `{"suppressedEmail":{"email":"*@b.c"}}`, recipient: "*@b.c"},
		{
			event:     "Email.Bounced",
			data:      `{"bounce":{},"email":"flat@b.c","transactional_email":"t1","contact":{"email":"a@b.c"},"list":null}`,
			recipient: "a@b.c",
		},
		{event: "Email.Deferred", data: `{"transactional_email":{"id":"t1"},"email":"a@b.c"}`, recipient: "a@b.c", email: "t1"},
		{event: "New.Event", data: `{"contact":7,"email":[],"list":{"id":{}},"email_id":"e1"}`, email: "e1"},
		{event: "New.Event", data: `[{"email_address":"a@b.c"}]`},
		{event: "New.Event", data: `null`},
	} {
		ev := mustParse(t, []byte(`{"event":"`+row.event+`","data":`+row.data+`}`))
		require.IsType(t, &events.Unknown{}, ev.Data)
		assert.Equal(t, row.recipient, ev.Recipient(), row.data)
		assert.Equal(t, row.email, ev.EmailID(), row.data)
		assert.Equal(t, row.list, ev.ListID().String(), row.data)
		assert.Equal(t, row.contact, ev.ContactID().String(), row.data)
		assert.Equal(t, row.campaign, ev.CampaignID().String(), row.data)
	}
}

// TestByteOrderMark: Parse ignores a byte order mark.
func TestByteOrderMark(t *testing.T) {
	for _, name := range []string{"email_errored", "campaign_bounce", "contact_added"} {
		body := compact(t, name)
		ev := mustParse(t, append([]byte(mark), body...))
		assert.Equal(t, mustParse(t, body).Data, ev.Data)
		assert.JSONEq(t, string(body), string(marshal(t, ev)))
		ev.ID = "changed"
		assert.NotEqual(t, string(body), string(marshal(t, ev)))
	}
}

// TestMismatchesAreLimited: Mismatch returns at most ten errors for the data.
func TestMismatchesAreLimited(t *testing.T) {
	ev := mustParse(t, []byte(`{"event":"Email.Rejected","data":{"contact":{"tags":[`+strings.Repeat("1,", 1000)+`1]}}}`))
	assert.Len(t, paths(ev), 10)
}

// TestManyMismatches: a nullable value of the wrong type is null, even after any number of mismatches. Parse also
// must not take quadratic time. It would do so if it parsed the body again for each mismatch, to find the path of
// the mismatch.
func TestManyMismatches(t *testing.T) {
	for n := range 15 {
		ev := mustParse(t, []byte(`{"event":"x"`+strings.Repeat(`,"ip":7`, n)+`,"user":{"email":7}}`))
		assert.Equal(t, events.User{}, ev.User, "%d mismatches", n)
		ev = mustParse(t, []byte(`{"event":"x"`+strings.Repeat(`,"ip":7`, n)+`,"user":{"email":"e"}}`))
		assert.Equal(t, events.Value("e"), ev.User.Email, "%d mismatches", n)
	}
	allocations := func(values int) float64 {
		body := []byte(`{"event":"x","ip":7,"account_id":"y","user":{"id":1` + strings.Repeat(`,"email":"e"`, values) + `}}`)
		return testing.AllocsPerRun(10, func() { mustParse(t, body) })
	}
	assert.InDelta(t, allocations(10), allocations(1000), 0)
}
