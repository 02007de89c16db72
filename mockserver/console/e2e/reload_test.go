package e2e

import (
	"fmt"
	"testing"

	"example.com/emailplatform/mockserver"
)

// TestChangeDuringReload: a message that arrives while the list is reloaded stays in the list, although the response of
// the reload is older than the message.
func TestChangeDuringReload(t *testing.T) {
	f := newFixture(t)
	f.send("ada@example.org", "The first", order)
	p := open(t, f.srv.URL(), "#/inbox", desktop)
	p.says(".rows", "The first")
	eval[bool](p, `holdReload('/outbox')`)
	p.until(`window.release`)
	f.send("ada@example.org", "The second", order)
	p.says(".rows", "The first", "The second")
	eval[bool](p, `release()`)
	p.contains(p.text(".rows"), "The second")
}

// TestChangesInOneSecond: messages have times in whole seconds, so a change of a message that is not loaded can look like
// a new message.
func TestChangesInOneSecond(t *testing.T) {
	f := newFixture(t)
	f.srv.FreezeClock()
	old := f.send("ada@example.org", "The first", order)
	for range 300 { // more than one page
		f.send("ada@example.org", "Another", order)
	}
	p := open(t, f.srv.URL(), "#/inbox", desktop)
	p.says(".rows", "Another")
	p.check(f.srv.Open(old))
	f.send("ada@example.org", "The last", order)
	p.says(".rows", "The last")
	p.equal(p.text(".list header .count"), "302")
	eval[bool](p, `holdReload('/outbox')`)
	p.until(`window.release`)
	f.send("ada@example.org", "During the reload", order)
	p.says(".rows", "During the reload")
	eval[bool](p, `release()`)
	p.says(".rows", "During the reload", "The last")
	p.equal(p.text(".list header .count"), "303")
}

// TestNewWhileLoadingAPage: a message that arrives while a page far down the list is loaded moves each record by one place.
func TestNewWhileLoadingAPage(t *testing.T) {
	f := newFixture(t)
	for n := range 600 {
		f.send("ada@example.org", fmt.Sprintf("Message %d", n+1), order)
	}
	p := open(t, f.srv.URL(), "#/inbox", desktop)
	p.says(".list header .count", "600")
	eval[bool](p, `hold('/outbox?')`)
	p.until(`document.querySelector('.rows').scrollTop = 30000`)
	p.until(`window.release`)
	f.send("ada@example.org", "Message 601", order)
	p.says(".list header .count", "601")
	eval[bool](p, `release()`)
	p.equal(p.text(".list header .count"), "601")
	p.until(`[...document.querySelectorAll('.rows li strong')].some(e => e.closest('li').ariaPosInSet > 300)`)
	p.until(`[...document.querySelectorAll('.rows li strong')].every(e => e.textContent.endsWith('Message ' + (602 - e.closest('li').ariaPosInSet)))`)
}

// TestResponsesOutOfOrder: the response of a reload does not replace the response of a later reload.
func TestResponsesOutOfOrder(t *testing.T) {
	f := newFixture(t)
	deleted := f.send("ada@example.org", "The first", order)
	f.send("ada@example.org", "The second", order)
	p := open(t, f.srv.URL(), "#/inbox", desktop)
	p.says(".rows", "The first", "The second")
	eval[bool](p, `holdReload('/outbox')`)
	p.until(`window.release`)
	f.check(f.srv.DeleteMessage(deleted))
	p.rows(1)
	eval[bool](p, `release()`)
	p.equal(p.text(".list header .count"), "1")

	p = open(t, f.srv.URL(), "#/faults", desktop)
	p.says(".page", "No faults")
	eval[bool](p, `holdReload('/faults')`)
	p.until(`window.release`)
	_, err := f.srv.Inject(mockserver.Fault{Action: mockserver.FaultStatus, Status: 503})
	f.check(err)
	p.says(".rules", "503")
	eval[bool](p, `release()`)
	p.contains(p.text(".rules"), "503")
}

// TestChangesWhilePaused: changes that the page holds do not duplicate messages that it loads in the meantime.
func TestChangesWhilePaused(t *testing.T) {
	f := newFixture(t)
	f.send("ada@example.org", "The first", order)
	p := open(t, f.srv.URL(), "#/inbox", desktop)
	p.says(".rows", "The first").press("p").says(".live", "Paused")
	f.srv.FreezeClock()
	for range 300 { // more than one page
		f.send("ada@example.org", "Another", order)
	}
	p.says(".live", "held").goTo("#/events").goTo("#/inbox").says(".list header .count", "301")
	f.send("ada@example.org", "The last", order)
	p.press("p").says(".rows", "The last").equal(p.text(".list header .count"), "302")
}
