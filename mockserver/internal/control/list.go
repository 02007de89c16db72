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
		number("offset", "how many records to pass over", 0, 1<<53, 0),
		text("around", "an id: those before and after it, instead of `offset`; the first ones if it is not among them"),
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

// allowsID is the same of an id of the API.
func (q listQuery) allowsID(name string, id int64) bool {
	return q.query[name] == "" || q.allows(name, strconv.FormatInt(id, 10))
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
	Data  []T  `json:"data" means:"the records, the newest first"`
	Total int  `json:"total" means:"how many there are by the filters and the search"`
	First int  `json:"first" means:"how many of these are newer than the first of data; the total if data is empty"`
	More  bool `json:"more" means:"whether older ones follow"`
}

// list picks what a list shows of rows, which come newest first. If all of them are
// asked for, and somebody knows that they are n and not 0, those behind the list are
// not looked at.
func list[T any](q listQuery, n int, rows iter.Seq[row[T]]) recordList[T] {
	out := recordList[T]{Data: []T{}}
	before, pass := q.query["before"], offset(q, rows)
	older := before == ""
	for r := range rows {
		if !r.wanted || !q.finds(r.text) {
			older = older || r.id == before
			continue
		}
		switch {
		case !older || pass > 0:
			out.First++
			if older {
				pass--
			}
		case len(out.Data) == q.number("limit"):
			out.More = true
			if n > 0 && q.everything() {
				out.Total = n
				return out
			}
		default:
			out.Data = append(out.Data, r.record())
		}
		out.Total++
		older = older || r.id == before
	}
	return out
}

// offset is how many records a list passes over: so many that the one it is to be
// around stands in its middle.
func offset[T any](q listQuery, rows iter.Seq[row[T]]) int {
	around, newer := q.query["around"], 0
	if around == "" {
		return q.number("offset")
	}
	for r := range rows {
		switch {
		case !r.wanted || !q.finds(r.text):
		case r.id == around:
			return max(0, newer-q.number("limit")/2)
		default:
			newer++
		}
	}
	return 0
}

// everything reports whether no filter is set.
func (q listQuery) everything() bool {
	for name, value := range q.query {
		if value != "" && !slices.Contains([]string{"limit", "offset", "around", "before"}, name) {
			return false
		}
	}
	return true
}

// finds reports whether a text has all words of the search.
func (q listQuery) finds(text func() []string) bool {
	if len(q.words) == 0 {
		return true
	}
	all := strings.ToLower(strings.Join(text(), " "))
	return !slices.ContainsFunc(q.words, func(word string) bool { return !strings.Contains(all, word) })
}
