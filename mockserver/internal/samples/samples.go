// Package samples has an example of every event in every shape, to send to a
// receiver under test.
package samples

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/record"
)

// DefaultVariant is the variant of a sample whose event has no others, or the
// usual one of them.
const DefaultVariant = "default"

// All returns an example of every event in every shape that the specification
// shows, ordered by event and variant.
func All() ([]record.Sample, error) {
	spec, err := api.GetSpecJSON()
	if err != nil {
		return nil, fmt.Errorf("mockserver: samples: %w", err)
	}
	var document sampleDocument
	if err := json.Unmarshal(spec, &document); err != nil {
		return nil, fmt.Errorf("mockserver: samples: %w", err)
	}
	now := time.Now().UTC().Truncate(time.Second)
	var out []record.Sample
	for _, event := range slices.Sorted(maps.Keys(document.Webhooks)) {
		examples := document.Webhooks[event].Post.RequestBody.Content.JSON.Examples
		names := slices.Sorted(maps.Keys(examples))
		for i, variant := range variants(names) {
			example := examples[names[i]]
			body, err := freshen(example.Value, now)
			if err != nil {
				return nil, fmt.Errorf("mockserver: samples: %s: %w", names[i], err)
			}
			out = append(out, record.Sample{Event: event, Variant: variant, Summary: example.Summary, Body: body})
		}
	}
	return out, nil
}

// sampleDocument is where the document has its examples of events.
type sampleDocument struct {
	Webhooks map[string]struct {
		Post struct {
			RequestBody struct {
				Content struct {
					JSON struct {
						Examples map[string]struct {
							Summary string          `json:"summary"`
							Value   json.RawMessage `json:"value"`
						} `json:"examples"`
					} `json:"application/json"`
				} `json:"content"`
			} `json:"requestBody"`
		} `json:"post"`
	} `json:"webhooks"`
}

// variants leaves out of the names of an event's examples the words that all of
// them share: campaign_bounce and workflow_bounce become campaign and workflow.
func variants(names []string) []string {
	shared := map[string]int{}
	for _, name := range names {
		for word := range strings.SplitSeq(name, "_") {
			shared[word]++
		}
	}
	out := make([]string, len(names))
	for i, name := range names {
		words := slices.DeleteFunc(strings.Split(name, "_"), func(word string) bool { return shared[word] == len(names) })
		if out[i] = strings.Join(words, "_"); out[i] == "" {
			out[i] = DefaultVariant
		}
	}
	return out
}

// freshen gives an example an id of its own, so that a receiver does not take it
// for a duplicate, and the time. Its members come in the specification's order.
func freshen(example []byte, now time.Time) ([]byte, error) {
	old, err := events.Parse(example)
	if err != nil {
		return nil, err
	}
	fresh := events.Event{Name: old.Name, Time: now, AccountID: old.AccountID, User: old.User, IP: old.IP, Data: old.Data}
	if old.ID != "" {
		fresh.ID = platform.UUID()
	}
	return json.Marshal(&fresh)
}
