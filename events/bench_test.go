package events_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"example.com/emailplatform/events"
)

// mix names six deliveries as a receiver may get them, of the larger shapes.
var mix = []string{
	"campaign_bounce", "transactional_bounce", "email_api_bounce", "campaign_complaint", "contact_removed_by_link",
	"email_suppressed",
}

// compact returns the body in testdata/name.json as the platform would send it.
func compact(tb testing.TB, name string) []byte {
	tb.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, delivery(tb, name)); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// dataFirst returns body with its data before all other members.
func dataFirst(tb testing.TB, body []byte) []byte {
	tb.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		tb.Fatal(err)
	}
	data := members["data"]
	delete(members, "data")
	rest, err := json.Marshal(members)
	if err != nil {
		tb.Fatal(err)
	}
	return fmt.Appendf(nil, `{"data":%s,%s`, data, rest[1:])
}

// BenchmarkParse decodes one delivery of each shape.
func BenchmarkParse(b *testing.B) {
	for _, name := range deliveries(b) {
		b.Run(name, func(b *testing.B) {
			benchmark(b, [][]byte{compact(b, name)}, parse)
		})
	}
}

// BenchmarkMix decodes the six deliveries of mix in an operation.
func BenchmarkMix(b *testing.B) {
	var bodies, reordered [][]byte
	for _, name := range mix {
		body := compact(b, name)
		bodies = append(bodies, body)
		reordered = append(reordered, dataFirst(b, body))
	}
	b.Run("Parse", func(b *testing.B) { benchmark(b, bodies, parse) })
	b.Run("ParseDataFirst", func(b *testing.B) { benchmark(b, reordered, parse) })
	b.Run("EncodingJSONOnePass", func(b *testing.B) { benchmark(b, bodies, onePass) })
	b.Run("EncodingJSONTwoPasses", func(b *testing.B) { benchmark(b, bodies, twoPasses) })
	b.Run("Valid", func(b *testing.B) {
		benchmark(b, bodies, func(body []byte) error {
			if !json.Valid(body) {
				return fmt.Errorf("not valid")
			}
			return nil
		})
	})
}

// BenchmarkMixInterleaved compares the decoders of BenchmarkMix fairly on a busy
// machine: in turns, a few microseconds each, of which the fastest count.
func BenchmarkMixInterleaved(b *testing.B) {
	var bodies, reordered [][]byte
	for _, name := range mix {
		body := compact(b, name)
		bodies = append(bodies, body)
		reordered = append(reordered, dataFirst(b, body))
	}
	turns := []struct {
		unit   string
		bodies [][]byte
		decode func([]byte) error
		best   time.Duration
	}{
		{unit: "parse-ns", bodies: bodies, decode: parse, best: time.Hour},
		{unit: "datafirst-ns", bodies: reordered, decode: parse, best: time.Hour},
		{unit: "onepass-ns", bodies: bodies, decode: onePass, best: time.Hour},
		{unit: "twopasses-ns", bodies: bodies, decode: twoPasses, best: time.Hour},
	}
	for b.Loop() {
		for i := range turns {
			turn := &turns[i]
			start := time.Now()
			for _, body := range turn.bodies {
				if err := turn.decode(body); err != nil {
					b.Fatal(err)
				}
			}
			turn.best = min(turn.best, time.Since(start))
		}
	}
	for _, turn := range turns {
		b.ReportMetric(float64(turn.best), turn.unit)
	}
	b.ReportMetric(float64(turns[2].best)/float64(turns[0].best), "onepass/parse")
	b.ReportMetric(float64(turns[3].best)/float64(turns[0].best), "twopasses/parse")
	b.ReportMetric(float64(turns[1].best)/float64(turns[0].best), "datafirst/parse")
}

