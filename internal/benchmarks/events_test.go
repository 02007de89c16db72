package benchmarks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/bytedance/sonic"
	jsonv2 "github.com/go-json-experiment/json" // on Go 1.27 this is encoding/json/v2
	goccy "github.com/goccy/go-json"
	segmentio "github.com/segmentio/encoding/json"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
)

type jsonPackage struct {
	name string
	unmarshal
}

var jsonPackages = []jsonPackage{
	{"json", json.Unmarshal},
	{"json-v2", func(data []byte, v any) error { return jsonv2.Unmarshal(data, v) }},
	{"sonic", sonic.Unmarshal},
	{"sonic-fastest", sonic.ConfigFastest.Unmarshal},
	{"goccy", goccy.Unmarshal},
	{"segmentio", segmentio.Unmarshal},
}

// deliveries returns six events with the larger payloads in the platform's format.
func deliveries() (bodies [][]byte) {
	var all map[string]json.RawMessage
	check(json.Unmarshal(must(os.ReadFile("../../events/testdata/deliveries.json")), &all))
	for _, name := range []string{
		"campaign_bounce", "transactional_bounce", "email_api_bounce", "campaign_complaint", "contact_removed_by_link", "email_suppressed",
	} {
		var b bytes.Buffer
		check(json.Compact(&b, all[name]))
		bodies = append(bodies, b.Bytes())
	}
	return bodies
}

func each(bodies [][]byte, do func([]byte)) func() {
	return func() {
		for _, body := range bodies {
			do(body)
		}
	}
}

func parse(body []byte) { must(events.Parse(body)) }

// BenchmarkDecodeEvents decodes six events. For a fair comparison, the code with JSON packages finds the payload type
// of each event, as the SDK does.
func BenchmarkDecodeEvents(b *testing.B) {
	bodies := deliveries()
	compare(b, "sdk", each(bodies, parse))
	for _, p := range jsonPackages {
		compare(b, p.name, each(bodies, p.typed))
	}
	standard := unmarshal(json.Unmarshal)
	compare(b, "json-one-pass", each(bodies, func(body []byte) { check(json.Unmarshal(body, new(event[anyData]))) }))
	compare(b, "json-one-bounce-type", each(bodies, standard.oneBounce))
	compare(b, "json.Valid", each(bodies, func(body []byte) { json.Valid(body) }))
}

// BenchmarkDecodeEventsDataFirst decodes events with the field "data" before the field "event".
func BenchmarkDecodeEventsDataFirst(b *testing.B) {
	bodies := deliveries()
	var reordered [][]byte
	for _, body := range bodies {
		var fields map[string]json.RawMessage
		check(json.Unmarshal(body, &fields))
		data := fields["data"]
		delete(fields, "data")
		reordered = append(reordered, fmt.Appendf(nil, `{"data":%s,%s`, data, must(json.Marshal(fields))[1:]))
	}
	compare(b, "sdk", each(reordered, parse))
	compare(b, "sdk-event-first", each(bodies, parse))
}

// BenchmarkDecodePage decodes a page of 100 contacts in memory. For the SDK, the time includes the whole client call.
func BenchmarkDecodePage(b *testing.B) {
	body := []byte(contactPage(0, pageOf(0, contactItem)))
	c := must(client.New(client.Config{BaseURL: "https://platform.example", Token: "t", HTTPClient: &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body))}, nil
	})}}))
	compare(b, "sdk", func() { must(c.Contacts.List(b.Context(), 1, client.ListContactsParams{PerPage: perPage})) })
	for _, p := range jsonPackages {
		compare(b, p.name, func() { check(p.unmarshal(body, new(contacts))) })
	}
	compare(b, "json.Valid", func() { json.Valid(body) })
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// unmarshal is the Unmarshal function of a JSON package.
type unmarshal func(data []byte, v any) error

// oneBounce decodes the envelope, and then the data into one type for each event name, so all bounces share one type.
func (f unmarshal) oneBounce(body []byte) {
	f.payload(body, func(json.RawMessage) any { return new(bounced) })
}

