package control

import (
	"bytes"
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// listing describes a list of records of type V. In responses, the records have
// type T.
type listing[V, T any] struct {
	find    func(*request) (n int, newest iter.Seq[V], err error)
	id      func(V) string
	text    func(to []byte, v V) []byte // appends the text to search
	record  func(V) T
	filters []filter[V]
}

// listRoute returns a route that responds with a page of a list.
func listRoute[V, T any](pattern string, l listing[V, T]) route {
	return handle(pattern, noInput(l.page), l.params()...)
}

// every returns a source of records for a listing. The function f returns the number of records, or 0 if it
// is unknown, and the records, newest first.
func every[V any](f func() (n int, newest iter.Seq[V])) func(*request) (int, iter.Seq[V], error) {
	return func(*request) (int, iter.Seq[V], error) {
		n, newest := f()
		return n, newest, nil
	}
}

// everyOf returns a source of records for a listing. The function f returns
// a slice of all records, newest first.
func everyOf[V any](f func() []V) func(*request) (int, iter.Seq[V], error) {
	return every(func() (int, iter.Seq[V]) {
		newest := f()
		return len(newest), slices.Values(newest)
	})
}

// filter is a parameter that selects records.
type filter[V any] struct {
	param
	allows func(want string, v V) bool
}

// where returns a filter that compares the parameter with of(record), ignoring case.
func where[V any](p param, of func(V) string) filter[V] {
	return filter[V]{p, func(want string, v V) bool { return strings.EqualFold(want, of(v)) }}
}

// whereID returns a filter that compares the parameter with an integer from
// each record.
func whereID[V any](p param, of func(V) int64) filter[V] {
	return where(p, func(v V) string { return strconv.FormatInt(of(v), 10) })
}

// whereAccount returns a filter that selects the records of an account, and all records without an account.
// Requests without a known token and deliveries to a URL without a webhook have no account.
func whereAccount[V any](doc string, of func(V) int64) filter[V] {
	f := whereID(ofAccount(doc), of)
	return filter[V]{f.param, func(want string, v V) bool { return of(v) == 0 || f.allows(want, v) }}
}

// listParams returns the parameters that every list accepts.
func listParams() []param {
	return []param{
		text("search", "words, separated by spaces; a record matches if it contains all words, ignoring case and the form of accents"),
		number("limit", "the maximum number of records", 1, 1000, "200"),
		number("offset", "the number of records to skip", 0, 1<<53, "0"),
		text("around", "the id of a record; the list contains the records around it, or the newest records if the id is unknown; overrides `offset`"),
		text("before", "the id of a record; the list contains only older records"),
	}
}

func (l listing[V, T]) params() (out []param) {
	for _, f := range l.filters {
		out = append(out, f.param)
	}
	return append(out, listParams()...)
}

// selectors returns the parameters that select records for an action, a file or a wait: the filters and the search.
func (l listing[V, T]) selectors() []param { return l.params()[:len(l.filters)+1] }

// selected yields the records that a request selects, newest first.
func (l listing[V, T]) selected(r *request) iter.Seq[V] {
	return func(yield func(V) bool) {
		_, all, _ := l.find(r) // only the contacts of an unknown list are an error
		s := l.search(r.query)
		for v := range until(r.Context(), all) {
			if s.matches(v) && !yield(v) {
				return
			}
		}
	}
}

// search contains the filters and search terms of a list request.
type search[V, T any] struct {
	query
	list   listing[V, T] // only with the filters that the request sets
	words  [][]byte      // folded
	buffer []byte        // reused for the text of each record
}

func (l listing[V, T]) search(q query) *search[V, T] {
	l.filters = slices.DeleteFunc(slices.Clone(l.filters), func(f filter[V]) bool { return q[f.name] == "" })
	return &search[V, T]{query: q, list: l, words: bytes.Fields(folded([]byte(q["search"])))}
}

// matches reports whether a record matches the filters and contains the search
// terms.
func (s *search[V, T]) matches(v V) bool {
	for _, f := range s.list.filters {
		if !f.allows(s.query[f.name], v) {
			return false
		}
	}
	if len(s.words) == 0 {
		return true
	}
	s.buffer = folded(s.list.text(s.buffer[:0], v))
	return !slices.ContainsFunc(s.words, func(word []byte) bool { return !bytes.Contains(s.buffer, word) })
}

// lines appends strings to a buffer, one per line. A search over the buffer cannot match across two
// strings, because a search term contains no line break.
func lines(to []byte, texts ...string) []byte {
	for _, text := range texts {
		to = append(append(to, text...), '\n')
	}
	return to
}

// folded returns text without differences in case and in the form of accents (NFC). It also replaces
// the forms of sigma with one form. If text is ASCII, folded changes it in place.
func folded(text []byte) []byte {
	for i, c := range text {
		if c >= utf8.RuneSelf {
			return norm.NFC.Bytes(cases.Fold().Bytes(text))
		}
		if 'A' <= c && c <= 'Z' {
			text[i] = c + 'a' - 'A'
		}
	}
	return text
}

type recordList[T any] struct {
	Data    []T  `json:"data" doc:"the records, newest first"`
	Total   int  `json:"total" doc:"the number of matching records"`
	Offset  int  `json:"offset" doc:"the number of newer records before the first record of data; total if data is empty"`
	HasMore bool `json:"has_more" doc:"whether older records follow"`

	ids []string // ids of the records in data
}

// page returns the page of records that a request selects. It reads later records only to count them, so if
// their number is known and the request has no filters, it stops after the page.
func (l listing[V, T]) page(r *request) (out recordList[T], err error) {
	n, all, err := l.find(r)
	if err != nil {
		return out, err
	}
	all = until(r.Context(), all)
	out.Data = []T{}
	s := l.search(r.query)
	before, skip := s.query["before"], s.offset(all)
	older := before == ""
	for v := range all {
		if s.matches(v) {
			switch {
			case !older || skip > 0:
				out.Offset++
				if older {
					skip--
				}
			case len(out.Data) < s.number("limit"):
				out.Data, out.ids = append(out.Data, l.record(v)), append(out.ids, l.id(v))
			default:
				out.HasMore = true
				if n > 0 && len(s.list.filters) == 0 && len(s.words) == 0 {
					out.Total = n
					return out, nil
				}
			}
			out.Total++
		}
		older = older || l.id(v) == before
	}
	return out, r.Context().Err()
}

// until stops an iterator at the end of a context, because a search reads each record.
func until[V any](ctx context.Context, all iter.Seq[V]) iter.Seq[V] {
	return func(yield func(V) bool) {
		for v := range all {
			if ctx.Err() != nil || !yield(v) {
				return
			}
		}
	}
}

// offset returns the number of records to skip. If the query parameter "around"
// contains an id, the record with this id is in the middle of the page.
func (s *search[V, T]) offset(all iter.Seq[V]) int {
	around, before, newer := s.query["around"], s.query["before"], 0
	if around == "" {
		return s.number("offset")
	}
	older := before == ""
	for v := range all {
		if older && s.matches(v) {
			if s.list.id(v) == around {
				return max(0, newer-s.number("limit")/2)
			}
			newer++
		}
		older = older || s.list.id(v) == before
	}
	return 0
}
