package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"time"

	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/engine"
)

// maxWait is the maximum timeout in milliseconds.
const maxWait = 60_000

type waitBody struct {
	For       *waitKind `json:"for,omitzero" doc:"the kind of records to wait for; by default the route waits for due work"`
	Count     *int64    `json:"count,omitzero" min:"1" max:"1000" doc:"the number of records to wait for; the default is 1"`
	TimeoutMS *int64    `json:"timeout_ms,omitzero" min:"1" max:"60000" doc:"the timeout; the default is 10 seconds"`
	Drain     *bool     `json:"drain,omitzero" doc:"whether to wait for retries and rate limits too; not valid in a wait for records"`
	waitFilters
}

// waitFilters contains the filters for all kinds of records. A request can use only the
// filters of its kind.
type waitFilters struct {
	AccountID *int64       `json:"account_id,omitzero" min:"1" doc:"the account; the default is all accounts"`
	Search    *string      `json:"search,omitzero" doc:"words that the records must contain, separated by spaces; only valid in a wait for records"`
	To        *string      `json:"to,omitzero" doc:"the address of the recipient; only for messages"`
	Status    *stringOrInt `json:"status,omitzero" doc:"the status of the message, or the HTTP status of the response; only for messages and requests"`
	SentBy    *string      `json:"sent_by,omitzero" doc:"the sending type; only for messages"`
	State     *string      `json:"state,omitzero" doc:"the state of the delivery; only for deliveries"`
	Event     *string      `json:"event,omitzero" doc:"the name of the event; only for events and deliveries"`
	WebhookID *string      `json:"webhook_id,omitzero" doc:"the id of the webhook; only for deliveries"`
	MessageID *string      `json:"message_id,omitzero" doc:"the id of the related message; only for events"`
	Operation *string      `json:"operation,omitzero" doc:"the operationId; only for requests"`
	Method    *string      `json:"method,omitzero" doc:"the HTTP method; only for requests"`
}

// stringOrInt is a JSON string or a JSON integer, such as the status 404.
type stringOrInt string

// UnmarshalJSON implements [json.Unmarshaler].
func (w *stringOrInt) UnmarshalJSON(b []byte) error {
	if n, err := strconv.ParseInt(string(b), 10, 64); err == nil {
		*w = stringOrInt(strconv.FormatInt(n, 10))
		return nil
	}
	return json.Unmarshal(b, (*string)(w))
}

// values returns the filters as the query parameters of a list request.
func (f waitFilters) values() url.Values {
	out, v := url.Values{}, reflect.ValueOf(f)
	for i, field := range types().Of(v.Type()).Properties {
		if given := v.Field(i); !given.IsNil() {
			out.Set(field.Name, fmt.Sprint(given.Elem()))
		}
	}
	return out
}

type waited struct {
	Data  []any `json:"data" doc:"the latest matching records, newest first; at most count records"`
	Total int   `json:"total" doc:"the number of matching records"`
}

func (c *Control) wait(r *request, in waitBody) (*waited, error) {
	timeout := time.Duration(or(in.TimeoutMS, r.query.id("timeout_ms"))) * time.Millisecond
	ctx, cancel := context.WithTimeout(r.Context(), timeout)
	defer cancel()
	if in.For != nil {
		return c.waits()[*in.For](ctx, c, in)
	}
	account := or(in.AccountID, 0)
	in.AccountID = nil
	if filters := in.values(); len(filters) > 0 || in.Count != nil {
		return nil, apierror.Invalid("must be set if a filter or a count is set", "body", "for")
	}
	wait := c.Wait
	if or(in.Drain, r.query["drain"] == "true") {
		wait = c.Drain
	}
	err := wait(ctx, account)
	if errors.Is(err, engine.ErrNoAccount) {
		return nil, apierror.NotFound("account", account, "body", "account_id")
	}
	return nil, waitProblem(err)
}

// or returns the value of an optional field, or the default if the field is omitted.
func or[T any](given *T, standard T) T {
	if given == nil {
		return standard
	}
	return *given
}

func waitProblem(err error) error {
	if err == nil {
		return nil
	}
	msg := err.Error()
	if errors.Is(err, engine.ErrFrozen) { // a retry would fail again
		return apierror.Conflict("invalid_state", msg, "body", "drain")
	}
	return apierror.New(http.StatusGatewayTimeout, "timeout", msg)
}

// waitKind is the name of a record kind, such as "delivery".
type waitKind string

func (c *Control) waits() map[waitKind]waitFunc {
	return map[waitKind]waitFunc{
		"message":  waitFor(c.outbox(), c.message),
		"delivery": waitFor(c.deliveries(), c.delivery),
		"request":  waitFor(c.requests(), c.request),
		"event":    waitFor(c.events(), c.event),
	}
}

type waitFunc func(ctx context.Context, c *Control, in waitBody) (*waited, error)

// waitFor returns a function that waits until a list contains enough records that match the filters.
func waitFor[V, T, R any](l listing[V, T], record func(id string) (R, error)) waitFunc {
	return func(ctx context.Context, c *Control, in waitBody) (*waited, error) {
		return waitForRecords(ctx, c, in, l, record)
	}
}

func waitForRecords[V, T, R any](
	ctx context.Context, c *Control, in waitBody, l listing[V, T], record func(id string) (R, error),
) (*waited, error) {
	if in.Drain != nil {
		return nil, apierror.Invalid("must not be set if `for` is set", "body", "drain")
	}
	q, err := check(l.selectors(), in.values(), false, "body", "filter")
	if err != nil {
		return nil, err
	}
	want := or(in.Count, 1)
	q["limit"] = strconv.FormatInt(want, 10)
	var found recordList[T]
	err = c.WaitFor(ctx, func() bool {
		found, _ = l.page(&request{new(http.Request).WithContext(ctx), q}) // WaitFor returns the error of ctx
		return int64(found.Total) >= want
	})
	if err != nil {
		return nil, waitProblem(fmt.Errorf("%w: found %d of %d", err, found.Total, want))
	}
	out := &waited{[]any{}, found.Total}
	for _, id := range found.ids {
		if record, err := record(id); err == nil { // the record may have been deleted
			out.Data = append(out.Data, record)
		}
	}
	return out, nil
}
