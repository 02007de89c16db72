package e2e

import (
	"testing"
)

// firstLoadBytes is the most that the first load may take over the wire.
const firstLoadBytes = 100_000

// TestFirstLoad holds the first load to its size. How long it takes depends on
// what else the machine does, so that is logged alone: about 200 ms here.
func TestFirstLoad(t *testing.T) {
	w := newWorld(t)
	w.send("ada@example.org", "Hello", order)
	p := open(t, w.srv.URL(), "#/inbox", desk)
	p.until(`document.querySelectorAll('.rows a').length === 1`)
	bytes := eval[int](
		p,
		`performance.getEntries().filter(e => e.encodedBodySize !== undefined && !e.name.includes('stream')).reduce((n, e) => n + e.encodedBodySize, 0)`,
	)
	if bytes > firstLoadBytes || bytes < 20_000 {
		t.Errorf("%d bytes, want at most %d", bytes, firstLoadBytes)
	}
	ms := eval[float64](p, `performance.getEntriesByType('resource').find(e => e.name.includes('/outbox')).responseEnd`)
	t.Logf("%d bytes, the list is there after %.0f ms", bytes, ms)
}
