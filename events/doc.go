// Package events decodes webhook deliveries: bounces, spam complaints, unsubscribes and
// all other events. Package webhook verifies the signature of a delivery before it
// decodes the event.
//
//	event, err := events.Parse(body)
//	if err != nil {
//		return err
//	}
//	switch data := event.Data.(type) {
//	case *events.CampaignBounce:
//		fmt.Println(data.Contact.Email, "bounced:", data.Bounce.Category)
//	case *events.EmailAPIBounce:
//		fmt.Println("email", data.Email.ID, "bounced")
//	case *events.Unknown:
//		if data.Err != nil {
//			return data.Err // the platform retries the delivery
//		}
//		fmt.Println("unknown event", event.Name, string(data.Raw))
//	}
//
// [Event.Data] has one Go type for each payload type in the specification. For common
// values, use [Event.Recipient], [Event.EmailID], [Event.ListID], [Event.ContactID],
// [Event.CampaignID], [Event.Bounce] and [Event.SendingType], which support all payload
// types.
//
// # Payload types
//
// The JSON of an event consists of an envelope and the data of the event. The specification
// defines two envelopes, the compliance envelope and the general envelope. Parse accepts any
// event in either of them.
//
// The data of an Email.Bounced or Email.ReportedAsSpam event has one of four payload types,
// depending on how the email was sent. The data of an event with any other name has only one
// payload type. The documentation of [Data] lists the payload types.
//
// Fields can be in any order, and their names are case-sensitive. If a field is
// duplicated, Parse uses the last value. If a field is missing, Parse sets it to its
// zero value.
//
// # Null, absent and zero
//
// The Go type of a field shows whether the specification allows it to be null or absent. A
// field that can be null is a [Null], an [ID], a [time.Time] or a slice, whose zero value
// represents null. A field that can be absent is a pointer or a slice, and is nil if it is
// absent, so a nil slice can mean either. Fields of all other types are always present and
// never null.
//
// In JSON, a time is a Unix time or a text in the format ISO 8601. Parse accepts both
// forms in each field. A Unix time is in seconds or milliseconds, can have a fraction,
// and can be a number or a string. In Go, each time is a [time.Time]. Parse converts a
// Unix time to a time in UTC, except 0, which becomes the zero time.
//
// # Unknown events and fields
//
// The platform may add events, fields and values at any time, so Parse does not treat them
// as errors. The data of an event with an unknown name is [Unknown]. To read unknown
// fields, use [Event.Raw] or [Event.RawData]. Parse keeps unknown enumeration values
// unchanged, but ignores the letter case of known values and event names.
//
// # Errors
//
// If the body is not a JSON object or contains no event name, Parse returns a
// [*ParseError] with the location of the error. If other envelope fields or the data are
// invalid, Parse returns no error:
//
//   - A field with the wrong type is zero, and [Event.Mismatch] reports it. The handler in
//     package webhook logs these errors. It is not an error if an id is a number or a
//     string, or if a number is a string or written as 42.0.
//   - Without some values, a handler could miss the event's subject: the address of the
//     contact, the id of the contact, email, list or campaign, and the category of a
//     bounce. If such a value has the wrong type, the data is [Unknown], which contains the
//     error and the valid fields. If the data has any other type, these values therefore had
//     the right type. If such a value is empty, it was empty, null or absent in the delivery,
//     or the contact, list or campaign was an empty array.
//   - If the data does not match any payload type of the event, it is [Unknown] too.
//
// Parse never panics. Its time and memory are proportional to the length of the body,
// so limit the length. The handler in package webhook does this.
//
// # Encoding
//
// You can change a parsed event, or a copy of it, and encode the result. [json.Marshal]
// returns the original JSON value, including unknown fields, with your changes. If you
// change an array, unknown fields of its elements are lost, because the changed array
// replaces the original array. If you marshal only ev.Data, all unknown fields are lost.
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
// The JSON has the envelope that the specification defines for the event.
//
// # Concurrency and memory
//
// Parse and all read-only methods of an event are safe for concurrent use. All strings in an
// event share one copy of its body, so one string can keep the whole body in memory. If your
// program keeps such a string for a long time, copy it with strings.Clone.
package events
