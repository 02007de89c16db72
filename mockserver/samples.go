package mockserver

import (
	"encoding/json"

	"example.com/emailplatform/mockserver/internal/samples"
)

// Sample is an example of an event, from the API's document, with a fresh id and
// the time of its making.
type Sample struct {
	// Event is the event's name, such as Email.Bounced.
	Event string `json:"event"`
	// Variant tells the samples of one event apart: campaign, workflow_trigger,
	// email_api and so on, or default if there is nothing to tell apart.
	Variant string `json:"variant"`
	// Summary says in a few words what happened.
	Summary string `json:"summary"`
	// Body is what is delivered, as compact JSON.
	Body json.RawMessage `json:"body"`
}

// DefaultVariant is the variant of a sample whose event has no others, or the
// usual one of them.
const DefaultVariant = samples.DefaultVariant

// Samples returns an example of every event in every shape that the
// specification shows, ordered by event and variant, to send to a receiver
// under test; see [Server.SendEvent].
func Samples() ([]Sample, error) {
	all, err := samples.All()
	return each(all, func(s samples.Sample) Sample { return Sample(s) }), err
}
