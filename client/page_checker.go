package client

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// pageChecker decides after each page whether the iteration continues, and detects
// lists that repeat items or end too early.
type pageChecker[T listItem] struct {
	first      []T // the first non-empty page
	previous   []T // the last non-empty page
	loopMarker []T // an earlier page, to detect a loop
	age        int // pages since loopMarker
	reach      int // age at which loopMarker is replaced; doubles each time

	skipped  int64 // pages before the first one
	pages    int
	seen     int   // items
	largest  int   // items on the fullest page
	pageSize int64 // the largest page size in a response
	count    int64 // items on all pages, from the last response with a count
	changed  error // an ErrListChanged, or nil
	empty    bool  // whether the previous page was empty
	short    bool  // whether the previous page was short and there is no count
}

// step checks page n, or the error from its request. It returns the items to yield, and
// whether the iteration ends.
func (c *pageChecker[T]) step(n int64, items []T, p Pagination, err error) (_ []T, last bool, _ error) {
	if err == nil {
		err = c.check(n, items, p)
	}
	if err != nil {
		return nil, false, err
	}
	if !c.isLast(items, p) {
		return items, false, nil
	}
	return items, true, c.atEnd()
}

// check returns an error if page n contradicts the earlier pages, because the iteration could
// then repeat items, omit items or never end.
func (c *pageChecker[T]) check(n int64, items []T, p Pagination) error {
	if len(items) == 0 {
		return nil
	}
	if p.Page != 0 && p.Page != n {
		return fmt.Errorf("requested page %d, got page %d", n, p.Page)
	}
	if same(items, c.previous) || same(items, c.loopMarker) {
		return fmt.Errorf("%w: page %d contains the same items as an earlier page", ErrListChanged, n) // items were added in front
	}
	c.previous = items
	if c.first == nil {
		c.first = items
	}
	if c.age++; c.age > c.reach {
		c.loopMarker, c.age, c.reach = items, 0, 2*c.reach+1
	}
	return nil
}

// isLast reports whether a page is the last page, depending on its number of items:
//
//   - For a full page, isLast returns false, so the iterator requests the next page.
//   - A short page has fewer items than a full page. It is the last page if the iteration
//     has now seen the total number of items. If the platform does not report this number,
//     other pages may follow.
//   - An empty page is the last page if it is the first page, if it follows a short or
//     empty page, or if the iteration has seen the total number of items. Otherwise, other
//     pages may follow, because a platform may filter the items of a page.
func (c *pageChecker[T]) isLast(items []T, p Pagination) bool {
	c.pages++
	c.seen += len(items)
	c.largest = max(c.largest, len(items))
	c.pageSize = max(c.pageSize, p.PerPage)
	c.count = cmp.Or(p.Count, c.count)
	if len(items) == 0 {
		last := c.empty || c.pages == 1 || c.short || c.allSeen()
		c.empty = true
		return last
	}
	c.empty, c.short = false, false
	full := p.PerPage
	if full <= 0 { // without a page size in the response, the largest page so far
		full = int64(c.largest)
	}
	if int64(len(items)) >= full {
		return false
	}
	if c.count > 0 {
		return c.allSeen()
	}
	c.short = true
	return false
}

// shrinks records an error if the total number of items has decreased since the page was
// requested, because a removal may have moved other items to an earlier page.
func (c *pageChecker[T]) shrinks(before, count int64) {
	if count > 0 && count < before && c.changed == nil {
		c.changed = fmt.Errorf("%w: the count fell from %d to %d, so some items may be missing", ErrListChanged, before, count)
	}
}

func (c *pageChecker[T]) allSeen() bool {
	return c.count > 0 && c.before(int64(c.largest))+int64(c.seen) >= c.count
}

// atEnd returns an error if items are missing after the last page.
func (c *pageChecker[T]) atEnd() error {
	if c.changed != nil {
		return c.changed
	}
	if c.skipped > 0 && c.pageSize == 0 {
		return nil // the number of items on the skipped pages is unknown
	}
	if most := c.before(max(int64(c.largest), c.pageSize)) + int64(c.seen); most < c.count {
		return fmt.Errorf("the pages contained only %d of %d items", most, c.count)
	}
	return nil
}

// before returns the number of items on the skipped pages, assuming perPage
// items on each page.
func (c *pageChecker[T]) before(perPage int64) int64 {
	return min(c.skipped, math.MaxInt64/2/max(perPage, 1)) * perPage // the limit prevents an overflow
}

// same reports whether two pages contain the same items.
func same[T listItem](a, b []T) bool {
	return slices.EqualFunc(a, b, func(x, y T) bool { return x.id() == y.id() })
}

// Every platform returns at least the first minDepth items of a list. After these items, a
// platform may refuse further pages, for example because it returns only the first 10,000
// items. Therefore, after these items, only a 404 shows that the list has ended. Any other
// error can mean that the platform refuses the page.
const minDepth = 1000

// isDeep reports whether the platform may refuse further pages because of their depth. If
// the previous page has fewer items than an earlier page, it is the last page, so depth is
// not the reason.
func (c *pageChecker[T]) isDeep() bool { return c.seen >= minDepth && len(c.previous) == c.largest }
