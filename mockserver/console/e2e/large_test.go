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

// seedManyRecords creates a list with many contacts, a campaign to another list, and five webhooks that get an event for each
// opened message.
func (f *fixture) seedManyRecords() {
	f.Helper()
	for i := range manyDeliveries / manyMessages {
		f.subscribe(fmt.Sprintf("/hooks/%d", i), "Email.Opened")
	}
	f.check(f.srv.Seed(strings.NewReader(fmt.Sprintf(`{
		"lists":[{"list_id":1001,"name":"Many","contacts":[%s]}, {"list_id":900000,"name":"Readers","policy_accepted":true,"contacts":[%s]}],
		"campaigns":[{"campaign_id":999999,"name":"Autumn","list_id":900000,"sender":{"email":"hello@harbour.example"},"content":{"subject":"Hi","text":"Hi"}}]
	}`, contactsJSON("user", manyContacts), contactsJSON("reader", manyMessages)))))
	_, err := f.sdk.Campaigns.Send(f.Context(), 999999)
	f.check(err)
	f.settle()
	for _, m := range f.srv.Outbox() {
		f.check(f.srv.Open(m.ID))
	}
	f.settle()
}

// contactsJSON returns the contacts of a seed.
func contactsJSON(name string, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf(`{"email":"%s%d@example.org"}`, name, i)
	}
	return strings.Join(all, ",")
}

// TestLarge opens views with very long lists.
func TestLarge(t *testing.T) {
	f := newFixture(t)
	f.seedManyRecords()
	t.Run("the first row", f.firstRow)
	t.Run("all rows loaded", f.allRows)
	t.Run("a jump", f.scrollToUnloadedRows)
	t.Run("a link to a delivery", f.deepLink)
	t.Run("contacts", f.manyContacts)
	t.Run("a list that changes", f.changingList)
}

// firstRow opens each view in a new page. It checks that the first row appears after only a part of the records was
// loaded.
func (f *fixture) firstRow(t *testing.T) {
	for _, place := range []string{"deliveries", "contacts"} {
		p := open(t, f.srv.URL(), "#/"+place, desktop)
		p.until(`document.querySelector('.rows a')`)
		bytes := eval[int](p, `performance.getEntriesByType('resource').filter(e => e.initiatorType === 'fetch').reduce((sum, e) => sum + e.decodedBodySize, 0)`)
		if bytes == 0 || bytes > mostBytes {
			t.Errorf("%s: %d bytes are loaded for the first row, want at most %d", place, bytes, mostBytes)
		}
	}
}

// allRows scrolls to the end and checks the number of nodes and the memory.
func (f *fixture) allRows(t *testing.T) {
	p := open(t, f.srv.URL(), "#/deliveries", desktop)
	p.says(".count", "10,000")
	for top := 0; top < manyDeliveries*rowHeight; top += 75 * rowHeight {
		p.scroll(fmt.Sprint(top))
	}
	p.says(".rows li:last-of-type", "reader")
	p.withinLimits("with all rows loaded")
	p.scroll(`box.scrollHeight / 2`)
	for range 30 {
		if added := eval[int](p, `pressJ()`); added > mostAdded {
			t.Errorf("a keystroke adds %d elements, want at most %d", added, mostAdded)
		}
	}
	p.withinLimits("after some keys")
	p.until(`document.querySelectorAll('.rows a').length >= 10 && document.querySelectorAll('.rows a').length <= 100`)
}

// scrollToUnloadedRows scrolls to rows that are not loaded yet.
func (f *fixture) scrollToUnloadedRows(t *testing.T) {
	p := open(t, f.srv.URL(), "#/inbox", desktop)
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

// withinLimits fails if the page has too many nodes or uses too much memory.
func (p *page) withinLimits(when string) {
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
func (f *fixture) deepLink(t *testing.T) {
	old := f.srv.Deliveries()[manyDeliveries/4]
	p := open(t, f.srv.URL(), "#/deliveries/"+old.ID, desktop)
	p.until(`selectedInView()`)
	p.says(".rows a[aria-current=true]", old.Recipient)
	at := eval[float64](p, `document.querySelector('.rows a[aria-current=true]').getBoundingClientRect().top`)
	before := p.text(".count")
	f.opens(f.srv.Outbox()[0].ID)
	p.until(fmt.Sprintf(`document.querySelector('.count').textContent !== %q`, before))
	p.equal(eval[float64](p, `document.querySelector('.rows a[aria-current=true]').getBoundingClientRect().top`), at)
	p.press("k").until(fmt.Sprintf(`!location.hash.includes(%q)`, old.ID))
	p.until(`selectedInView()`)
	p.press("j").until(fmt.Sprintf(`location.hash.includes(%q)`, old.ID))
	p.scroll("0")
	p.press("j") // from the selected row, not from the visible rows
	p.until(`selectedInView()`)
	small := open(t, f.srv.URL(), "#/deliveries/"+old.ID, phone)
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
func (f *fixture) manyContacts(t *testing.T) {
	found, err := f.sdk.Contacts.Find(t.Context(), 1001, "user31234@example.org")
	f.check(err)
	p := open(t, f.srv.URL(), fmt.Sprintf("#/contacts/1001/%d", found.ID), desktop)
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

// changingList searches while events arrive.
func (f *fixture) changingList(t *testing.T) {
	p := open(t, f.srv.URL(), "#/deliveries", desktop)
	p.fill("#filter", "nothing like it").says(".list", "No matches")
	p.fill("#filter", "opened")
	total := eval[string](p, `new Promise(done => setTimeout(() => done(document.querySelector('.count').textContent), 600))`)
	sendEvents(f, 500)
	p.until(fmt.Sprintf(`document.querySelector('.count').textContent !== %q`, total))
	p.says(".count", "10,50")
	p.fill("#filter", "")
	p.press(kb.Escape+"p").says(".live", "Paused")
	sendEvents(f, 500) // more pending rows than a page
	p.says(".live", "held")
	p.scroll(`box.scrollHeight`)
	p.scroll(`box.scrollHeight / 3`)
	p.press("p").says(".count", "11,00")
	p.scroll(`box.scrollHeight / 3`)
	p.scroll("0")
	p.until(`document.querySelectorAll('.rows a').length === new Set([...document.querySelectorAll('.rows a')].map(a => a.hash)).size`) // no duplicates
}

// sendEvents sends events in a burst.
func sendEvents(f *fixture, n int) {
	f.Helper()
	for range n {
		_, err := f.srv.SendEventTo(f.receiver.URL, testSecret(f.test), []byte(`{"event":"Email.Opened","data":{}}`))
		f.check(err)
	}
	f.settle()
}
