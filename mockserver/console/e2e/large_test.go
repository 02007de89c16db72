package e2e

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"example.com/emailplatform/client"
	"example.com/emailplatform/webhook"
)

const (
	manyContacts   = 50_000
	manyMessages   = 2_000
	manyDeliveries = 5 * manyMessages

	mostNodes = 5_000
	mostHeap  = 30 << 20 // bytes, after garbage collection
	mostBytes = 400_000  // of the responses before the first row
	mostAdded = 300      // elements for one key
)

// enlarge creates a list with many contacts, a campaign to other contacts, and five webhooks that get an event for
// each opened message. It returns the id of the list with many contacts.
func (w *world) enlarge() int64 {
	w.Helper()
	for i := range manyDeliveries / manyMessages {
		w.subscribe(fmt.Sprintf("/hooks/%d", i), "Email.Opened")
	}
	w.check(w.srv.Seed(strings.NewReader(fmt.Sprintf(`{"lists":[
		{"name":"Many","policy_accepted":true,"contacts":[%s]},
		{"name":"Readers","policy_accepted":true,"contacts":[%s]}]}`, people("user", manyContacts), people("reader", manyMessages)))))
	lists, err := w.sdk.Lists.List(w.Context(), client.ListListsParams{})
	w.check(err)
	w.campaign(lists.Data[1].ID)
	for _, m := range w.srv.Outbox() {
		w.check(w.srv.Open(m.ID))
	}
	w.settle()
	return lists.Data[0].ID
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
	many := w.enlarge()
	t.Run("the first row", w.firstRow)
	t.Run("all rows loaded", w.allRows)
	t.Run("a jump", w.jump)
	t.Run("a link to a delivery", w.deepLink)
	t.Run("a link to a contact", func(t *testing.T) { w.linkedContact(t, many) })
	t.Run("part of an address", func(t *testing.T) { w.partOfAddress(t, many) })
	t.Run("a list that changes", w.changing)
}

// firstRow opens each view in a new page. The first row needs only a part of the records.
func (w *world) firstRow(t *testing.T) {
	for _, place := range []string{"deliveries", "contacts"} {
		p := open(t, w.srv.URL(), "#/"+place, desk)
		p.until(`document.querySelector('.rows a')`)
		bytes := eval[int](p, `performance.getEntriesByType('resource').filter(e => e.initiatorType === 'fetch').reduce((sum, e) => sum + e.decodedBodySize, 0)`)
		t.Logf("%s: %d bytes and %.0f ms until the first row", place, bytes, eval[float64](p, `performance.now()`))
		if bytes == 0 || bytes > mostBytes {
			t.Errorf("%s: %d bytes are loaded for the first row, want at most %d", place, bytes, mostBytes)
		}
	}
}

// allRows scrolls to the end and checks the number of nodes and the memory.
func (w *world) allRows(t *testing.T) {
	p := open(t, w.srv.URL(), "#/deliveries", desk)
	p.says(".count", "10,000")
	p.scrollThrough()
	p.says(".rows li:last-of-type", "reader")
	p.light("with all rows loaded")
	p.scroll(`box.scrollHeight / 2`)
	p.keys()
	p.light("after some keys")
	if n := eval[int](p, `document.querySelectorAll('.rows a').length`); n < 10 || n > 100 {
		t.Errorf("%d rows are drawn", n)
	}
}

// jump scrolls to rows that are not loaded yet.
func (w *world) jump(t *testing.T) {
	p := open(t, w.srv.URL(), "#/inbox", desk)
	p.says(".count", "2,000")
	p.do(focus(".rows li:nth-child(3) a"))
	p.scroll("1000 * 80")
	if !eval[bool](p, `document.activeElement.closest('li')?.ariaPosInSet === '3'`) {
		t.Error("what had the focus is gone")
	}
	if n := eval[int](p, `firstInView()`); n != 1001 {
		t.Errorf("row %d is the first that is seen, want 1001", n)
	}
	p.scroll(`box.scrollHeight`)
	p.says(".rows li:last-of-type", "reader0@example.org")
	eval[bool](p, `document.activeElement.blur(), true`)
	p.scroll("500 * 80") // upwards
	if n := eval[int](p, `firstInView()`); n != 501 {
		t.Errorf("row %d is the first that is seen, want 501", n)
	}
	p.press("j")
	p.until(`document.querySelector('.rows a[aria-current]')?.closest('li').ariaPosInSet === '501'`)
}

// scroll scrolls the list and waits until the visible rows are loaded.
func (p *page) scroll(top string) {
	p.Helper()
	p.until(`scrollRows(box => ` + top + `)`)
}

// scrollThrough scrolls by pages from the beginning to the end.
func (p *page) scrollThrough() {
	p.Helper()
	height := eval[int](p, `document.querySelector('.rows').scrollHeight`)
	for top := 0; top < height; top += 6000 {
		p.scroll(fmt.Sprint(top))
	}
	p.scroll(`box.scrollHeight`)
}

