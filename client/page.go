package client

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"example.com/emailplatform/internal/json/jsonscan"
)

// maxPerPage is the maximum number of items on a page (docs/decisions.md, 4).
const maxPerPage = 100

// IterOption configures an iterator over a list.
type IterOption func(*iterOptions)

// Prefetch sets the number of pages that an iterator requests in advance. With n prefetched
// pages, an iteration can be n+1 times as fast. However, it stores up to n+1 pages in memory,
// and may send up to n unnecessary requests at the end. The default is 0. Prefetching starts
// after the first page.
//
// The iterator requests several pages at once, and the platform may handle these requests in
// any order. For example, it may handle the request for page 3 before the request for page 2.
// If an item is added at the beginning of the list between these two requests, the last item
// of page 2 moves to page 3, so the iteration misses the moved item. Therefore, the iterator
// requests the first page again at the end. If items were added, the iteration ends with
// [ErrListChanged].
//
// If the Sort parameter is set, Prefetch has no effect. With Sort, items may be added on any
// page, and the iterator would not detect this.
func Prefetch(n int) IterOption { return func(o *iterOptions) { o.lookahead = max(n, 0) } }

type iterOptions struct {
	first     int64 // number of the first page
	lookahead int
	optional  []string // parameters to omit if the platform may have refused them
	named     []string // parameters to omit only if the error of the platform names them
}

type pager[T listItem] interface {
	items() ([]T, Pagination)
}

// listItem is an item of a list. Two items with the same id are the same item, because other
// fields may change at any time.
type listItem interface{ id() any }

func (t Template) id() any        { return t.ID }
func (l List) id() any            { return l.ID }
func (c Contact) id() any         { return c.ID }
func (t Tag) id() any             { return t.Name }
func (c Campaign) id() any        { return c.ID }
func (w Workflow) id() any        { return w.ID }
func (e SuppressedEmail) id() any { return e.Email }
func (w WebhookSummary) id() any  { return w.ID }