// typed decodes the envelope, finds the payload type of a bounce, and decodes the data into that type. The SDK returns
// the same types, but after one pass.
func (f unmarshal) typed(body []byte) {
	f.payload(body, func(data json.RawMessage) any {
		var fields struct {
			Campaign           json.RawMessage `json:"campaign"`
			Automation         json.RawMessage `json:"automation"`
			TransactionalEmail json.RawMessage `json:"transactional_email"`
		}
		check(f(data, &fields))
		switch {
		case fields.Campaign != nil:
			return new(campaignBounced)
		case fields.TransactionalEmail != nil:
			return new(bounced)
		default:
			return new(apiBounced)
		}
	})
}

func (f unmarshal) payload(body []byte, bounce func(json.RawMessage) any) {
	var e event[json.RawMessage]
	check(f(body, &e))
	switch e.Event {
	case "Email.Bounced":
		check(f(e.Data, bounce(e.Data)))
	case "Email.ReportedAsSpam":
		check(f(e.Data, new(complained)))
	case "Contact.Removed":
		check(f(e.Data, new(removed)))
	case "SuppressedEmail.Added":
		check(f(e.Data, new(suppressed)))
	default:
		panic(e.Event)
	}
}

// event is the envelope with the fields of every event in the mix.
type event[Data any] struct {
	ID        string `json:"id"`
	Event     string `json:"event"`
	AccountID int64  `json:"account_id"`
	IP        string `json:"ip"`
	User      struct {
		ID        *int64  `json:"id"`
		Email     *string `json:"email"`
		AccountID *int64  `json:"account_id"`
	} `json:"user"`
	CreatedOn int64     `json:"created_on"`
	Timestamp time.Time `json:"timestamp"`
	Data      Data      `json:"data"`
}

// anyData has the fields of every payload in the mix.
type anyData struct {
	bounced
	suppressed
	FBL *feedbackLoop `json:"fbl"`
}

type bounced struct {
	campaignBounced
	EventTime          int64 `json:"event_time"`
	Email              any   `json:"email"` // an object or an address
	TransactionalEmail *struct {
		ID                string     `json:"id"`
		Sender            nameable   `json:"sender"`
		EnvelopeFrom      string     `json:"envelope_from"`
		AdditionalHeaders []nameable `json:"additional_headers"`
	} `json:"transactional_email"`

	// A bounce of a transactional email repeats its fields here.
	ID                any        `json:"id"`
	SentID            any        `json:"sent_id"`
	SenderName        string     `json:"sender_name"`
	SenderEmail       string     `json:"sender_email"`
	SourceIP          string     `json:"source_ip"`
	EnvelopeFrom      string     `json:"envelope_from"`
	DSNMessage        string     `json:"dsn_message"`
	AdditionalHeaders []nameable `json:"additional_headers"`
}

type campaignBounced struct {
	campaignEvent
	Bounce *struct {
		ID         *int64 `json:"id"`
		DSNMessage string `json:"dsn_message"`
		SourceIP   string `json:"source_ip"`
		Category   string `json:"category"`
	} `json:"bounce"`
}

type complained struct {
	campaignEvent
	FBL *feedbackLoop `json:"fbl"`
}

type campaignEvent struct {
	Campaign *reference `json:"campaign"`
	Segment  *reference `json:"segment"`
	removed
}

type removed struct {
	Contact *person    `json:"contact"`
	List    *reference `json:"list"`
	Context *struct {
		Timestamp *int64  `json:"timestamp"`
		UserAgent *string `json:"user_agent"`
		IP        *string `json:"ip"`
	} `json:"context"`
}

type apiBounced struct {
	EventTime int64      `json:"event_time"`
	Email     any        `json:"email"`
	Contact   *person    `json:"contact"`
	List      *reference `json:"list"`
}

type suppressed struct {
	SuppressedEmail *struct {
		Email string `json:"email"`
	} `json:"suppressedEmail"`
}

type feedbackLoop struct {
	Provider string `json:"provider"`
	SourceIP string `json:"source_ip"`
}

type nameable struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Email string `json:"email"`
}

type reference struct {
	Type  string  `json:"type"`
	ID    any     `json:"id"` // a number or a string
	Name  *string `json:"name"`
	Query any     `json:"query"`
}

type person struct {
	ID               any        `json:"id"`
	Email            string     `json:"email"`
	Status           *string    `json:"status"`
	SubscribedOn     int64      `json:"subscribed_on"`
	CustomAttributes []nameable `json:"custom_attributes"`
	Tags             []string   `json:"tags"`
	Interests        []string   `json:"interests"`
	LastBounceType   string     `json:"last_bounce_type"`
	BouncesCount     int64      `json:"bounces_count"`
}
