package delivery

import (
	"slices"
	"testing"
	"time"

	"example.com/emailplatform/mockserver/record"
)

var start = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func named(id string) *delivery { return &delivery{Delivery: record.Delivery{ID: id}} }

// taken takes all that can be taken now.
func taken(q *queue, now time.Time) (ids []string) {
	for x := q.take(now); x != nil; x = q.take(now) {
		ids = append(ids, x.ID)
	}
	return ids
}

// A retry that is due comes before what is new, and one that is not does not
// keep what is new.
func TestTakeInOrder(t *testing.T) {
	q := &queue{}
	q.later(named("later"), start.Add(time.Minute))
	q.later(named("due 2"), start)
	q.later(named("due 1"), start.Add(-time.Second))
	q.later(named("due 3"), start) // behind those of the same time
	q.pending = []*delivery{named("new 1"), named("new 2")}
	if got, want := taken(q, start), []string{"due 1", "due 2", "due 3", "new 1", "new 2"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if wait, ok := q.wait(start); !ok || wait != time.Minute {
		t.Errorf("the next one is due in %v, %v", wait, ok)
	}
	if got := taken(q, start.Add(time.Minute)); !slices.Equal(got, []string{"later"}) {
		t.Errorf("got %v", got)
	}
	if wait, ok := q.wait(start); ok {
		t.Errorf("an empty queue waits for %v", wait)
	}
}

func TestWaitForGood(t *testing.T) {
	for name, q := range map[string]*queue{
		"archived":  {hook: Webhook{Archived: true}},
		"forgotten": {forgotten: true},
	} {
		q.pending = []*delivery{named("x")}
		if _, ok := q.wait(start); ok || q.take(start) != nil {
			t.Errorf("%s: something can be taken", name)
		}
	}
}

// Never are there more attempts than the limit in any window of its period.
func TestRateLimit(t *testing.T) {
	q := &queue{hook: Webhook{RateLimit: 2, Period: "second"}}
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		q.pending = append(q.pending, named(id))
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
	} {
		now := start.Add(step.after)
		if got := taken(q, now); !slices.Equal(got, step.taken) {
			t.Errorf("after %v: got %v, want %v", step.after, got, step.taken)
		}
		if wait, ok := q.wait(now); !ok || wait != step.wait {
			t.Errorf("after %v: the next one in %v, want %v", step.after, wait, step.wait)
		}
	}
	if len(q.starts) != 2 {
		t.Errorf("%d attempts are remembered, 2 count", len(q.starts))
	}
}

func TestPushWithFaults(t *testing.T) {
	q := &queue{}
	rule := func(action record.FaultAction) *record.FaultRule {
		return &record.FaultRule{ID: "fault-1", Fault: record.Fault{Action: action}}
	}
	held, next, lost, twice := named("held"), named("next"), named("lost"), named("twice")
	q.push(held, rule(record.FaultReorder), start)
	q.push(next, nil, start)
	q.push(lost, rule(record.FaultDrop), start)
	q.push(twice, rule(record.FaultDuplicate), start)
	if got, want := taken(q, start), []string{"next", "twice"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	q.overtaken(twice)
	q.overtaken(next)
	if got, want := taken(q, start), []string{"held"}; !slices.Equal(got, want) {
		t.Errorf("once it was overtaken: %v, want %v", got, want)
	}
	if lost.State != record.DeliveryDropped || lost.Fault != "fault-1" || next.Fault != "" {
		t.Errorf("the lost one is %s by %q, the next one hit by %q", lost.State, lost.Fault, next.Fault)
	}
	if !twice.Duplicate || next.Duplicate {
		t.Error("the wrong one is delivered twice")
	}
}
