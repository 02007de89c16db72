package delivery

import (
	"fmt"
	"slices"
	"strconv"

	"example.com/emailplatform/mockserver/record"
)

// MaxEvents is how many events the journal holds: the latest ones.
const MaxEvents = 10_000

// journal is what happened: all deliveries, and the latest events. The slice of
// deliveries only grows.
type journal struct {
	deliveries []*delivery // in the order they were fired
	byID       map[string]*delivery
	events     []*record.FiredEvent // the oldest first; none is changed any more
	lastEvent  int
	tallies    map[int64]*tally     // of the deliveries, by webhook
	fires      map[int64]*PerMinute // of all events that fired, by account
}

// newJournal returns a journal without deliveries that has some events.
func newJournal(events []*record.FiredEvent, last int) journal {
	j := journal{
		byID:      map[string]*delivery{},
		events:    events,
		lastEvent: last,
		tallies:   map[int64]*tally{},
		fires:     map[int64]*PerMinute{},
	}
	for _, e := range events {
		j.countEvent(e)
	}
	return j
}

const idPrefix = "dlv-"

// ID is the id of a delivery by its place in the journal.
func ID(i int) string { return idPrefix + strconv.Itoa(i+1) }

// add notes a delivery, under the next id unless it has one.
func (j *journal) add(x *delivery) {
	if x.ID == "" {
		x.ID = ID(len(j.deliveries))
	}
	j.deliveries = append(j.deliveries, x)
	if !x.Forgotten {
		j.byID[x.ID] = x
		j.count(x)
	}
}

// fired notes an event and the ids of its deliveries.
func (j *journal) fired(e *Event, deliveries []string) *record.FiredEvent {
	j.lastEvent++
	out := &record.FiredEvent{
		ID:         fmt.Sprintf("evt-%d", j.lastEvent),
		Time:       e.What.Time,
		Event:      e.Name,
		EventID:    e.ID,
		AccountID:  e.AccountID,
		MessageID:  e.MessageID,
		Recipient:  e.Recipient,
		Subject:    e.Subject,
		Body:       e.Body,
		Deliveries: deliveries,
	}
	j.countEvent(out)
	j.events = append(j.events, out)
	if len(j.events) > MaxEvents {
		j.events[0] = nil
		j.events = j.events[1:]
	}
	return out
}

// eventsThat returns copies of the events that are wanted, the oldest first.
func (j *journal) eventsThat(wanted func(*record.FiredEvent) bool) []record.FiredEvent {
	out := []record.FiredEvent{}
	for _, e := range j.events {
		if wanted(e) {
			copied := *e
			copied.Body = slices.Clone(e.Body)
			copied.Deliveries = append([]string{}, e.Deliveries...)
			out = append(out, copied)
		}
	}
	return out
}
