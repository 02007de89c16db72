package control

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/changes"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/engine"
	"example.com/emailplatform/mockserver/internal/platform"
)

// maxState is the maximum size of a snapshot or a seed, in bytes.
const maxState = 1 << 30

func (c *Control) stateRoutes() []route {
	account := ofAccount("the account to delete or reset; by default all accounts")
	return []route{
		handle("GET state", handler{response: platform.StateType(), serve: c.serveState}),
		handle("PUT state", upload(stateSchema, c.Restore)),
		handle("DELETE state", noInput(oneOrAll(c.ClearAccount, c.Clear)), account),
		handle("POST reset", noInput(oneOrAll(c.ResetAccount, c.Reset)), account),
		handle("PUT baseline", noInput(func(*request) (emptyBody, error) { return emptyBody{}, c.SetBaseline() })),
		handle("POST seed", upload(engine.SeedSchema, c.seed)),
		handle("GET clock", noInput(func(*request) (clock.View, error) { return c.Clock.View(), nil })),
		handle("PUT clock", jsonBody(c.setClock)),
		handle("POST clock/advance", jsonBody(c.advance)),
	}
}

// serveState streams a snapshot of any size. After an error, it closes the connection,
// so the client detects that the snapshot is incomplete.
func (c *Control) serveState(w http.ResponseWriter, _ *request) error {
	w.Header().Set("Content-Type", "application/json")
	if err := c.Snapshot(w); err != nil {
		panic(http.ErrAbortHandler)
	}
	return nil
}

func (c *Control) seed(body io.Reader) error {
	err := c.Seed(body)
	if err == nil {
		c.Changes.Publish(changes.Records, nil)
	}
	return err
}

// oneOrAll returns a handler that calls forAccount with the account from the request.
// If the request omits the parameter account_id, the handler calls forAll.
func oneOrAll(forAccount func(account int64) error, forAll func()) func(*request) (emptyBody, error) {
	return func(r *request) (emptyBody, error) {
		account := r.query.id("account_id")
		if account == 0 {
			forAll()
			return emptyBody{}, nil
		}
		switch err := forAccount(account); {
		case errors.Is(err, engine.ErrNoAccount):
			return emptyBody{}, apierror.NotFound("account", account, "query", "account_id")
		case err != nil:
			return emptyBody{}, conflict(err, "query", "account_id")
		}
		return emptyBody{}, nil
	}
}

func stateSchema() *contract.Schema { return requestOf(platform.StateType()) }

const (
	advanceTimeout = time.Minute                     // in real time
	maxMS          = 200 * 365 * 24 * 60 * 60 * 1000 // 200 years
)

type clockBody struct {
	Now    *string `json:"now,omitempty" doc:"the new time, RFC 3339"`
	Frozen *bool   `json:"frozen,omitempty" doc:"true freezes the clock; false resumes the clock"`
}

// setClock freezes the clock before it sets the time, so that a frozen clock shows
// exactly the requested time. If the body is invalid, setClock changes nothing.
func (c *Control) setClock(_ *request, in clockBody) (view clock.View, err error) {
	if in.Now == nil && in.Frozen == nil {
		return view, apierror.New(http.StatusUnprocessableEntity, "missing", "must contain now or frozen", "body")
	}
	var now time.Time
	if in.Now != nil {
		if now, err = parseTime(*in.Now, "now"); err != nil {
			return view, err
		}
	}
	if in.Frozen != nil {
		c.Clock.Freeze(*in.Frozen)
	}
	if in.Now != nil {
		_ = c.SetNow(now) // parseTime has checked the time
	}
	return c.Clock.View(), nil
}

func parseTime(text, field string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		err = errors.New("must be a time such as 2026-01-02T15:04:05Z")
	} else {
		err = clock.Check(t)
	}
	if err != nil {
		return t, apierror.Invalid(err.Error(), "body", field)
	}
	return t, nil
}

type advanceBody struct {
	Duration *int64 `json:"duration_ms,omitempty" doc:"the duration, up to 200 years; required unless a new time is set"`
	To       string `json:"to,omitempty" doc:"a time in RFC 3339 format that is not in the past, or \"next\"; required unless duration_ms is set"`
}

func (c *Control) advance(r *request, in advanceBody) (view clock.View, err error) {
	ctx, cancel := context.WithTimeout(r.Context(), advanceTimeout)
	defer cancel()
	field := "to"
	switch {
	case (in.Duration != nil) == (in.To != ""):
		return view, apierror.New(http.StatusUnprocessableEntity, "missing", "must contain either duration_ms or to", "body")
	case in.To == "next":
		err = c.AdvanceToNext(ctx)
	case in.Duration == nil:
		to, wrong := parseTime(in.To, "to")
		if wrong != nil {
			return view, wrong
		}
		err = c.AdvanceTo(ctx, to)
	case *in.Duration < 0 || *in.Duration > maxMS:
		return view, apierror.Invalid("must be between 0 and 200 years, in milliseconds", "body", "duration_ms")
	default:
		field, err = "duration_ms", c.Advance(ctx, time.Duration(*in.Duration)*time.Millisecond)
	}
	if err != nil {
		return view, advanceProblem(ctx, err, field)
	}
	return c.Clock.View(), nil
}

func advanceProblem(ctx context.Context, err error, field string) error {
	msg := err.Error()
	switch {
	case ctx.Err() != nil:
		return apierror.New(http.StatusGatewayTimeout, "timeout", msg)
	case errors.Is(err, clock.ErrTime), errors.Is(err, engine.ErrPast):
		return apierror.Invalid(msg, "body", field)
	}
	return apierror.Conflict("invalid_state", msg, "body", field)
}
