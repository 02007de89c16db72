package e2e

import (
	"testing"
)

// TestChangeDuringReload: a message that arrives while the list is reloaded stays in the list, although the response of
// the reload is older than the message.
func TestChangeDuringReload(t *testing.T) {
	w := newWorld(t)
	w.send("ada@example.org", "The first", order)
	p := open(t, w.srv.URL(), "#/inbox", desk)
	p.says(".rows", "The first")
	eval[bool](p, `holdReload('/outbox')`)
	p.until(`window.release`)
	w.send("ada@example.org", "The second", order)
	p.says(".rows", "The first", "The second")
	eval[bool](p, `release()`)
	p.contains(p.text(".rows"), "The second")
}
