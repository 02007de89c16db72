// Package events decodes webhook deliveries: bounces, spam complaints, unsubscribes
// and all other events of the specification's section "Events". Verify the
// signature of a delivery before you decode it; package webhook does both.
//
//	package main
//
//	import (
//		"fmt"
//		"io"
//		"log"
//		"os"
//
//		"example.com/emailplatform/events"
//	)
//
//	func main() {
//		body, err := io.ReadAll(os.Stdin)
//		if err != nil {
//			log.Fatal(err)
//		}
//		event, err := events.Parse(body)
//		if err != nil {
//			log.Fatal(err)
//		}
//		switch data := event.Data.(type) {
//		case *events.CampaignBounce:
//			fmt.Println(data.Contact.Email, "bounced:", data.Bounce.Category)
//		case *events.EmailAPIBounce:
//			fmt.Println("email", data.Email.ID, "bounced")
//		case *events.Unknown:
//			fmt.Println("unknown event", event.Name, string(data.Raw))
//		}
//	}
//
// [Event.Data] has one Go type for each payload type of the specification.
// [Event.Recipient], [Event.EmailID], [Event.ListID], [Event.CampaignID],
// [Event.Bounce] and [Event.SendingType] work for all of them.
//
// # Payload types
//
// The type depends on the body, not only on the name. Either envelope can carry any
// event. An Email.Bounced or Email.ReportedAsSpam event has four payload types, which
// depend on how the email was sent; the documentation of [Data] lists the types of
// each event.
//
// Fields can come in any order. If a field is duplicated, the last one counts. Field
// names are case-sensitive. A missing field is the zero value.
//
// # Null, absent and zero
//
// A field that can be null is a [Null], an [ID], a [time.Time] or a slice. A null is the
// zero value of that type. A field that can be absent is a pointer or a slice, which is
// then nil. All other fields are required. [Event.RawData] contains the original data if
// the platform deviates from this.
//
// Times are of type [time.Time]. In JSON they are Unix seconds or ISO 8601, as in the
// specification. Unix seconds become times in UTC, and 0 becomes the zero time.
//
// # Unknown events and fields
//
// The platform may add events and fields at any time; they are not errors. An event with
// an unknown name has [Unknown] data. Unknown fields are in [Event.Raw] and
// [Event.RawData]. The platform may also add categories, reasons and similar values.
// Values without a constant are kept.
//
// # Errors
//
// Parse returns a [*ParseError] with the location if the body is not a JSON object
// or contains no event name. Other deviations are not errors:
//
//   - A field of the envelope with the wrong type is zero. [Event.Mismatch] reports
//     the first one. Ids may be numbers or strings.
//   - If the data does not match its type, a known event has [Unknown] data with the
//     error and everything that could be read.
//
// Parse never panics. Its time and memory are proportional to the length of the
// body. The caller must limit that length, as the handler of package webhook does.
//
// # Encoding
//
// [json.Marshal] of a parsed event returns the original JSON value, including unknown
// fields. If you changed fields, it returns that value with the changes; a changed
// array is written as a whole. A copy of the event behaves in the same way.
// Marshaling ev.Data writes only the fields of its type.
//
// To test a receiver, fill in an [Event] and marshal it:
//
//	ev := events.Event{
//		ID:   "3f0c…",
//		Name: events.NameEmailBounced,
//		Time: time.Now(),
//		Data: &events.EmailAPIBounce{EventTime: time.Now(), Email: events.EmailRef{ID: "01JD…"}},
//	}
//
// The name determines the envelope, as in the specification. The compliance envelope
// contains the time in seconds; the zero time is 0.
//
// # Concurrency and memory
//
// Parse and all methods of an event that only read are safe for concurrent use. All
// strings of an event share one copy of its body, so use strings.Clone for strings that
// your program keeps for a long time.
package events
