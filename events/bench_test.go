package events_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

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
