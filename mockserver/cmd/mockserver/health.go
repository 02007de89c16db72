package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

const healthUsage = `Checks whether the server on this machine is healthy, and fails if it is not. It is for container health checks.

  mockserver health

`

// health returns an error unless the server is healthy. While a server loads its state,
// it does not respond and is therefore not healthy.
func health(ctx context.Context, args []string, out io.Writer) error {
	var addr string
	flags := newFlags("mockserver health", healthUsage, out)
	addrFlag(flags, &addr, "`address` that the server listens on")
	timeout := 2 * time.Second
	flags.Func("timeout", "maximum `duration` of the request (default 2s)", positive(&timeout, time.ParseDuration, "2s"))
	if err := flags.parseAll(args); err != nil {
		return usageError{err}
	}
	base := "http://" + reachable(addr, "127.0.0.1", "::1") // not localhost, which a container may be unable to resolve
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(within, http.MethodGet, base+"/_mock/health", nil)
	if err != nil {
		return usageError{about("addr", fmt.Errorf("must have the form host:port, got %q", addr))}
	}
	response, err := new(http.Transport).RoundTrip(req) // no proxy, no redirect
	if err != nil {
		if within.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("%s did not respond within %v: %w", base, timeout, err)
		}
		return err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return err
	}
	if text := strings.TrimSpace(string(body)); response.StatusCode != http.StatusOK || !strings.Contains(text, `"ok"`) {
		return fmt.Errorf("%s is not healthy: %s %s", base, printable(response.Status), printable(text))
	}
	_, err = fmt.Fprintln(out, base, "is healthy")
	return err
}