// paginate iterates over all items. The parameter list is the request for the
// first page. Each range loop requests the pages again.
//
// If the caller set no page size, paginate requests the maximum. If the list has no pages in
// the specification, paginate requests no page size.
func paginate[P pager[T], T listItem](
	ctx context.Context, h handler, read func(*jsonscan.Cursor) P, list request, opts []IterOption,
) iter.Seq2[T, error] {
	o := iterOptions{first: max(list.page, 1), optional: []string{"with_count"}}
	if o.first == 1 { // otherwise, another page size would change the first item
		o.optional = []string{"per_page", "with_count"} // a count is more useful than a page size
	}
	for _, option := range opts {
		if option != nil {
			option(&o)
		}
	}
	if strings.Contains("&"+list.query, "&sort=") {
		o.lookahead = 0 // an item may be added anywhere, which checkStart does not detect
	}
	if !list.unpaged {
		list.addQueryDefault("per_page", strconv.Itoa(maxPerPage))
	}
	return func(yield func(T, error) bool) {
		if ctx == nil {
			var zero T
			yield(zero, newBadRequest(list, errNilContext))
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		i := &iteration[P, T]{options: o, list: list, checker: pageChecker[T]{skipped: o.first - 1}}
		i.prefetch = prefetch[P]{next: o.first, get: func(n int64) (P, error) { return i.request(ctx, h, read, n) }}
		defer i.prefetch.end()
		defer cancel()
		i.run(yield)
	}
}

// iteration is the state of one range loop.
type iteration[P pager[T], T listItem] struct {
	options  iterOptions
	list     request // without the optional parameters that the platform refused
	paged    bool    // whether an unpaged list may have pages nevertheless
	prefetch prefetch[P]
	checker  pageChecker[T]
}

// run yields all items, and then the error, if there is one.
func (i *iteration[P, T]) run(yield func(T, error) bool) {
	for n, last := i.options.first, false; !last; n++ {
		var items []T
		var err error
		items, last, err = i.page(n)
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
		if last && err == nil {
			err = i.checkStart(n)
		}
		if err != nil {
			var zero T
			yield(zero, asPageError(i.list, err))
			return
		}
	}
}

// request requests page n. It may run on another goroutine than the method run.
func (i *iteration[P, T]) request(ctx context.Context, h handler, read func(*jsonscan.Cursor) P, n int64) (P, error) {
	r := i.list
	if r.page = n; n == 1 && r.unpaged {
		r.page = 0
	}
	return callJSON(ctx, h, r, func(c *jsonscan.Cursor) P {
		if r.unpaged && n == i.options.first { // run waits for the first page
			i.paged = mayHavePages(*c)
		}
		return read(c)
	})
}

// page returns the items of page n, and reports whether the iteration ends.
func (i *iteration[P, T]) page(n int64) (_ []T, last bool, _ error) {
	f := i.prefetch.nextPage()
	for n == i.options.first && i.list.dropRefused(f.err, i.options.optional, i.options.named) {
		f.page, f.err = i.prefetch.get(n)
	}
	if end, err := i.isAfterLast(n, &f); end || err != nil {
		return nil, end, err
	}
	items, p := f.page.items()
	i.checker.shrinks(f.counted, p.Count)
	items, last, err := i.checker.step(n, items, p, f.err)
	i.prefetch.counted = max(i.prefetch.counted, p.Count)
	if i.prefetch.depth = i.options.lookahead; i.checker.short {
		i.prefetch.depth = 0 // this page should not exist
	}
	return items, last || err == nil && i.list.unpaged && !i.paged, err
}

// mayHavePages reports whether a response contains anything but items, because other fields
// may belong to another form of pagination.
func mayHavePages(c jsonscan.Cursor) (more bool) {
	for name := range c.Members() {
		null := c.Peek() == 'n'
		c.Skip()
		more = more || name != "data" && !null
	}
	return more
}

// isAfterLast reports whether f, the response to the request for page n, shows that the
// previous page was the last page. Most platforms return an empty page after the last page;
// isLast detects this. Other platforms refuse the request, or return the last or the first
// page again; isAfterLast detects these.
func (i *iteration[P, T]) isAfterLast(n int64, f *fetched[P]) (bool, error) {
	items, _ := f.page.items()
	c, refused := &i.checker, isRejection(f.err)
	repeated := f.err == nil && len(items) > 0 && (same(items, c.previous) || same(items, c.first))
	switch {
	case c.previous == nil, !refused && !repeated:
		return false, nil
	case c.allSeen(), refused && c.empty:
		return true, c.atEnd()
	case c.empty, refused && c.count > 0:
		return false, nil // items are missing
	case refused && !errors.Is(f.err, ErrNotFound) && c.isDeep():
		return false, nil // the platform may refuse pages that contain further items
	}
	return i.confirmEnd(n, f)
}

// confirmEnd reports whether the page before page n was the last page. The response f suggests
// that it was the last page, because f refuses page n or repeats an earlier page. However, a
// proxy may have refused the request, or items may have been added at the beginning of the
// list. Therefore, confirmEnd sends two more requests:
//
//   - First, it requests the previous page again. If this page has changed, confirmEnd returns
//     [ErrListChanged].
//   - If page n was refused, it requests page n again. If the platform accepts it now, the
//     previous page was not the last.
//   - If page n repeated an earlier page, it requests page n+1. After the last page, a platform
//     refuses this page, or returns no items or the items of page n. If page n+1 contains
//     other items, the previous page was not the last.
func (i *iteration[P, T]) confirmEnd(n int64, f *fetched[P]) (bool, error) {
	before, err := i.prefetch.get(n - 1)
	if err != nil {
		return false, err
	}
	if again, _ := before.items(); !same(again, i.checker.previous) {
		return false, fmt.Errorf("%w: page %d contains other items than before", ErrListChanged, n-1)
	}
	if f.err != nil {
		f.page, f.err = i.prefetch.get(n)
		if !isRejection(f.err) {
			return false, nil
		}
		return true, i.checker.atEnd()
	}
	items, _ := f.page.items()
	next, err := i.prefetch.get(n + 1)
	if after, _ := next.items(); err != nil && !isRejection(err) || len(after) > 0 && !same(after, items) {
		return false, err // step reports the repeated page
	}
	return true, i.checker.atEnd()
}

// isRejection reports whether the platform may have refused a request because of a parameter.
func isRejection(err error) bool {
	e, ok := topLevelError(err)
	return ok && e.StatusCode >= 400 && (e.Is(ErrNotFound) || e.Is(ErrValidation))
}

// checkStart returns an error if items were added in front of the list. In this case, an item
// may be missing, because it may have moved to the next page after the platform had already
// returned that page.
func (i *iteration[P, T]) checkStart(n int64) error {
	if i.options.lookahead == 0 || n <= i.options.first+1 {
		return nil
	}
	page, err := i.prefetch.get(i.options.first)
	if items, _ := page.items(); err == nil && (len(items) == 0 || !same(items[:1], i.checker.first[:1])) {
		err = fmt.Errorf("%w: page %d begins with another item, so some items may be missing", ErrListChanged, i.options.first)
	}
	return err
}

// asPageError returns err as an [*Error] if the list is inconsistent or has
// changed.
func asPageError(r request, err error) error {
	if e, ok := topLevelError(err); ok {
		return e
	}
	e := newErrorAfterSuccess(r, err)
	if !errors.Is(err, ErrListChanged) {
		e.result = unreadable
	}
	return e
}

// find returns the first item that the function is() accepts. Errors contain the argument
// name, which is the searched text, and the argument what, which describes the field, for
// example "email".
func find[P pager[T], T listItem](
	ctx context.Context, h handler, read func(*jsonscan.Cursor) P, list request, what, name string, is func(T) bool,
) (found T, err error) {
	if name == "" {
		return found, newBadRequest(list, fmt.Errorf("%s must not be empty", what))
	}
	if !utf8.ValidString(name) {
		return found, newBadRequest(list, fmt.Errorf("%s must be valid UTF-8", what))
	}
	byFilter := func(o *iterOptions) { o.named = []string{"filter"} } // is also compares
	for item, err := range paginate(ctx, h, read, list, []IterOption{byFilter}) {
		if err != nil {
			return found, err
		}
		if is(item) {
			return item, nil
		}
	}
	return found, newErrorAfterSuccess(list, fmt.Errorf("the %s %.200q: %w", what, name, ErrNotFound))
}
