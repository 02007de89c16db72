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

// maxAdvance is how long letting time pass may really take.
const maxAdvance = time.Minute

// clockRoutes are about the platform's time.
func (c *Control) clockRoutes() section {
	return section{
		title: "The clock",
		about: "Records, events and journals are dated by this clock; retries, rate limits, delayed deliveries, " +
			"campaigns and the limit of lookups follow it. Durations, time-outs and delayed answers are real. A clock " +
			"that is frozen never gets past a `Retry-After`.",
		routes: []route{
			{
				pattern: "GET clock",
				does: "The platform's time, how far it is ahead of the real one, and what happens next by itself (`null` if " +
					"nothing will).",
				handler: answering(c.showClock),
			},
			{
				pattern: "PUT clock",
				does: "`frozen` stops it or lets it run on, `now` sets it, also back: what has become due happens then, late " +
					"and in no order. Answers the clock.",
				handler: taking(c.setClock),
				example: example{body: `{"frozen":true}`},
			},
			{
				pattern: "POST clock/advance",
				does: "Lets time pass, by `ms` milliseconds or `to` a time or `\"next\"`. Answers the clock when everything " +
					"that became due is done, each at its own time and in order; 409 if there is no next, 504 after a minute.",
				handler: taking(c.advance),
				example: example{body: `{"ms":3600000}`},
			},
		},
	}
}

func (c *Control) showClock(*request) (clock.View, error) { return c.Clock.View(), nil }

type clockBody struct {
	Now    *string `json:"now,omitempty" means:"the time that it is to show, RFC 3339"`
	Frozen *bool   `json:"frozen,omitempty" means:"whether it is to stand"`
}

// setClock sets what is named; a mistake changes nothing. A clock that is to stand
// stands at the time that it is set to, to the nanosecond.
func (c *Control) setClock(_ *request, in clockBody) (clock.View, error) {
	if in.Now == nil && in.Frozen == nil {
		return clock.View{}, problem.New(http.StatusUnprocessableEntity, "missing", "want now or frozen", "body")
	}
	var now time.Time
	if in.Now != nil {
		var err error
		if now, err = timeOf(*in.Now, "now"); err != nil {
			return clock.View{}, err
		}
	}
	if in.Frozen != nil {
		c.Clock.Freeze(*in.Frozen)
	}
	if in.Now != nil {
		_ = c.SetNow(now) // it was checked
	}
	return c.Clock.View(), nil
}

// timeOf reads a time that the clock may show, out of a member of a body.
func timeOf(text, member string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, problem.Invalid("want a time such as 2026-01-02T15:04:05Z", "body", member)
	}
	if err := clock.Check(t); err != nil {
		return t, problem.Invalid(err.Error(), "body", member)
	}
	return t, nil
}

type advanceBody struct {
	MS *int64 `json:"ms,omitempty" means:"how many milliseconds are to pass, up to 200 years"`
	To string `json:"to,omitempty" means:"until when, RFC 3339, or next"`
}

// advance lets time pass, and answers how the clock stands then.
func (c *Control) advance(r *request, in advanceBody) (clock.View, error) {
	pass, field, err := c.passing(in)
	if err != nil {
		return clock.View{}, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), maxAdvance)
	defer cancel()
	if err := pass(ctx); err != nil {
		return clock.View{}, notPassed(ctx, err, field)
	}
	return c.Clock.View(), nil
}

func notPassed(ctx context.Context, err error, field string) error {
	text := strings.TrimPrefix(err.Error(), "mockserver: advance: ")
	switch {
	case ctx.Err() != nil:
		return problem.New(http.StatusGatewayTimeout, "timeout", text)
	case errors.Is(err, clock.ErrTime), errors.Is(err, environment.ErrPast):
		return problem.Invalid(text, "body", field)
	}
	return problem.Conflict("invalid_state", text, "body", field)
}

// passing is what a body asks for, and by which of its members.
func (c *Control) passing(in advanceBody) (pass func(context.Context) error, field string, err error) {
	switch {
	case (in.MS != nil) == (in.To != ""):
		return nil, "", problem.New(http.StatusUnprocessableEntity, "missing", "want either ms or to", "body")
	case in.To == "next":
		return c.AdvanceToNext, "to", nil
	case in.MS != nil:
		if *in.MS < 0 || *in.MS > maxMS {
			return nil, "", problem.Invalid("want 0 to 200 years in milliseconds", "body", "ms")
		}
		d := time.Duration(*in.MS) * time.Millisecond
		return func(ctx context.Context) error { return c.Advance(ctx, d) }, "ms", nil
	}
	to, err := timeOf(in.To, "to")
	if err != nil {
		return nil, "", err
	}
	return func(ctx context.Context) error { return c.AdvanceTo(ctx, to) }, "to", nil
}

// maxMS are the milliseconds of 200 years.
const maxMS = 200 * 365 * 24 * 60 * 60 * 1000
