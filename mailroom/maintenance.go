package mailroom

import (
	"context"
	"time"
)

const (
	maxDeletes     = 500              // keys that a transaction deletes
	overdueAfter   = 15 * time.Minute // when an external queue seems to have lost the job of an item
	maxRescheduled = 1000             // items of a kind that a transaction reschedules
)

// cleanUp deletes expired keys of events, and archives webhooks that no process uses.
func (r *Room) cleanUp(ctx context.Context, _ string) (wait time.Duration, err error) {
	remain, err := r.deleteExpiredEvents(ctx)
	if err == nil {
		err = r.keepWebhook(ctx)
	}
	if err != nil {
		return 0, err
	}
	wait, err = r.archiveUnusedWebhook(ctx)
	if remain {
		wait = 0
	}
	return wait, err
}

// deleteExpiredEvents deletes at most maxDeletes keys. If remain is true, more expired keys may
// exist.
func (r *Room) deleteExpiredEvents(ctx context.Context) (remain bool, err error) {
	err = r.update(ctx, func(s *storeTx) {
		expired := s.due(kindEvent, time.Now(), maxDeletes)
		for _, it := range expired {
			s.delete(kindEvent, it.Key)
		}
		remain = len(expired) == maxDeletes
	})
	return remain, err
}

// reschedule stores overdue items again, because an external queue seems to have lost their jobs.
// The queue creates a new job for each stored item. reschedule does not change the times of the
// items, because the alerts and the order of the items depend on these times.
//
// After a failure, workers send only one email at a time, as a test (see sendDelay). Until a test
// succeeds, reschedule therefore stores only one of the items that wait to be sent.
func (r *Room) reschedule(ctx context.Context, _ string) (wait time.Duration, err error) {
	return noWork, r.update(ctx, func(s *storeTx) {
		for _, kind := range workKinds() {
			limit := maxRescheduled
			if kind == kindSend && s.readPause().Failures > 0 {
				limit = 1
			}
			for _, it := range s.due(kind, time.Now().Add(-overdueAfter), limit) {
				s.put(it)
			}
		}
	})
}
