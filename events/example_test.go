package events_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"time"

	"example.com/emailplatform/events"
)

// Email.GlobalUnsubscribed contains no address. However, the same click also fires SuppressedEmail.Added, which
// contains it.
func ExampleEvent_Recipient() {
	suppressed := map[string]bool{}
	for _, body := range []string{
		`{"id":"1","event":"SuppressedEmail.Added","created_on":1763651060,` +
			`"data":{"suppressedEmail":{"email":"ada@example.org"}}}`,
		`{"id":"2","event":"Email.GlobalUnsubscribed","created_on":1763651061,"data":{"event_time":1763651060,` +
			`"email":{"id":"01JD5K"},"context":{"ip":"198.51.100.7","user_agent":"Mail"}}}`,
	} {
		ev, err := events.Parse([]byte(body))
		if err != nil {
			fmt.Println(err)
			continue
		}
		switch ev.Data.(type) {
		case *events.SuppressedEmailAdded:
			suppressed[ev.Recipient()] = true
		case *events.EmailGlobalUnsubscribed:
			fmt.Printf("%q by email %s\n", ev.Recipient(), ev.EmailID())
		}
	}
	fmt.Println(suppressed)
	// Output:
	// "" by email 01JD5K
	// map[ada@example.org:true]
}

// An event can be built from its fields.
func ExampleEvent() {
	body, err := json.Marshal(events.Event{
		Name: events.NameContactAdded,
		Time: time.Date(2026, 11, 20, 15, 30, 0, 0, time.UTC),
		Data: &events.ContactAdded{
			ContactID:    events.StringID("90210"),
			ListID:       events.StringID("42"),
			EmailAddress: "ada@example.org",
			AddedAt:      time.Date(2026, 11, 20, 15, 29, 59, 0, time.UTC),
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(body))
	// Output: {"event":"Contact.Added","timestamp":"2026-11-20T15:30:00Z","data":{"contact_id":"90210","list_id":"42","email_address":"ada@example.org","added_at":"2026-11-20T15:29:59Z"}}
}

// A changed event is encoded with the change and with all other fields that it had,
// including unknown fields.
func ExampleEvent_MarshalJSON() {
	ev, err := events.Parse(
		[]byte(
			`{"event":"SuppressedEmail.Added","created_on":1763651060,"data":{"suppressedEmail":{"email":"ada@example.org",` +
				`"source":"api"}}}`,
		),
	)
	if err != nil {
		log.Fatal(err)
	}
	if d, ok := ev.Data.(*events.SuppressedEmailAdded); ok {
		d.SuppressedEmail.Email = "redacted@example.org"
	}
	body, err := json.Marshal(ev)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(body))
	// Output: {"created_on":1763651060,"data":{"suppressedEmail":{"email":"redacted@example.org","source":"api"}},"event":"SuppressedEmail.Added"}
}

// RawData contains fields that this package does not know.
func ExampleEvent_RawData() {
	ev, err := events.Parse(
		[]byte(`{"event":"Email.Rejected","data":{"reason":"quota","email":{"id":"01JD5K"},"retry_in":60}}`))
	if err != nil {
		log.Fatal(err)
	}
	var more struct {
		RetryIn int `json:"retry_in"`
	}
	if err := json.Unmarshal(ev.RawData(), &more); err != nil {
		log.Fatal(err)
	}
	d, _ := ev.Data.(*events.EmailRejected)
	fmt.Println(d.Reason, more.RetryIn)
	// Output: quota 60
}

// Data with an address or id of an unexpected type is an Unknown with the readable fields.
func ExampleUnknown() {
	ev, err := events.Parse(
		[]byte(`{"event":"Email.Unsubscribed","data":{"email":{"id":"01JD"},"contact":{"email":["ada@example.org"]}}}`))
	if err != nil {
		log.Fatal(err)
	}
	if d, ok := ev.Data.(*events.Unknown); ok {
		fmt.Println(d.Err)
	}
	fmt.Println(ev.EmailID())
	// Output:
	// events: data.contact.email: expected a string at offset 79
	// 01JD
}

// A ParseError names the field and the offset. Its Event contains the readable fields.
func ExampleParseError() {
	_, err := events.Parse([]byte(`{"id":"01JD","event":null,"data":{"error":"internal error; no route"}}`))
	if pe, ok := errors.AsType[*events.ParseError](err); ok {
		fmt.Println(pe)
		fmt.Println("the rest was read:", pe.Event.ID)
	}
	// Output:
	// events: event: expected the name of an event at offset 0
	// the rest was read: 01JD
}

// Mismatch reports a field of an unexpected type in an event that is otherwise readable.
func ExampleEvent_Mismatch() {
	ev, err := events.Parse(
		[]byte(`{"event":"Email.Error","ip":["192.0.2.1"],"data":{"error":"internal error; no route"}}`))
	if err != nil {
		log.Fatal(err)
	}
	if d, ok := ev.Data.(*events.EmailErrored); ok {
		fmt.Println(d.Error)
	}
	fmt.Println(ev.Mismatch())
	// Output:
	// internal error; no route
	// events: ip: expected a string at offset 28
}

// Bounce returns the details of a bounce for all payloads.
func ExampleEvent_Bounce() {
	ev, err := events.Parse([]byte(`{
		"id": "6f1c2b01", "event": "Email.Bounced", "created_on": 1763651060,
		"data": {
			"bounce": {"id": null, "category": "bounce_hb", "dsn_message": "550 5.1.1 no such user", "source_ip": "203.0.113.25"},
			"campaign": {"type": "campaign", "id": 5001, "name": "Autumn offers"},
			"contact": {"id": 90210, "email": "ada@example.org", "status": null},
			"list": {"id": 42, "name": "Newsletter"}
		}
	}`))
	if err != nil {
		log.Fatal(err)
	}
	if bounce, ok := ev.Bounce(); ok && bounce.Category.Hard() {
		fmt.Println(ev.Recipient(), "of campaign", ev.CampaignID(), "bounced:", bounce.DSNMessage)
	}
	// Output: ada@example.org of campaign 5001 bounced: 550 5.1.1 no such user
}

// Events contain the same id as a number or as a string.
func ExampleID_Equal() {
	fmt.Println(events.IntID(42).Equal(events.StringID("42")))
	lists := map[string]string{events.IntID(42).String(): "Newsletter"}
	fmt.Println(lists[events.StringID("42").String()])
	// Output:
	// true
	// Newsletter
}
