// Package samples contains an example of every event and payload type, for
// tests of receivers.
package samples

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/model"
)

// defaultVariant is the name of the only or most common variant of a sample.
const defaultVariant = "default"

// All returns an example of every event and payload type in the specification,
// ordered by event and variant.
func All() ([]model.Sample, error) {
	now := time.Now().UTC().Truncate(time.Second)
	var out []model.Sample
	all := examples()
	for _, event := range slices.Sorted(maps.Keys(all)) {
		names := slices.Sorted(maps.Keys(all[event]))
		for i, variant := range variants(names) {
			shown := all[event][names[i]]
			body, err := refresh([]byte(shown.body), now)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", names[i], err)
			}
			out = append(out, model.Sample{Event: events.Name(event), Variant: variant, Summary: shown.summary, Body: body})
		}
	}
	return out, nil
}

type example struct{ summary, body string }

// variants removes the words that all names share, so "campaign_bounce" and
// "workflow_bounce" become "campaign" and "workflow".
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
			out[i] = defaultVariant
		}
	}
	return out
}

// refresh sets the current time and a new id in an example, because receivers would
// otherwise treat the event as a duplicate. The order of the fields does not change.
func refresh(example []byte, now time.Time) ([]byte, error) {
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
