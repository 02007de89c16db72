package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"golang.org/x/sync/errgroup"
)

// serve listens on a loopback port until the arena is closed.
func (a *arena) serve(h http.Handler) *httptest.Server {
	srv := httptest.NewServer(h)
	srv.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = connections
	a.cleanup = append(a.cleanup, srv.Close)
	return srv
}

// slow answers after a pause, as a platform does that is not on this machine.
func slow(pause time.Duration, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(pause)
		h.ServeHTTP(w, r)
	})
}

// call sends a request and drops the answer.
func call(c *http.Client, req *http.Request) error {
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s", req.Method, req.URL, resp.Status)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// parallel does n things, some at a time. Each worker makes its own do.
func parallel(ctx context.Context, workers, n int, worker func() (do func(i int) error)) error {
	group, ctx := errgroup.WithContext(ctx)
	numbers := make(chan int)
	for range workers {
		group.Go(func() error {
			do := worker()
			for i := range numbers {
				if err := do(i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for i := range n {
		select {
		case numbers <- i:
		case <-ctx.Done():
		}
	}
	close(numbers)
	return group.Wait()
}
