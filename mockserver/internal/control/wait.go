package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/environment"
	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/problem"
)

// waitRoutes are what waits.
func (c *Control) waitRoutes() []route {
	return []route{{
		pattern: "POST wait",
		does: "Waits for what an application does in the background: until there are `count` messages, deliveries, " +
			"requests or events that pass the filters, which are those of the lists. It answers them, the latest first, " +
			"with `total`, which may be more. Without `for` it answers 204 when every queue is idle, or with `drain` when " +
			"all is delivered or given up. 504 when the time is up, and 409 at once when a drain would wait for a clock that " +
			"is frozen. What the body says goes before the parameters. Whoever wants to wait for more than a minute asks again.",
		query: []param{
			choice("drain", "whether retries and rate limits are waited for", "true", "false"),
			number("timeout_ms", "how long, in milliseconds", 1, maxWait, 10_000),
		},
		handler: orNothing(taking(c.wait)),
		example: example{body: `{"for":"message","to":"ada@example.org","count":1,"timeout_ms":5000}`},
	}}
}

// maxWait is how many milliseconds one may wait at the most.
const maxWait = 60_000

// waitBody is what is waited for. A filter that is not of its kind is a mistake.
type waitBody struct {
	For       *waitKind `json:"for,omitzero" means:"what is waited for; nothing is every queue"`
	Count     *int64    `json:"count,omitzero" means:"how many, up to 1000; 1 if left out"` // 1 if left out
	TimeoutMS *int64    `json:"timeout_ms,omitzero" means:"how long, up to a minute; 10 seconds if left out"`
	Drain     *bool     `json:"drain,omitzero" means:"whether retries and rate limits are waited for; without for"`
	waitFilters
}

type waitFilters struct {
	AccountID *int64 `json:"account_id,omitzero" means:"the account"`
	Search    *word  `json:"search,omitzero" means:"words that the record has"`
	To        *word  `json:"to,omitzero" means:"the recipient, of messages"`
	Status    *word  `json:"status,omitzero" means:"of messages, or of the answers to requests"`
	SentBy    *word  `json:"sent_by,omitzero" means:"what sent them, of messages"`
	State     *word  `json:"state,omitzero" means:"where they stand, of deliveries"`
	Event     *word  `json:"event,omitzero" means:"the name, of events and deliveries"`
	WebhookID *word  `json:"webhook_id,omitzero" means:"the webhook, of deliveries"`
	MessageID *word  `json:"message_id,omitzero" means:"the message that they are about, of events"`
	Operation *word  `json:"operation,omitzero" means:"the operationId, of requests"`
	Method    *word  `json:"method,omitzero" means:"the method, of requests"`
}

// word is a text, which may be written as a number: the status 404.
type word string

// UnmarshalJSON implements [json.Unmarshaler].
func (w *word) UnmarshalJSON(b []byte) error {
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		*w = word(strconv.FormatInt(n, 10))
		return nil
	}
	return json.Unmarshal(b, (*string)(w))
}

// values are the filters as a list takes them.
func (f waitFilters) values() url.Values {
	text, _ := json.Marshal(f) // numbers and texts
	given := map[string]any{}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	_ = decoder.Decode(&given)
	out := url.Values{}
	for name, value := range given {
		out.Set(name, fmt.Sprint(value))
	}
	return out
}

// waitAnswer is what was waited for.
type waitAnswer struct {
	Data  []any `json:"data" means:"the records, the latest first: as many as were waited for"` // as the route by its id answers each
	Total int   `json:"total" means:"how many there are"`
}

func (c *Control) wait(r *request, in waitBody) (*waitAnswer, error) {
	limit, err := in.limit(r.query)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	if in.For != nil {
		return c.waitFor(ctx, r, in)
	}
	if filters := in.values(); len(filters) > 0 || in.Count != nil {
		return nil, problem.Invalid("required: it says what is waited for", "body", "for")
	}
	wait := c.Wait
	if in.Drain != nil && *in.Drain || in.Drain == nil && r.query["drain"] == "true" {
		wait = c.Drain
	}
	return nil, late(wait(ctx))
}

