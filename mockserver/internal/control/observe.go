package control

import (
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/internal/record"
)

// The control routes that show what happened.

const (
	defaultLimit = 200
	maxLimit     = 1000
)

func (s *Control) observeRoutes(route func(string, func(*http.Request) (any, error))) {
	route("GET outbox", s.controlOutbox)
	route("GET outbox/{id}", s.controlMessage)
	route("GET deliveries", s.controlDeliveries)
	route("GET deliveries/{id}", s.controlDelivery)
	route("GET events", s.controlEvents)
	route("GET events/{id}", s.controlEvent)
	route("GET requests", s.controlRequests)
	route("GET requests/{id}", s.controlRequest)
}

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

func (s *Control) controlOutbox(r *http.Request) (any, error) {
	q, err := listQueryOf(r)
	if err != nil {
		return nil, err
	}
	return q.list(func(yield func(row) bool) {
		for m := range s.Platform.NewestSent() {
			wanted := q.allowsAccount(m.AccountID) && q.allows("to", m.To) && q.allows("status", m.Status) &&
				q.allows("sent_by", string(m.SentBy))
			if !yield(row{m.ID, wanted, m.Words, func() any { return m.Summary() }}) {
				return
			}
		}
	}), nil
}

func (s *Control) controlMessage(r *http.Request) (any, error) {
	return s.messageRecord(r.PathValue("id"))
}

func (s *Control) messageRecord(id string) (*platform.Record, error) {
	out := s.Platform.Message(id)
	if out == nil {
		return nil, problem.NotFound("message", id, "path", "id")
	}
	return out, nil
}

func (s *Control) controlDeliveries(r *http.Request) (any, error) {
	q, err := listQueryOf(r)
	if err != nil {
		return nil, err
	}
	return q.list(func(yield func(row) bool) {
		for delivery, glance := range s.Deliveries.NewestDeliveries() {
			wanted := q.allowsAccount(delivery.AccountID) && q.allows("state", string(delivery.State)) &&
				q.allows("event", delivery.Event) && q.allows("webhook_id", delivery.WebhookID)
			text := func() []string {
				return []string{delivery.ID, delivery.EventID, delivery.Event, delivery.URL, string(delivery.State), string(delivery.Body)}
			}
			if !yield(row{delivery.ID, wanted, text, func() any { return glance() }}) {
				return
			}
		}
	}), nil
}

func (s *Control) controlDelivery(r *http.Request) (any, error) {
	return s.deliveryRecord(r.PathValue("id"))
}

func (s *Control) deliveryRecord(id string) (*delivery.Record, error) {
	out := s.Deliveries.Record(id)
	if out == nil {
		return nil, problem.NotFound("delivery", id, "path", "id")
	}
	return out, nil
}

func (s *Control) serveDeliveryBody(w http.ResponseWriter, r *http.Request) {
	delivery, err := s.deliveryRecord(r.PathValue("id"))
	if err != nil {
		gateway.AnswerError(w, r, err)
		return
	}
	writePlain(w, delivery.Body)
}

// writePlain answers with bytes of somebody else, as what no browser runs.
func writePlain(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Security-Policy", inertPolicy)
	_, _ = w.Write(body)
}

func (s *Control) controlEvents(r *http.Request) (any, error) {
	q, err := listQueryOf(r)
	if err != nil {
		return nil, err
	}
	return q.list(func(yield func(row) bool) {
		for e := range s.Deliveries.NewestEvents() {
			wanted := q.allowsAccount(e.AccountID) && q.allows("event", e.Event) && q.allows("message_id", e.MessageID)
			text := func() []string { return []string{e.ID, e.EventID, e.MessageID, string(e.Body)} }
			if !yield(row{e.ID, wanted, text, func() any { return delivery.EventSummary{FiredEvent: *e} }}) {
				return
			}
		}
	}), nil
}

func (s *Control) controlEvent(r *http.Request) (any, error) {
	id := r.PathValue("id")
	if found := s.Deliveries.Events(func(e *record.FiredEvent) bool { return e.ID == id }); len(found) > 0 {
		return found[0], nil
	}
	return nil, problem.NotFound("event", id, "path", "id")
}

func (s *Control) controlRequests(r *http.Request) (any, error) {
	q, err := listQueryOf(r)
	if err != nil {
		return nil, err
	}
	return q.list(func(yield func(row) bool) {
		for e := range s.API.Log.Newest() {
			wanted := q.allowsAccount(e.AccountID) && q.allows("operation", e.Operation) && q.allows("method", e.Method) &&
				q.allowsStatus(e.Status)
			text := func() []string {
				return []string{e.ID, e.Method, e.Path, e.Query, e.Operation, strconv.Itoa(e.Status), string(e.Body)}
			}
			if !yield(row{e.ID, wanted, text, func() any { return gateway.Summary{Request: e} }}) {
				return
			}
		}
	}), nil
}

// requestRecord is everything about a request.
type requestRecord struct {
	record.Request
	Closest *contract.Known `json:"closest,omitzero"` // what was probably meant, if no operation takes it
}

func (s *Control) controlRequest(r *http.Request) (any, error) {
	id := r.PathValue("id")
	var out requestRecord
	for e := range s.API.Log.Newest() {
		if e.ID == id {
			out.Request = e
			break
		}
	}
	if out.ID == "" {
		return nil, problem.NotFound("request", id, "path", "id")
	}
	if out.Operation == "" {
		out.Closest = contract.Load().Closest(out.Method, out.Path)
	}
	return out, nil
}
