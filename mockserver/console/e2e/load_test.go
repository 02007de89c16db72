package e2e

import (
	"fmt"
	"testing"

	"example.com/emailplatform/webhook"
)

// firstLoadBytes is the most that the first load may take over the wire.
const firstLoadBytes = 150_000

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

// TestManyDeliveries works with 10,000 deliveries while more come in.
func TestManyDeliveries(t *testing.T) {
	const many = 10_000
	w := newWorld(t)
	body := []byte(`{"event":"Email.Opened","id":"x","data":{}}`)
	for i := range many {
		if _, err := w.srv.SendEventTo(w.receiver.URL, webhook.Secret{Key: "s"}, body); err != nil {
			t.Fatal(i, err)
		}
	}
	w.settle()
	p := open(t, w.srv.URL(), "#/deliveries", desk)
	p.says(".count", "10,000")
	const step = `new Promise(done => { const start = performance.now(); %s; requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now() - start))) })`
	worst := 0.0
	for range 20 {
		worst = max(
			worst,
			eval[float64](
				p,
				fmt.Sprintf(step,
					`document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }))`),
			),
		)
	}
	t.Logf("the slowest of 20 steps took %.0f ms", worst)
	if rows := eval[int](p, `document.querySelectorAll('.rows a').length`); rows > 400 {
		t.Errorf("%d rows at once", rows)
	}
	p.fill("#filter", "nothing")
	p.says(".list", "Nothing like that")
	p.fill("#filter", "opened")
	p.says(".count", "10,000")
	flood(w, 500)
	p.says(".count", "10,500")
}

// flood sends events in a burst.
func flood(w *world, n int) {
	w.Helper()
	for range n {
		_, err := w.srv.SendEventTo(w.receiver.URL, webhook.Secret{Key: "s"}, []byte(`{"event":"Email.Opened","data":{}}`))
		w.check(err)
	}
	w.settle()
}
