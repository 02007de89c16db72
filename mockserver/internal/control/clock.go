package control

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/environment"
	"example.com/emailplatform/mockserver/internal/problem"
)

const (
	advanceTimeout = time.Minute                     // in real time
	maxMS          = 200 * 365 * 24 * 60 * 60 * 1000 // 200 years
)

func (c *Control) clockRoutes() []route {
	return []route{
		handle("GET clock", noInput(func(*request) (clock.View, error) { return c.Clock.View(), nil })),
		handle("PUT clock", jsonBody(c.setClock)),
		handle("POST clock/advance", jsonBody(c.advance)),
	}
}

type clockBody struct {
	Now    *string `json:"now,omitempty" doc:"the new time, RFC 3339"`
	Frozen *bool   `json:"frozen,omitempty" doc:"true freezes the clock; false resumes the clock"`
}

// setClock freezes the clock before it sets the time, so a frozen clock shows exactly
// the requested time. If the body is invalid, setClock changes nothing.
func (c *Control) setClock(_ *request, in clockBody) (view clock.View, err error) {
	if in.Now == nil && in.Frozen == nil {
		return view, problem.New(http.StatusUnprocessableEntity, "missing", "must contain now or frozen", "body")
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
		return t, problem.Invalid(err.Error(), "body", field)
	}
	return t, nil
}

type advanceBody struct {
	Duration *int64 `json:"duration_ms,omitempty" doc:"the duration in milliseconds, up to 200 years; required unless a new time is set"`
	To       string `json:"to,omitempty" doc:"a time in RFC 3339 format that is not in the past, or \"next\"; required unless duration_ms is set"`
}

func (c *Control) advance(r *request, in advanceBody) (view clock.View, err error) {
	ctx, cancel := context.WithTimeout(r.Context(), advanceTimeout)
	defer cancel()
	field := "to"
	switch {
	case (in.Duration != nil) == (in.To != ""):
		return view, problem.New(http.StatusUnprocessableEntity, "missing", "must contain either duration_ms or to", "body")
	case in.To == "next":
		err = c.AdvanceToNext(ctx)
	case in.Duration == nil:
		to, wrong := parseTime(in.To, "to")
		if wrong != nil {
			return view, wrong
		}
		err = c.AdvanceTo(ctx, to)
	case *in.Duration < 0 || *in.Duration > maxMS:
		return view, problem.Invalid("must be from 0 to 200 years in milliseconds", "body", "duration_ms")
	default:
		field, err = "duration_ms", c.Advance(ctx, time.Duration(*in.Duration)*time.Millisecond)
	}
	if err != nil {
		return view, advanceProblem(ctx, err, field)
	}
	return c.Clock.View(), nil
}

func advanceProblem(ctx context.Context, err error, field string) error {
	msg := strings.TrimPrefix(err.Error(), "mockserver: advance: ")
	switch {
	case ctx.Err() != nil:
		return problem.New(http.StatusGatewayTimeout, "timeout", msg)
	case errors.Is(err, clock.ErrTime), errors.Is(err, environment.ErrPast):
		return problem.Invalid(msg, "body", field)
	}
	return problem.Conflict("invalid_state", msg, "body", field)
}
