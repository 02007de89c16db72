package control

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/mockserver/internal/problem"
)

// wait waits for at most a minute: whoever wants more asks again.
func (c *Control) wait(r *http.Request) (any, error) {
	limit := 10 * time.Second
	if text := r.URL.Query().Get("timeout_ms"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 60_000 {
			return nil, problem.Invalid("want 1 to 60000", "query", "timeout_ms")
		}
		limit = time.Duration(n) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	wait := c.Wait
	if r.URL.Query().Get("drain") == "true" {
		wait = c.Drain
	}
	if err := wait(ctx); err != nil {
		return nil, problem.New(http.StatusGatewayTimeout, "timeout", strings.TrimPrefix(err.Error(), "mockserver: "))
	}
	return nil, nil
}
