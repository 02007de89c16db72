package webhooktest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"example.com/emailplatform/webhook"
)

var errDown = errors.New("the store is down")

// table is the shared data of a simple store: a key in use becomes free after its lease, unless its event was
// handled.
type table struct {
	lease   time.Duration
	mu      sync.Mutex
	until   map[string]time.Time // end of each lease
	handled map[string]bool
}

// process is the store of one process.
type process struct {
	*table
	fault string
	down  bool
}

func newProcess(shared *table, fault string) (*process, func()) {
	p := &process{table: shared, fault: fault}
	return p, func() { p.down = true }
}

func newTable(lease time.Duration) *table {
	return &table{lease: lease, until: map[string]time.Time{}, handled: map[string]bool{}}
}

func (p *process) begin(key string) (handled bool, err error) {
	if p.down {
		return false, errDown
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.handled[key] {
		return true, nil
	}
	if time.Now().Before(p.until[key]) {
		return false, webhook.ErrInFlight
	}
	p.until[key] = time.Now().Add(p.lease)
	p.handled[key] = p.fault == "records before it is handled"
	return false, nil
}

func (p *process) Do(ctx context.Context, key string, fn func(context.Context) error) (bool, error) {
	handled, err := p.begin(key)
	if err != nil && p.fault == "reports in flight if it is down" {
		return false, webhook.ErrInFlight
	}
	if handled || err != nil && p.fault != "runs if it is down" {
		return false, err
	}
	if err := fn(ctx); err != nil {
		return true, err
	}
	if p.down && p.fault != "reports a success that it did not record" {
		return true, errDown
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.handled[key] = !p.down
	return true, nil
}

// TestCrashRules: for each store with a fault, exactly the named rules report an error.
func TestCrashRules(t *testing.T) {
	const (
		success = "crash before the success is recorded"
		failure = "crash before the failure is recorded"
		down    = "store that is down runs nothing"
	)
	for fault, want := range map[string][]string{
		"none": nil,
		"reports a success that it did not record": {success},
		"keeps keys forever":                       {success, failure},
		"runs if it is down":                       {down},
		"records before it is handled":             {success, failure},
		"reports in flight if it is down":          {down},
	} {
		t.Run(fault, func(t *testing.T) {
			lease := time.Second
			if fault == "keeps keys forever" {
				lease = time.Hour
			}
			var reported []string
			for _, r := range crashRules {
				synctest.Test(t, func(t *testing.T) {
					shared := newTable(lease)
					crashing, crash := newProcess(shared, fault)
					other, _ := newProcess(shared, fault)
					if r.check(crashing, crash).run(t.Context(), other) != nil {
						reported = append(reported, r.name)
					}
					time.Sleep(timeLimit) // until what hangs has ended
				})
			}
			assert.Equal(t, want, reported, "reported by")
		})
	}
}

func TestSharedStore(t *testing.T) {
	shared := newTable(50 * time.Millisecond)
	TestCrash(t, func(*testing.T) (webhook.Once, func()) { return newProcess(shared, "none") })
}
