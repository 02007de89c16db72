package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

const (
	manyContacts   = 50_000
	manyMessages   = 2_000
	manyDeliveries = 5 * manyMessages

	mostNodes = 5_000
	mostHeap  = 30 << 20 // bytes, after garbage collection
	mostBytes = 400_000  // of the responses before the first row
	mostAdded = 300      // elements for one key

	rowHeight = 80 // pixels
)

// enlarge creates a list with many contacts, a campaign to another list, and five webhooks that get an event for each
// opened message.
func (w *world) enlarge() {
	w.Helper()
	for i := range manyDeliveries / manyMessages {
		w.subscribe(fmt.Sprintf("/hooks/%d", i), "Email.Opened")
	}
	w.check(w.srv.Seed(strings.NewReader(fmt.Sprintf(`{
		"lists":[{"list_id":1001,"name":"Many","contacts":[%s]}, {"list_id":900000,"name":"Readers","policy_accepted":true,"contacts":[%s]}],
		"campaigns":[{"campaign_id":999999,"name":"Autumn","list_id":900000,"sender":{"email":"hello@harbour.example"},"content":{"subject":"Hi","text":"Hi"}}]
	}`, people("user", manyContacts), people("reader", manyMessages)))))
	_, err := w.sdk.Campaigns.Send(w.Context(), 999999)
	w.check(err)
	w.settle()
	for _, m := range w.srv.Outbox() {
		w.check(w.srv.Open(m.ID))
	}
	w.settle()
}

// people returns the contacts of a seed.
func people(name string, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`{"email":"%s%d@example.org"}`, name, i)
	}
	return strings.Join(all, ",")
}

// TestLarge opens views with very long lists.
func TestLarge(t *testing.T) {
	w := newWorld(t)
	w.enlarge()
	t.Run("the first row", w.firstRow)
	t.Run("all rows loaded", w.allRows)
	t.Run("a jump", w.jump)
	t.Run("a link to a delivery", w.deepLink)
	t.Run("contacts", w.manyContacts)
	t.Run("a list that changes", w.changing)
}

// firstRow opens each view in a new page. It checks that the first row appears after only a part of the records was
// loaded.
func (w *world) firstRow(t *testing.T) {
	for _, place := range []string{"deliveries", "contacts"} {
		p := open(t, w.srv.URL(), "#/"+place, desk)
		p.until(`document.querySelector('.rows a')`)
		bytes := eval[int](p, `performance.getEntriesByType('resource').filter(e => e.initiatorType === 'fetch').reduce((sum, e) => sum + e.decodedBodySize, 0)`)
		if bytes == 0 || bytes > mostBytes {
			t.Errorf("%s: %d bytes are loaded for the first row, want at most %d", place, bytes, mostBytes)
		}
	}
}

// allRows scrolls to the end and checks the number of nodes and the memory.
func (w *world) allRows(t *testing.T) {
	p := open(t, w.srv.URL(), "#/deliveries", desk)
	p.says(".count", "10,000")
	for top := 0; top < manyDeliveries*rowHeight; top += 75 * rowHeight {
		p.scroll(fmt.Sprint(top))
	}
	p.says(".rows li:last-of-type", "reader")
	p.light("with all rows loaded")
	p.scroll(`box.scrollHeight / 2`)
	for range 30 {
		if added := eval[int](p, `pressJ()`); added > mostAdded {
			t.Errorf("a keystroke adds %d elements, want at most %d", added, mostAdded)
		}
	}
	p.light("after some keys")
	p.until(`document.querySelectorAll('.rows a').length >= 10 && document.querySelectorAll('.rows a').length <= 100`)
}

// jump scrolls to rows that are not loaded yet.
func (w *world) jump(t *testing.T) {
	p := open(t, w.srv.URL(), "#/inbox", desk)
	p.says(".count", "2,000")
	p.do(focus(".rows li:nth-child(3) a"))
	p.scroll("1000 * 80")
	p.equal(eval[string](p, `document.activeElement.closest('li')?.ariaPosInSet`), "3") // the row that has the focus stays
	p.until(`firstInView() === 1001`)
	p.scroll(`box.scrollHeight`)
	p.says(".rows li:last-of-type", "reader0@example.org")
	eval[bool](p, `document.activeElement.blur(), true`)
	p.scroll("500 * 80") // upwards
	p.until(`firstInView() === 501`)
	p.press("j").until(`document.querySelector('.rows a[aria-current]')?.closest('li').ariaPosInSet === '501'`)
}

// scroll scrolls the list and waits until the visible rows are loaded.
func (p *page) scroll(top string) {
	p.Helper()
	p.until(`scrollRows(box => ` + top + `)`)
}

