package mailroom

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"example.com/emailplatform/internal/tests/check"
)

// TestObserve: Observe gets each call of OnNotice and its result.
func TestObserve(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		var observed []string
		f.fail = func(Notice) bool { return len(observed) == 0 }
		f.start(func(o *Options) {
			o.Observe = func(_ context.Context, o Observation) {
				observed = append(observed, fmt.Sprintf("%s %s: %v", o.Notice.Key, o.Notice.Reason, o.Err))
			}
		})
		f.enqueue("17", "ada@example.org")
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Equal(t, []string{"17 sent: not now", "17 sent: <nil>"}, observed)
	})
}

// TestQueues: Queues counts the items whose time has come, and returns the time of the oldest item.
func TestQueues(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		began := time.Now()
		queues := func() (found []string) {
			for _, q := range check.Need(f.room.Queues(t.Context()))(t) {
				if q.Length > 0 || !q.Oldest.IsZero() {
					found = append(found, fmt.Sprint(q.Name, " ", q.Length, " ", q.Oldest.Sub(began)))
				}
			}
			return found
		}
		f.start()
		assert.Empty(t, queues())
		f.loseResponses(1)
		f.enqueue("1", "ada@example.org")
		time.Sleep(time.Second)
		f.enqueue("2", "bob@example.org") // waits during the pause
		f.enqueue("3", "bob@example.org")
		time.Sleep(10 * time.Second)
		assert.Equal(t, []string{"send 2 3s", "unknown 1 2s"}, queues())
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"unknown 1 2s"}, queues())
	})
}
