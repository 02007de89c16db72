package control

import (
	"context"
	"net/http"
	"strings"
	"time"

	"example.com/emailplatform/mockserver/internal/problem"
)

// waitRoutes are what waits.
func (c *Control) waitRoutes() []route {
	return []route{{
		pattern: "POST wait",
		does: "Answers when every queue is idle, or with `drain` when all is delivered or given up; 504 when the time is up. " +
			"Whoever wants to wait for more than a minute asks again.",
		query: []param{
			choice("drain", "whether retries and rate limits are waited for", "true", "false"),
			number("timeout_ms", "how long, in milliseconds", 1, 60_000, 10_000),
		},
		handler: answering(c.wait),
		example: example{query: "timeout_ms=5000"},
	}}
}

func (c *Control) wait(r *request) (nothing, error) {
	ctx, cancel := context.WithTimeout(r.Context(), time.Duration(r.query.number("timeout_ms"))*time.Millisecond)
	defer cancel()
	wait := c.Wait
	if r.query["drain"] == "true" {
		wait = c.Drain
	}
	if err := wait(ctx); err != nil {
		return nothing{}, problem.New(http.StatusGatewayTimeout, "timeout", strings.TrimPrefix(err.Error(), "mockserver: "))
	}
	return nothing{}, nil
}