// limit is how long one waits.
func (in waitBody) limit(q query) (time.Duration, error) {
	ms := int64(q.number("timeout_ms"))
	if in.TimeoutMS != nil {
		ms = *in.TimeoutMS
	}
	if ms < 1 || ms > maxWait {
		return 0, problem.Invalid(fmt.Sprintf("want an integer from 1 to %d", maxWait), "body", "timeout_ms")
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// late answers who has waited in vain.
func late(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, environment.ErrFrozen): // asking again would be in vain
		return problem.Conflict("invalid_state", strings.TrimPrefix(err.Error(), "mockserver: "), "body", "drain")
	}
	return problem.New(http.StatusGatewayTimeout, "timeout", strings.TrimPrefix(err.Error(), "mockserver: "))
}

// waitFor waits for records.
func (c *Control) waitFor(ctx context.Context, r *request, in waitBody) (*waitAnswer, error) {
	kind, known := c.waitKinds()[*in.For]
	if !known { // "", which is not left out
		return nil, problem.Invalid("want a value: leave the member out for every queue", "body", "for")
	}
	asked, err := c.asked(kind.pattern, r, in)
	if err != nil {
		return nil, err
	}
	want := asked.query.number("limit")
	var ids []string
	out := &waitAnswer{Data: []any{}}
	err = c.WaitFor(ctx, func() bool {
		ids, out.Total = kind.list(asked)
		return out.Total >= want
	})
	if err != nil {
		return nil, late(fmt.Errorf("%w: there are %d of %d", err, out.Total, want))
	}
	for _, id := range ids {
		if record, err := kind.record(id); err == nil { // it may just have been forgotten
			out.Data = append(out.Data, record)
		}
	}
	return out, nil
}

// asked is what the list with a pattern would be asked: for as many of the latest
// records as are waited for.
func (c *Control) asked(pattern string, r *request, in waitBody) (*request, error) {
	count := int64(1)
	if in.Count != nil {
		count = *in.Count
	}
	if count < 1 || count > maxLimit {
		return nil, problem.Invalid(fmt.Sprintf("want an integer from 1 to %d", maxLimit), "body", "count")
	}
	if in.Drain != nil {
		return nil, problem.Invalid("it is for waiting without `for`", "body", "drain")
	}
	q, err := read(c.filtersOf(pattern), in.values(), false, "body")
	if err != nil {
		return nil, err
	}
	q["limit"] = strconv.FormatInt(count, 10)
	return &request{r.Request, q}, nil
}

// filtersOf returns the filters of a list.
func (c *Control) filtersOf(pattern string) []param {
	for _, s := range c.sections() {
		for _, rt := range s.routes {
			if rt.pattern == pattern {
				return slices.DeleteFunc(rt.query, func(p param) bool { return p.name == "limit" || p.name == "before" })
			}
		}
	}
	return nil
}

// waitKind is what can be waited for.
type waitKind string

const (
	waitMessage  waitKind = "message"
	waitDelivery waitKind = "delivery"
	waitRequest  waitKind = "request"
	waitEvent    waitKind = "event"
)

func waitables() []waitKind { return []waitKind{waitMessage, waitDelivery, waitRequest, waitEvent} }

// waitable is a kind of records.
type waitable struct {
	pattern string // of the route that lists them
	list    func(*request) (ids []string, total int)
	record  func(id string) (any, error)
}

func (c *Control) waitKinds() map[waitKind]waitable {
	return map[waitKind]waitable{
		waitMessage: {
			"GET outbox",
			idsOf(c.outbox, func(m platform.Summary) string { return m.ID }),
			func(id string) (any, error) { return c.messageRecord(id) },
		},
		waitDelivery: {
			"GET deliveries",
			idsOf(c.deliveries, func(d delivery.Summary) string { return d.ID }),
			func(id string) (any, error) { return c.deliveryRecord(id) },
		},
		waitRequest: {
			"GET requests",
			idsOf(c.requests, func(r gateway.Summary) string { return r.ID }),
			func(id string) (any, error) { return c.requestRecord(id) },
		},
		waitEvent: {
			"GET events",
			idsOf(c.events, func(e delivery.EventSummary) string { return e.ID }),
			func(id string) (any, error) { return c.eventRecord(id) },
		},
	}
}

// idsOf lists records by their ids alone.
func idsOf[T any](list func(*request) (recordList[T], error), id func(T) string) func(*request) ([]string, int) {
	return func(r *request) (ids []string, total int) {
		found, _ := list(r) // what is wrong with the request was found before
		for _, record := range found.Data {
			ids = append(ids, id(record))
		}
		return ids, found.Total
	}
}