// light fails if the page has too many nodes or uses too much memory.
func (p *page) light(when string) {
	p.Helper()
	nodes := eval[int](p, `document.querySelectorAll('*').length`)
	_, err := chromedp.Call(p.ctx, heapprofiler.CollectGarbage, struct{}{})
	p.check(err)
	heap, err := chromedp.Call(p.ctx, runtime.GetHeapUsage, struct{}{})
	p.check(err)
	if nodes > mostNodes || heap.UsedSize > mostHeap {
		p.Errorf("%s: %d nodes, want %d; %.1f MB, want %.1f", when, nodes, mostNodes, heap.UsedSize/1e6, float64(mostHeap)/1e6)
	}
}

// deepLink opens a delivery far down the list. Its row is shown and does not move.
func (w *world) deepLink(t *testing.T) {
	old := w.srv.Deliveries()[manyDeliveries/4]
	p := open(t, w.srv.URL(), "#/deliveries/"+old.ID, desk)
	p.until(`selectedInView()`)
	p.says(".rows a[aria-current=true]", old.Recipient)
	at := eval[float64](p, `document.querySelector('.rows a[aria-current=true]').getBoundingClientRect().top`)
	before := p.text(".count")
	w.opens(w.srv.Outbox()[0].ID)
	p.until(fmt.Sprintf(`document.querySelector('.count').textContent !== %q`, before))
	p.equal(eval[float64](p, `document.querySelector('.rows a[aria-current=true]').getBoundingClientRect().top`), at)
	p.press("k").until(fmt.Sprintf(`!location.hash.includes(%q)`, old.ID))
	p.until(`selectedInView()`)
	p.press("j").until(fmt.Sprintf(`location.hash.includes(%q)`, old.ID))
	p.scroll("0")
	p.press("j") // from the selected row, not from the visible rows
	p.until(`selectedInView()`)
	small := open(t, w.srv.URL(), "#/deliveries/"+old.ID, phone)
	small.says(".detail h2", "Email.Opened")
	small.until(`document.querySelector('.rows a[aria-current=true]')`)
	eval[bool](small, `holdReload('/deliveries?')`)
	small.until(`window.release`)
	eval[bool](small, `release()`)
	small.until(`document.querySelector('.rows a[aria-current=true]')`) // the reload loads only the first page
	small.click(".back a", "Deliveries")
	small.until(`document.activeElement.matches('.rows a') && document.activeElement.hash.includes("` + old.ID + `")`)
}

// manyContacts opens a contact far down the list, finds contacts by a part of their addresses, and jumps to a page.
func (w *world) manyContacts(t *testing.T) {
	found, err := w.sdk.Contacts.Find(t.Context(), 1001, "user31234@example.org")
	w.check(err)
	p := open(t, w.srv.URL(), fmt.Sprintf("#/contacts/1001/%d", found.ID), desk)
	p.until(`selectedInView()`)
	p.says(".rows a[aria-current=true]", "user31234@example.org")
	p.until(`document.querySelector('.pager input').value === '625'`)
	p.goTo("#/contacts/1001").says(".count", "50,000")
	p.fill("#filter", "user24").says(".count", "1,111") // 24, 240 to 249, 2400 to 2499, 24000 to 24999
	p.says(".pager", "Only the latest 200 contacts")
	p.fill("#filter", "").says(".count", "50,000")
	p.fill(".pager input", "777\r").says(".rows", "user38800@example.org")
	p.reload().says(".rows", "user38800@example.org")
	p.goTo("#/contacts/1001?q=user49999%40").rows(1)
}

// changing searches while events arrive.
func (w *world) changing(t *testing.T) {
	p := open(t, w.srv.URL(), "#/deliveries", desk)
	p.fill("#filter", "nothing like it").says(".list", "No matches")
	p.fill("#filter", "opened")
	total := eval[string](p, `new Promise(done => setTimeout(() => done(document.querySelector('.count').textContent), 600))`)
	flood(w, 500)
	p.until(fmt.Sprintf(`document.querySelector('.count').textContent !== %q`, total))
	p.says(".count", "10,50")
	p.fill("#filter", "")
	p.press(kb.Escape+"p").says(".live", "Paused")
	flood(w, 500) // more pending rows than a page
	p.says(".live", "held")
	p.scroll(`box.scrollHeight`)
	p.scroll(`box.scrollHeight / 3`)
	p.press("p").says(".count", "11,00")
	p.scroll(`box.scrollHeight / 3`)
	p.scroll("0")
	p.until(`document.querySelectorAll('.rows a').length === new Set([...document.querySelectorAll('.rows a')].map(a => a.hash)).size`) // no duplicates
}

// flood sends events in a burst.
func flood(w *world, n int) {
	w.Helper()
	for range n {
		_, err := w.srv.SendEventTo(w.receiver.URL, testSecret(w.test), []byte(`{"event":"Email.Opened","data":{}}`))
		w.check(err)
	}
	w.settle()
}