func benchmark(b *testing.B, bodies [][]byte, decode func([]byte) error) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		for _, body := range bodies {
			if err := decode(body); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func parse(body []byte) error {
	_, err := events.Parse(body)
	return err
}

// anyEvent holds the members of every shape in mix, as a program without this
// package would write it. What is a number here and a string there is any.
type anyEvent struct {
	ID        string      `json:"id"`
	Event     events.Name `json:"event"`
	AccountID int64       `json:"account_id"`
	IP        string      `json:"ip"`
	User      events.User `json:"user"`
	CreatedOn int64       `json:"created_on"`
	Timestamp time.Time   `json:"timestamp"`
	Data      struct {
		Bounce             *events.BounceDetail       `json:"bounce"`
		FBL                *events.FeedbackLoop       `json:"fbl"`
		Campaign           *anyRef                    `json:"campaign"`
		Automation         *events.Automation         `json:"automation"`
		TransactionalEmail *events.TransactionalEmail `json:"transactional_email"`
		Contact            *anyContact                `json:"contact"`
		List               *anyRef                    `json:"list"`
		Segment            *anyRef                    `json:"segment"`
		Context            *anyContext                `json:"context"`
		EventTime          int64                      `json:"event_time"`
		Email              any                        `json:"email"`
		ID                 any                        `json:"id"`
		SentID             any                        `json:"sent_id"`
		SenderName         string                     `json:"sender_name"`
		SenderEmail        string                     `json:"sender_email"`
		SourceIP           string                     `json:"source_ip"`
		EnvelopeFrom       string                     `json:"envelope_from"`
		DSNMessage         string                     `json:"dsn_message"`
		AdditionalHeaders  []events.MessageHeader     `json:"additional_headers"`
		SuppressedEmail    *events.SuppressedAddress  `json:"suppressedEmail"`
	} `json:"data"`
}

type anyRef struct {
	Type  string  `json:"type"`
	ID    any     `json:"id"`
	Name  *string `json:"name"`
	Query any     `json:"query"`
}

type anyContact struct {
	ID               any                      `json:"id"`
	Email            string                   `json:"email"`
	Status           *string                  `json:"status"`
	SubscribedOn     int64                    `json:"subscribed_on"`
	CustomAttributes []events.CustomAttribute `json:"custom_attributes"`
	Tags             []string                 `json:"tags"`
	Interests        []string                 `json:"interests"`
	LastBounceType   string                   `json:"last_bounce_type"`
	BouncesCount     int64                    `json:"bounces_count"`
}

type anyContext struct {
	Timestamp *int64  `json:"timestamp"`
	UserAgent *string `json:"user_agent"`
	IP        *string `json:"ip"`
}

func onePass(body []byte) error {
	var e anyEvent
	return json.Unmarshal(body, &e)
}

// twoPasses decodes the envelope, and then the data in the type of its shape.
func twoPasses(body []byte) error {
	var envelope struct {
		ID        string          `json:"id"`
		Event     events.Name     `json:"event"`
		AccountID int64           `json:"account_id"`
		IP        string          `json:"ip"`
		User      events.User     `json:"user"`
		CreatedOn int64           `json:"created_on"`
		Data      json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(body, &envelope); err != nil {
		return err
	}
	var data any
	switch envelope.Event {
	case events.NameEmailBounced, events.NameEmailReportedAsSpam:
		var members struct {
			Campaign           json.RawMessage `json:"campaign"`
			TransactionalEmail json.RawMessage `json:"transactional_email"`
		}
		if err := json.Unmarshal(envelope.Data, &members); err != nil {
			return err
		}
		switch {
		case envelope.Event == events.NameEmailReportedAsSpam:
			data = new(events.CampaignComplaint)
		case members.Campaign != nil:
			data = new(events.CampaignBounce)
		case members.TransactionalEmail != nil:
			data = new(events.TransactionalBounce)
		default:
			data = new(events.EmailAPIBounce)
		}
	case events.NameContactRemoved:
		data = new(events.ContactRemoved)
	case events.NameSuppressedEmailAdded:
		data = new(events.SuppressedEmailAdded)
	}
	return json.Unmarshal(envelope.Data, data)
}
