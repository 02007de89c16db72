package control

import (
	"iter"
	"slices"
	"strconv"
	"strings"
)

const (
	defaultLimit = 200
	maxLimit     = 1000
)

// listed adds the parameters of all lists to those of one.
func listed(own ...param) []param {
	return append(own,
		text("search", "words that a record has, all of them, without case"),
		number("limit", "how many records at the most", 1, maxLimit, defaultLimit),
		text("before", "an id: only what is older than it"))
}

// listQuery is what a list was asked for.
type listQuery struct {
	query
	words []string // of the search, in lower case
}

func listQueryOf(r *request) listQuery {
	return listQuery{r.query, strings.Fields(strings.ToLower(r.query["search"]))}
}

// allows reports whether a filter is not set, or to this value.
func (q listQuery) allows(name, value string) bool {
	want := q.query[name]
	return want == "" || strings.EqualFold(want, value)
}

// allowsAccount lets through what belongs to no account whatever is asked for:
// a request without a known token, a delivery to a URL that is no webhook's.
func (q listQuery) allowsAccount(id int64) bool {
	return id == 0 || q.allows("account_id", strconv.FormatInt(id, 10))
}

// allowsStatus takes a status, or a class of them such as 4xx.
func (q listQuery) allowsStatus(status int) bool {
	text := strconv.Itoa(status)
	return q.allows("status", text) || q.allows("status", text[:1]+"xx")
}

// row is a record that a list may show.
type row[T any] struct {
	id     string
	wanted bool            // by the filters; a list may go on after one that is not
	text   func() []string // what a search looks through
	record func() T
}

// recordList is the answer of a list.
type recordList[T any] struct {
	Data  []T  `json:"data"`
	Total int  `json:"total"`
	More  bool `json:"more"`
}

// list picks what a list shows of rows, which come newest first.
func list[T any](q listQuery, rows iter.Seq[row[T]]) recordList[T] {
	out := recordList[T]{Data: []T{}}
	before := q.query["before"]
	older := before == ""
	for r := range rows {
		if !r.wanted || !q.finds(r.text) {
			older = older || r.id == before
			continue
		}
		out.Total++
		switch {
		case !older:
		case len(out.Data) == q.number("limit"):
			out.More = true
		default:
			out.Data = append(out.Data, r.record())
		}
		older = older || r.id == before
	}
	return out
}

// finds reports whether a text has all words of the search.
func (q listQuery) finds(text func() []string) bool {
	if len(q.words) == 0 {
		return true
	}
	all := strings.ToLower(strings.Join(text(), " "))
	return !slices.ContainsFunc(q.words, func(word string) bool { return !strings.Contains(all, word) })
}
