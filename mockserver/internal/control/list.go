package control

import (
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"example.com/emailplatform/mockserver/internal/problem"
)

const (
	defaultLimit = 200
	maxLimit     = 1000
)

// listQuery is what a list was asked for.
type listQuery struct {
	url.Values
	words  []string // of the search, in lower case
	limit  int
	before string
}

func listQueryOf(r *http.Request) (listQuery, error) {
	q := listQuery{Values: r.URL.Query(), limit: defaultLimit}
	q.words = strings.Fields(strings.ToLower(q.Get("search")))
	q.before = q.Get("before")
	if text := q.Get("limit"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > maxLimit {
			return q, problem.Invalid("want 1 to "+strconv.Itoa(maxLimit), "query", "limit")
		}
		q.limit = n
	}
	return q, nil
}

// allows reports whether a filter is not set, or to this value.
func (q listQuery) allows(name, value string) bool {
	want := q.Get(name)
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
type row struct {
	id     string
	wanted bool            // by the filters; a list may go on after one that is not
	text   func() []string // what a search looks through
	record func() any
}

// recordList is the answer of a list.
type recordList struct {
	Data  []any `json:"data"`
	Total int   `json:"total"`
	More  bool  `json:"more"`
}

// list picks what a list shows of rows, which come newest first.
func (q listQuery) list(rows iter.Seq[row]) recordList {
	out := recordList{Data: []any{}}
	older := q.before == ""
	for r := range rows {
		if !r.wanted || !q.finds(r) {
			older = older || r.id == q.before
			continue
		}
		out.Total++
		switch {
		case !older:
		case len(out.Data) == q.limit:
			out.More = true
		default:
			out.Data = append(out.Data, r.record())
		}
		older = older || r.id == q.before
	}
	return out
}

func (q listQuery) finds(r row) bool {
	if len(q.words) == 0 {
		return true
	}
	text := strings.ToLower(strings.Join(r.text(), " "))
	return !slices.ContainsFunc(q.words, func(word string) bool { return !strings.Contains(text, word) })
}
