package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.com/emailplatform/internal/tools/must"
	"example.com/emailplatform/webhook"
)

const (
	senders  = 16
	redelive = 20 * time.Millisecond // shorter than the platform's intervals, which start at one second
)

// delivery delivers events and, like the platform, retries each event until it is handled.
type delivery struct {
	run    string     // prefix of all ids
	events int        // number of events
	to     []*process // the replicas; each attempt selects one at random
	twice  bool       // delivers each fourth event in two concurrent requests
	secret webhook.Secret
	client *http.Client

	next  atomic.Int64
	done  atomic.Int64
	mu    sync.Mutex
	took  []time.Duration // durations of successful attempts
	again atomic.Int64    // number of failed attempts
}

func newDelivery(run string, events int, to []*process) *delivery {
	t := &http.Transport{MaxIdleConnsPerHost: 2 * senders}
	return &delivery{
		run: run, events: events, to: to, secret: must.Get(webhook.ParseSecret(secret, "")),
		client: &http.Client{Transport: t, Timeout: 10 * time.Second},
	}
}

func (d *delivery) id(n int64) string { return fmt.Sprintf("%s-%07d", d.run, n) }

// all returns when every event is handled, or after the first error. It calls progress with the number of handled events.
func (d *delivery) all(ctx context.Context, progress func(done int) error) error {
	defer d.client.CloseIdleConnections()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	for range senders {
		wg.Go(func() {
			for n := d.next.Add(1); n <= int64(d.events); n = d.next.Add(1) {
				err := d.event(ctx, n)
				if err == nil && progress != nil {
					err = progress(int(d.done.Add(1)))
				}
				if err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

func (d *delivery) event(ctx context.Context, n int64) error {
	body := fmt.Appendf(nil, `{"id":"%s","event":"SuppressedEmail.Added","created_on":1700000000,"data":{"suppressedEmail":{"email":"a@example.com"}}}`, d.id(n))
	if !d.twice || n%4 != 0 {
		return d.until(ctx, body)
	}
	other := make(chan error, 1)
	go func() { other <- d.until(ctx, body) }()
	if err := d.until(ctx, body); err != nil {
		return err
	}
	return <-other
}

// until delivers one event until it is handled.
func (d *delivery) until(ctx context.Context, body []byte) error {
	for {
		start := time.Now()
		status := d.attempt(ctx, body)
		if status == http.StatusNoContent {
			took := time.Since(start)
			d.mu.Lock()
			d.took = append(d.took, took)
			d.mu.Unlock()
			return nil
		}
		d.again.Add(1)
		select {
		case <-time.After(redelive):
		case <-ctx.Done():
			return fmt.Errorf("still not handled, the last response was %d: %w", status, ctx.Err())
		}
	}
}

// attempt returns the status code, or 0 if there was no response.
func (d *delivery) attempt(ctx context.Context, body []byte) int {
	to := d.to[rand.N(len(d.to))] //nolint:gosec // not a secret
	resp, err := d.client.Do(must.Get(webhook.NewRequest(ctx, "http://"+to.with.Addr+"/hook", d.secret, body)))
	if err != nil {
		return 0
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp.StatusCode
}

// percentile returns a percentile of the durations. It must be called only after all events have been handled.
func (d *delivery) percentile(p float64) time.Duration {
	slices.Sort(d.took)
	return d.took[min(int(p*float64(len(d.took))), len(d.took)-1)]
}

// countIDs counts how often each id of the run occurs in the lines of a file.
func countIDs(text []byte, run string) (ids map[string]int) {
	ids = map[string]int{}
	for line := range bytes.Lines(text) {
		if id := string(bytes.TrimSpace(line)); len(id) == len(run)+8 && id[:len(run)] == run {
			ids[id]++
		}
	}
	return ids
}
