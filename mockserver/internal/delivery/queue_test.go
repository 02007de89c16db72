package delivery

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/model"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// addDelivery adds a delivery with the given event to the history of a queue.
func addDelivery(q *queue, name string) *delivery {
	dlv := &delivery{Delivery: model.Delivery{Event: events.Name(name)}}
	q.history.add(dlv)
	return dlv
}

// taken removes all due deliveries from a queue and returns their events.
func taken(q *queue, now time.Time) (names []string) {
	for wait, ok := q.untilDue(now); ok && wait == 0; wait, ok = q.untilDue(now) {
		names = append(names, string(q.popDue(now).Event))
	}
	return names
}

// Retries that are due precede new deliveries. Retries that are due later do not delay new
// deliveries.
func TestTakeInOrder(t *testing.T) {
	q := newQueue(Webhook{}, newHistory())
	q.schedule(addDelivery(q, "later"), start.Add(time.Minute))
	q.schedule(addDelivery(q, "due 2"), start)
	q.schedule(addDelivery(q, "due 1"), start.Add(-time.Second))
	q.schedule(addDelivery(q, "due 3"), start) // after other deliveries of the same time
	q.append(addDelivery(q, "new 1"))
	q.append(addDelivery(q, "new 2"))
	assert.Equal(t, []string{"due 1", "due 2", "due 3", "new 1", "new 2"}, taken(q, start))
	wait, ok := q.untilDue(start)
	require.True(t, ok)
	assert.Equal(t, time.Minute, wait)
	assert.Equal(t, []string{"later"}, taken(q, start.Add(time.Minute)))
	if wait, ok := q.untilDue(start); ok {
		t.Errorf("an empty queue waits for %v", wait)
	}
}

func TestArchivedOrClosedQueueNeverDue(t *testing.T) {
	archived, closed := newQueue(Webhook{Archived: true}, newHistory()), newQueue(Webhook{}, newHistory())
	closed.closed = true
	for name, q := range map[string]*queue{"archived": archived, "closed": closed} {
		q.append(addDelivery(q, "x"))
		if _, ok := q.untilDue(start); ok {
			t.Errorf("%s: a delivery is due", name)
		}
	}
}

func TestPeriod(t *testing.T) {
	for name, want := range map[string]time.Duration{"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour} {
		assert.Equal(t, want, (&Webhook{Period: name}).period(), name)
	}
}

// No time window of one period contains more attempts than the limit.
func TestRateLimit(t *testing.T) {
	q := newQueue(Webhook{RateLimit: 2, Period: "second"}, newHistory())
	for _, id := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		q.append(addDelivery(q, id))
	}
	for _, step := range []struct {
		after time.Duration
		taken []string
		wait  time.Duration
	}{
		{0, []string{"a", "b"}, time.Second},
		{400 * time.Millisecond, nil, 600 * time.Millisecond},
		{time.Second, []string{"c", "d"}, time.Second},
		{1500 * time.Millisecond, nil, 500 * time.Millisecond},
		{-time.Hour, []string{"e", "f"}, time.Second}, // the clock was set back
	} {
		now := start.Add(step.after)
		assert.Equal(t, step.taken, taken(q, now), "after %v", step.after)
		wait, ok := q.untilDue(now)
		require.True(t, ok, "after %v", step.after)
		assert.Equal(t, step.wait, wait, "after %v", step.after)
		if len(q.attemptTimes) != 2 {
			t.Errorf("after %v: %d start times are stored, want 2", step.after, len(q.attemptTimes))
		}
	}
}

func TestPushWithFaults(t *testing.T) {
	q := newQueue(Webhook{}, newHistory())
	rule := func(action model.FaultAction) *fault.AppliedRule {
		return &fault.AppliedRule{FaultRule: model.FaultRule{ID: "fault-1", Fault: model.Fault{Action: action}}}
	}
	held, next, lost, twice := addDelivery(q, "held"), addDelivery(q, "next"), addDelivery(q, "lost"), addDelivery(q, "twice")
	q.push(held, rule(model.FaultReorder), start)
	q.push(next, nil, start)
	q.push(lost, rule(model.FaultDrop), start)
	q.push(twice, rule(model.FaultDuplicate), start)
	assert.Equal(t, []string{"next", "twice"}, taken(q, start))
	q.attempted(twice)
	q.attempted(next)
	assert.Equal(t, []string{"held"}, taken(q, start), "after the next delivery")
	assert.Equal(t, model.DeliveryDropped, lost.State)
	assert.Equal(t, "fault-1", lost.Fault)
	assert.Empty(t, next.Fault)
	assert.True(t, twice.Duplicate)
	assert.False(t, next.Duplicate)
}
