package mockserver

import (
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/events"
)

// The control routes that show what happened.

const (
	defaultLimit = 200
	maxLimit     = 1000
)

func (s *Server) observeRoutes(route func(string, func(*http.Request) (any, error))) {
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
			return q, invalid("want 1 to "+strconv.Itoa(maxLimit), "query", "limit")
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

// messageSummary is a message without its parts.
type messageSummary struct {
	Message
	Headers *struct{} `json:"headers,omitempty"` // hides the message's
}

func (m *message) glance() messageSummary {
	full := m.rendered()
	full.HTML, full.Text = "", ""
	return messageSummary{Message: full}
}

func (s *Server) controlOutbox(r *http.Request) (any, error) {
	q, err := listQueryOf(r)
	if err != nil {
		return nil, err
	}
	s.platform.mu.Lock()
	defer s.platform.mu.Unlock()
	return q.list(func(yield func(row) bool) {
		for _, m := range slices.Backward(s.platform.outbox) {
			wanted := q.allowsAccount(m.AccountID) && q.allows("to", m.To) && q.allows("status", m.Status) &&
				q.allows("sent_by", string(m.SentBy))
			text := func() []string { return []string{m.ID, m.To, m.subject(), m.From.Name, m.From.Email, m.Status} }
			if !yield(row{m.ID, wanted, text, func() any { return m.glance() }}) {
				return
			}
		}
	}), nil
}

// messageRecord is everything about a message.
type messageRecord struct {
	Message
	Reason string       `json:"reason,omitzero"` // why it was refused
	Error  string       `json:"error,omitzero"`
	Links  []string     `json:"links"`
	Events []FiredEvent `json:"events"` // about it, the oldest first
}

func (s *Server) controlMessage(r *http.Request) (any, error) {
	return s.messageRecord(r.PathValue("id"))
}

func (s *Server) messageRecord(id string) (*messageRecord, error) {
	out, err := func() (*messageRecord, error) {
		s.platform.mu.Lock()
		defer s.platform.mu.Unlock()
		m := s.platform.messages[id]
		if m == nil {
			return nil, notFound("message", id, "path", "id")
		}
		return &messageRecord{Message: m.rendered(), Reason: m.Reason, Error: m.Error}, nil
	}()
	if err != nil {
		return nil, err
	}
	out.Links = orEmpty(out.Message.Links())
	out.Events = s.eventsWhere(func(e *FiredEvent) bool { return e.MessageID == id })
	return out, nil
}

// deliverySummary is a delivery without its body.
type deliverySummary struct {
	Delivery
	Body *struct{} `json:"body,omitempty"` // hides the delivery's
	// Waiting says what keeps a delivery that is not being attempted: retry,
	// rate_limit, archived or delay; Until when, if that is known.
	Waiting string    `json:"waiting,omitzero"`
	Until   time.Time `json:"waiting_until,omitzero"`
}

// deliveryRecord is everything about a delivery.
type deliveryRecord struct {
	deliverySummary
	Body         Text   `json:"body"`
	Secret       string `json:"secret,omitzero"`
	HashFunction string `json:"hash_function,omitzero"`
	MaxAttempts  int    `json:"max_attempts"`
}

// glanceLocked describes a delivery as it stands.
func (d *deliverer) glanceLocked(delivery *Delivery) deliverySummary {
	out := deliverySummary{Delivery: *delivery}
	out.Attempts = append([]Attempt{}, delivery.Attempts...)
	q := d.queues[delivery.webhookID]
	if q == nil || delivery.State != DeliveryQueued && delivery.State != DeliveryRetrying {
		return out
	}
	wait, due := q.wait(time.Now())
	switch {
	case q.hook.Archived:
		out.Waiting = "archived"
	case delivery.State == DeliveryRetrying:
		out.Waiting, out.Until = "retry", delivery.NextAttempt
	case !delivery.NextAttempt.IsZero():
		out.Waiting, out.Until = "delay", delivery.NextAttempt
	case due && wait > 0:
		out.Waiting, out.Until = "rate_limit", time.Now().Add(wait)
	}
	return out
}

// mostLocked returns how many attempts a delivery will have had at the most.
// Those before it was last asked for do not count against the schedule.
func (d *deliverer) mostLocked(delivery *Delivery) int {
	done := len(delivery.Attempts)
	most := done - delivery.tries + 1
	if q := d.queues[delivery.webhookID]; q == nil || !q.once {
		most += len(d.schedule)
	}
	return max(most, done) // a duplicate has one more
}

func (s *Server) controlDeliveries(r *http.Request) (any, error) {
	q, err := listQueryOf(r)
	if err != nil {
		return nil, err
	}
	d := s.platform.deliver
	d.mu.Lock()
	defer d.mu.Unlock()
	return q.list(func(yield func(row) bool) {
		for _, delivery := range slices.Backward(d.journal) {
			wanted := q.allowsAccount(delivery.AccountID) && q.allows("state", string(delivery.State)) &&
				q.allows("event", delivery.Event) && q.allows("webhook_id", delivery.WebhookID)
			text := func() []string {
				return []string{delivery.ID, delivery.EventID, delivery.Event, delivery.URL, string(delivery.State), string(delivery.Body)}
			}
			if !yield(row{delivery.ID, wanted, text, func() any { return d.glanceLocked(delivery) }}) {
				return
			}
		}
	}), nil
}

func (s *Server) controlDelivery(r *http.Request) (any, error) {
	return s.deliveryRecord(r.PathValue("id"))
}

func (s *Server) deliveryRecord(id string) (*deliveryRecord, error) {
	d := s.platform.deliver
	d.mu.Lock()
	defer d.mu.Unlock()
	delivery := d.byID[id]
	if delivery == nil {
		return nil, notFound("delivery", id, "path", "id")
	}
	out := &deliveryRecord{deliverySummary: d.glanceLocked(delivery), Body: delivery.Body, MaxAttempts: d.mostLocked(delivery)}
	if q := d.queues[delivery.webhookID]; q != nil {
		out.Secret, out.HashFunction = q.hook.Secret, string(q.hook.Hash)
	}
	return out, nil
}

func (s *Server) serveDeliveryBody(w http.ResponseWriter, r *http.Request) {
	delivery, err := s.deliveryRecord(r.PathValue("id"))
	if err != nil {
		answerError(w, r, err)
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

// eventSummary is an event without its body.
type eventSummary struct {
	FiredEvent
	Body *struct{} `json:"body,omitempty"` // hides the event's
}

func (s *Server) controlEvents(r *http.Request) (any, error) {
	q, err := listQueryOf(r)
	if err != nil {
		return nil, err
	}
	d := s.platform.deliver
	d.mu.Lock()
	defer d.mu.Unlock()
	return q.list(func(yield func(row) bool) {
		for _, e := range slices.Backward(d.events) {
			wanted := q.allowsAccount(e.AccountID) && q.allows("event", e.Event) && q.allows("message_id", e.MessageID)
			text := func() []string { return []string{e.ID, e.EventID, e.MessageID, string(e.Body)} }
			if !yield(row{e.ID, wanted, text, func() any { return eventSummary{FiredEvent: *e} }}) {
				return
			}
		}
	}), nil
}

func (s *Server) controlEvent(r *http.Request) (any, error) {
	id := r.PathValue("id")
	if found := s.eventsWhere(func(e *FiredEvent) bool { return e.ID == id }); len(found) > 0 {
		return found[0], nil
	}
	return nil, notFound("event", id, "path", "id")
}

// requestSummary is a request without its body and answer.
type requestSummary struct {
	Request
	Body   *struct{} `json:"body,omitempty"`   // hides the request's
	Answer *struct{} `json:"answer,omitempty"` // hides the request's
}

func (s *Server) controlRequests(r *http.Request) (any, error) {
	q, err := listQueryOf(r)
	if err != nil {
		return nil, err
	}
	s.requests.mu.Lock()
	defer s.requests.mu.Unlock()
	return q.list(func(yield func(row) bool) {
		for _, e := range slices.Backward(s.requests.all) {
			wanted := q.allowsAccount(e.AccountID) && q.allows("operation", e.Operation) && q.allows("method", e.Method) &&
				q.allowsStatus(e.Status)
			text := func() []string {
				return []string{e.ID, e.Method, e.Path, e.Query, e.Operation, strconv.Itoa(e.Status), string(e.Body)}
			}
			if !yield(row{e.ID, wanted, text, func() any { return requestSummary{Request: e} }}) {
				return
			}
		}
	}), nil
}

// requestRecord is everything about a request.
type requestRecord struct {
	Request
	Closest *knownOperation `json:"closest,omitzero"` // what was probably meant, if no operation takes it
}

func (s *Server) controlRequest(r *http.Request) (any, error) {
	id := r.PathValue("id")
	s.requests.mu.Lock()
	defer s.requests.mu.Unlock()
	i := slices.IndexFunc(s.requests.all, func(e Request) bool { return e.ID == id })
	if i < 0 {
		return nil, notFound("request", id, "path", "id")
	}
	out := requestRecord{Request: s.requests.all[i]}
	if out.Operation == "" {
		out.Closest = loadContract().closest(out.Method, out.Path)
	}
	return out, nil
}

// controlEventNames lists the names of all events.
func controlEventNames() []string {
	return []string{
		events.NameContactAdded, events.NameContactUnsubscribed, events.NameContactRemoved,
		events.NameEmailOpened, events.NameEmailClicked, events.NameEmailBounced, events.NameEmailReportedAsSpam,
		events.NameEmailUnsubscribed, events.NameEmailGlobalUnsubscribed, events.NameEmailRejected, events.NameEmailError,
		events.NameCampaignScheduled, events.NameCampaignSent, events.NameSuppressedEmailAdded,
	}
}