// light fails if the page has too many nodes or uses too much memory.
func (p *page) light(when string) {
	p.Helper()
	nodes := eval[int](p, `document.querySelectorAll('*').length`)
	_, err := chromedp.Call(p.ctx, heapprofiler.CollectGarbage, struct{}{})
	if err != nil {
		p.Fatal(err)
	}
	heap, err := chromedp.Call(p.ctx, runtime.GetHeapUsage, struct{}{})
	if err != nil {
		p.Fatal(err)
	}
	p.Logf("%s: %d nodes, %.1f MB", when, nodes, heap.UsedSize/1e6)
	if nodes > mostNodes || heap.UsedSize > mostHeap {
		p.Errorf("%s: %d nodes, want %d; %.1f MB, want %.1f", when, nodes, mostNodes, heap.UsedSize/1e6, float64(mostHeap)/1e6)
	}
}

// keys presses a key many times. Each time, the page changes only a part of its elements.
func (p *page) keys() {
	p.Helper()
	var longest, most float64
	for range 30 {
		took := eval[[]float64](p, `pressJ()`)
		longest, most = max(longest, took[0]), max(most, took[1])
	}
	p.Logf("a key takes at most %.0f ms and adds at most %.0f elements", longest, most)
	if most > mostAdded {
		p.Errorf("a key adds %.0f elements, want at most %d", most, mostAdded)
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
	w.check(w.srv.Open(w.srv.Outbox()[0].ID))
	w.settle()
	p.until(fmt.Sprintf(`document.querySelector('.count').textContent !== %q`, before))
	if now := eval[float64](p, `document.querySelector('.rows a[aria-current=true]').getBoundingClientRect().top`); now != at {
		t.Errorf("what is read moved from %v to %v", at, now)
	}
	p.press("k")
	p.until(fmt.Sprintf(`!location.hash.includes(%q)`, old.ID))
	p.until(`selectedInView()`)
	p.press("j")
	p.until(fmt.Sprintf(`location.hash.includes(%q)`, old.ID))
	p.scroll("0")
	p.press("j") // from the selected row, not from the visible rows
	p.until(`selectedInView()`)
	small := open(t, w.srv.URL(), "#/deliveries/"+old.ID, phone)
	small.says(".detail h2", "Email.Opened")
	small.until(`document.querySelector('.rows a[aria-current=true]')`)
	small.click(".back a", "Deliveries")
	small.until(`document.activeElement.matches('.rows a') && document.activeElement.hash.includes("` + old.ID + `")`)
}

// linkedContact opens a contact far down the list.
func (w *world) linkedContact(t *testing.T, list int64) {
	found, err := w.sdk.Contacts.List(t.Context(), list, client.ListContactsParams{Filter: "email:user31234@example.org"})
	w.check(err)
	p := open(t, w.srv.URL(), fmt.Sprintf("#/contacts/%d/%d", list, found.Data[0].ID), desk)
	p.until(`selectedInView()`)
	p.says(".rows a[aria-current=true]", "user31234@example.org")
	p.until(`document.querySelector('.pager input').value === '625'`)
}

// partOfAddress finds contacts by a part of their addresses, and jumps to a page.
func (w *world) partOfAddress(t *testing.T, list int64) {
	p := open(t, w.srv.URL(), fmt.Sprintf("#/contacts/%d", list), desk)
	p.says(".count", "50,000")
	p.fill("#filter", "user24")
	p.says(".count", "1,111") // 24, 240 to 249, 2400 to 2499, 24000 to 24999
	p.says(".pager", "Only the latest 200 contacts")
	p.fill("#filter", "")
	p.says(".count", "50,000")
	p.fill(".pager input", "777\r")
	p.says(".rows", "user38800@example.org")
	p.reload()
	p.says(".rows", "user38800@example.org")
	p.goTo(fmt.Sprintf("#/contacts/%d?q=%s", list, url.QueryEscape("user49999@")))
	p.rows(1)
}

// changing searches while events arrive.
func (w *world) changing(t *testing.T) {
	p := open(t, w.srv.URL(), "#/deliveries", desk)
	p.fill("#filter", "nothing like it")
	p.says(".list", "No matches")
	p.fill("#filter", "opened")
	total := eval[string](p, `new Promise(done => setTimeout(() => done(document.querySelector('.count').textContent), 600))`)
	flood(w, 500)
	p.until(fmt.Sprintf(`document.querySelector('.count').textContent !== %q`, total))
	p.says(".count", "10,50")
	p.fill("#filter", "")
	p.press(kb.Escape + "p")
	p.says(".live", "Paused")
	flood(w, 500) // more pending rows than a page
	p.says(".live", "held")
	p.scroll(`box.scrollHeight`)
	p.scroll(`box.scrollHeight / 3`)
	p.press("p")
	p.says(".count", "11,00")
	p.scroll(`box.scrollHeight / 3`)
	p.scroll("0")
	if n := eval[int](p, `document.querySelectorAll('.rows a').length - new Set([...document.querySelectorAll('.rows a')].map(a => a.hash)).size`); n != 0 {
		t.Errorf("%d rows are there twice", n)
	}
}

// flood sends events in a burst.
func flood(w *world, n int) {
	w.Helper()
	secret, err := webhook.ParseSecret("s", "")
	w.check(err)
	for range n {
		_, err := w.srv.SendEventTo(w.receiver.URL, secret, []byte(`{"event":"Email.Opened","data":{}}`))
		w.check(err)
	}
	w.settle()
}
