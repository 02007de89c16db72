// Package events decodes what the platform delivers to webhooks: bounces, spam
// complaints, unsubscribes and all other events of the specification's section
// "Events". Check the signature before decoding a delivery: package webhook does
// both.
//
// [Parse] takes the body of a delivery. What happened is in [Event.Data], one Go
// type for each shape that the specification shows:
//
//	ev, err := events.Parse(body)
//	…
//	switch d := ev.Data.(type) {
//	case *events.CampaignBounce:
//		// d.Bounce.Category, d.Campaign.ID, d.Contact.Email
//	case *events.EmailAPIBounce:
//		// d.Email.ID: look it up
//	case *events.Unknown:
//		// d.Raw
//	}
//
// [Event.Recipient], [Event.EmailID], [Event.ListID], [Event.CampaignID],
// [Event.Bounce] and [Event.SendingType] answer the questions that need no such
// switch.
//
// # Shapes
//
// The body decides, not the name alone. Either envelope may carry any event. An
// Email.Bounced or Email.ReportedAsSpam event has four shapes, which depend on how
// the email was sent; the documentation of [Data] lists all shapes by event.
//
// A type has only the members that its shape has. Members may come in any order;
// the last of several with one name counts, and the case of names matters. A
// member that is missing reads as its zero value.
//
// # Null, absent and zero
//
// What the specification shows as null or a value is a [Null] or an [ID], whose
// zero value is null, or a slice that is nil if null. What it shows as present or
// absent is a pointer, or a slice, that is nil if absent. Everything else has a
// value always. Where the platform deviates from that, what came tells:
// [Event.RawData].
//
// # Unknown events and members
//
// The platform may add events and members at any time, and nothing of that is an
// error. An event with a new name has [Unknown] data. New members are in
// [Event.Raw] and [Event.RawData]. Categories, reasons and the like are strings of
// open sets: values without a constant are kept.
//
// # Errors
//
// Parse fails, with a [*ParseError] that tells the place, if a body is not a JSON
// object or does not name its event. All else that does not fit costs no event:
//
//   - A member of the envelope that is ill-typed is zero: id, account_id, user, ip
//     and the time. [Event.Mismatch] tells the first such member, [Event.Raw] has
//     them all. Ids may be numbers or strings, whichever the platform writes.
//   - If the data does not fit, an event of a known name has [Unknown] data, with
//     the error and with all that could be read.
//
// No body makes Parse panic or take more than time and memory
// in proportion to its length. Its length is for the caller to limit, as the
// handler of package webhook does.
//
// # Writing an event
//
// [json.Marshal] of an event that came from Parse gives the JSON value that came
// in, unknown members included. If fields were changed in between, it gives that
// value with the changes: they are found by comparing the fields with what was
// parsed, so they are never lost, and neither are members that this package does
// not know. Only an array that was changed is written as a whole. A copy of the
// event, by value, does the same.
//
// Marshalling ev.Data alone writes the fields of its type, no unknown members.
//
// # Building events
//
// Fill in an [Event] and marshal it, to test a receiver or to play the platform:
//
//	ev := events.Event{
//		ID:   "3f0c…",
//		Name: events.NameEmailBounced,
//		Time: time.Now(),
//		Data: &events.EmailAPIBounce{EventTime: time.Now().Unix(), Email: events.EmailRef{ID: "01JD…"}},
//	}
//
// The name chooses the envelope, as in the specification. In the compliance
// envelope the time is written in seconds, the zero time as 0.
//
// # Concurrency and memory
//
// Parse may be called from several goroutines, and an event may be read by
// several. All strings of an event share one copy of its body, and the event and
// its data are one piece of memory: to keep a few strings for long, keep
// strings.Clone of them.
package events
