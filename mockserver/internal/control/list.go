package control

import (
	"bytes"
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	defaultLimit = 200
	maxLimit     = 1000
)

// filters adds the given filters and the common list parameters to the route.
func (rt route) filters(own ...param) route {
	return rt.params(append(own,
		text("search", "words, separated by spaces; a record matches if it contains all words, ignoring case"),
		number("limit", "the maximum number of records", 1, maxLimit, defaultLimit),
		number("offset", "the number of records to skip", 0, 1<<53, 0),
		text("around", "the id of a record; the list contains the records around it, or the newest records if the id is unknown; overrides `offset`"),
		text("before", "the id of a record; the list contains only older records"))...)
}

type listQuery struct {
	query
	words    [][]byte // search words, in lower case
	text     []byte   // reused buffer for the text of a record
	filtered bool     // whether a filter is set
}

func listQueryOf(r *request) listQuery {
	q := listQuery{query: r.query, words: bytes.Fields(bytes.ToLower([]byte(r.query["search"])))}
	for name := range r.query {
		q.filtered = q.filtered || !slices.Contains([]string{"search", "limit", "offset", "around", "before"}, name)
	}
	return q
}

// allows reports whether a filter is unset or matches the value.
func (q listQuery) allows(name, value string) bool {
	if !q.filtered { // fast path
		return true
	}
	want := q.query[name]
	return want == "" || strings.EqualFold(want, value)
}

func (q listQuery) allowsID(name string, id int64) bool {
	return !q.filtered || q.allows(name, strconv.FormatInt(id, 10))
}

// allowsAccount reports whether the account filter allows an account id. Every
// account filter allows records without an account. Requests without a known
// token and deliveries to a URL without a webhook have no account.
func (q listQuery) allowsAccount(id int64) bool { return id == 0 || q.allowsID("account_id", id) }

// allowsStatus reports whether the status filter allows a status. The filter is a
// status such as 404 or a class such as 4xx.
func (q listQuery) allowsStatus(status int) bool {
	text := strconv.Itoa(status)
	return q.allows("status", text) || q.allows("status", text[:1]+"xx")
}

// view describes how a list filters records of type V and converts them to type T.
type view[V, T any] struct {
	id      func(V) string
	allowed func(V) bool                // whether the filters allow a record
	text    func(to []byte, v V) []byte // appends the text to search
	record  func(V) T
}

// matches reports whether a record matches the filters and contains the search
// words.
func (w view[V, T]) matches(q *listQuery, v V) bool {
	if !w.allowed(v) {
		return false
	}
	if len(q.words) == 0 {
		return true
	}
	q.text = lower(w.text(q.text[:0], v))
	return !slices.ContainsFunc(q.words, func(word []byte) bool { return !bytes.Contains(q.text, word) })
}

// lines appends strings to a buffer, one per line. A search word contains no line
// break, so it cannot match across two strings.
func lines(to []byte, texts ...string) []byte {
	for _, text := range texts {
		to = append(append(to, text...), '\n')
	}
	return to
}

// lower converts text to lower case, in place if the text is ASCII.
func lower(text []byte) []byte {
	for i, c := range text {
		if c >= utf8.RuneSelf {
			return bytes.ToLower(text)
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

// list returns the page of records that a query selects. The iterator must yield the
// newest record first. The parameter n is the number of records, or 0 if the number
// is unknown. If the number is known and the query has no filters, list does not
// read the records after the page.
func list[V, T any](q listQuery, n int, all iter.Seq[V], w view[V, T]) recordList[T] {
	out := recordList[T]{Data: []T{}}
	before, skip := q.query["before"], offset(&q, all, w)
	older := before == ""
	for v := range all {
		if w.matches(&q, v) {
			switch {
			case !older || skip > 0:
				out.Offset++
				if older {
					skip--
				}
			case len(out.Data) < q.number("limit"):
				out.Data, out.ids = append(out.Data, w.record(v)), append(out.ids, w.id(v))
			default:
				out.HasMore = true
				if n > 0 && !q.filtered && len(q.words) == 0 {
					out.Total = n
					return out
				}
			}
			out.Total++
		}
		older = older || w.id(v) == before
	}
	return out
}

// offset returns the number of records to skip. If the query parameter "around"
// contains an id, the record with this id is in the middle of the page.
func offset[V, T any](q *listQuery, all iter.Seq[V], w view[V, T]) int {
	around, before, newer := q.query["around"], q.query["before"], 0
	if around == "" {
		return q.number("offset")
	}
	older := before == ""
	for v := range all {
		if older && w.matches(q, v) {
			if w.id(v) == around {
				return max(0, newer-q.number("limit")/2)
			}
			newer++
		}
		older = older || w.id(v) == before
	}
	return 0
}
