package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"example.com/emailplatform/client"
)

const (
	lookupCount   = 20
	lookupWorkers = 8
)

// strictPlatform takes one lookup a second, counted from the arrival of the
// last one that it took, and refuses what comes sooner. The way to it takes up
// to 20 ms.
type strictPlatform struct {
	mu       sync.Mutex
	last     time.Time
	gaps     []time.Duration
	refusals int
}

func (s *strictPlatform) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	time.Sleep(rand.N(20 * time.Millisecond)) //nolint:gosec // nobody gains by guessing it
	if !s.take(time.Now()) {
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, `{"id":"e1","email":"ann@example.com","status":"delivered"}`)
}

func (s *strictPlatform) take(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.last.IsZero() {
		gap := now.Sub(s.last)
		s.gaps = append(s.gaps, gap)
		if gap < time.Second {
			s.refusals++
			return false
		}
	}
	s.last = now
	return true
}

// compareLookups lets all contenders look up at the same time, each at a
// platform of its own.
func compareLookups(ctx context.Context, out *report) error {
	a := newArena(ctx)
	defer a.close()
	contenders := []struct {
		name   string
		lookup func(url string) (func(context.Context) error, error)
	}{
		{"this SDK", ourLookup},
		{"rate.NewLimiter(1, 1), and again after a 429", limitedLookup(rate.NewLimiter(1, 1))},
		{"no limiter, and again after a 429", limitedLookup(rate.NewLimiter(rate.Inf, 1))},
	}
	platforms := make([]strictPlatform, len(contenders))
	took := make([]time.Duration, len(contenders))
	group, ctx := errgroup.WithContext(ctx)
	for i, c := range contenders {
		lookup, err := c.lookup(a.serve(&platforms[i]).URL)
		if err != nil {
			return err
		}
		group.Go(func() error {
			start := time.Now()
			err := parallel(ctx, lookupWorkers, lookupCount, func() func(int) error {
				return func(int) error { return lookup(ctx) }
			})
			took[i] = time.Since(start)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	fmt.Fprintf(out, "lookups: %d by %d goroutines, at a platform that refuses what comes within 1 s (measured there)\n", lookupCount, lookupWorkers)
	for i, c := range contenders {
		p := &platforms[i]
		shortest := time.Hour
		for _, gap := range p.gaps {
			shortest = min(shortest, gap)
		}
		fmt.Fprintf(out, "  %-45s %2d refused, shortest gap %5.3f s, %5.3f s a lookup\n", c.name, p.refusals, shortest.Seconds(), took[i].Seconds()/(lookupCount-1))
	}
	fmt.Fprintln(out)
	return nil
}

func ourLookup(url string) (func(context.Context) error, error) {
	c, err := client.New(client.Config{BaseURL: url, Token: "t"})
	return func(ctx context.Context) error {
		_, err := c.Emails.Get(ctx, "e1")
		return err
	}, err
}

var errLookup = errors.New("the lookup failed")

// limitedLookup is what one writes with x/time/rate.
func limitedLookup(limiter *rate.Limiter) func(string) (func(context.Context) error, error) {
	return func(url string) (func(context.Context) error, error) {
		return func(ctx context.Context) error {
			for {
				if err := limiter.Wait(ctx); err != nil {
					return err
				}
				req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/v2/emails/e1", http.NoBody)
				if err != nil {
					return err
				}
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					return err
				}
				_ = resp.Body.Close()
				switch resp.StatusCode {
				case http.StatusOK:
					return nil
				case http.StatusTooManyRequests:
					seconds, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
					time.Sleep(time.Duration(seconds) * time.Second)
				default:
					return errLookup
				}
			}
		}, nil
	}
}
