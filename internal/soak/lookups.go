package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// cancelledLookups has many wait for their turn and most of them give up. The
// others must be served at the pace of the platform, as if nobody else had
// been there, and none of them refused.
func cancelledLookups(ctx context.Context, long bool) (result, error) {
	cancelled, served := 1000, 12
	if long {
		cancelled, served = 20_000, 600
	}
	before := settled()
	srv := mockserver.Start(mockserver.Config{SkipValidation: true})
	defer srv.Close()
	c, err := client.New(client.Config{BaseURL: srv.URL(), Token: srv.Token()})
	if err != nil {
		return result{}, err
	}
	email, err := c.Emails.Send(ctx, client.EmailSubmission{
		Email: "ann@example.com", Sender: client.Sender{Name: "S", Email: "s@example.com"}, Content: client.EmailContent{Subject: "S", Text: "T"},
	})
	if err != nil {
		return result{}, err
	}
	r := result{tried: fmt.Sprintf("%d cancelled among %d that were served", cancelled, served)}
	start := time.Now()
	r.lost = lookUp(ctx, c, email.ID, cancelled, served)
	took := time.Since(start)
	if most := time.Duration(served)*1200*time.Millisecond + time.Second; took > most {
		r.lost = append(r.lost, fmt.Sprintf("time: %v for %d lookups, want at most %v", took, served, most))
	}
	for _, seen := range srv.Requests() {
		if seen.Status == http.StatusTooManyRequests {
			r.lost = append(r.lost, "a turn: the platform refused a lookup")
		}
	}
	srv.Close()
	after := settled()
	r.memory, r.lost = after.since(before), append(r.lost, after.leaks(before)...)
	return r, nil
}

// lookUp returns what did not end as it should.
func lookUp(ctx context.Context, c *client.Client, id string, cancelled, served int) (lost []string) {
	var mu sync.Mutex
	lose := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		lost = append(lost, fmt.Sprintf(format, args...))
	}
	givesUp, giveUp := context.WithCancel(ctx)
	defer giveUp()
	var all, gone sync.WaitGroup
	for i := range cancelled + served {
		if i%((cancelled+served)/served) != 0 {
			gone.Go(func() {
				if _, err := c.Emails.Get(givesUp, id); err != nil && !errors.Is(err, context.Canceled) {
					lose("a lookup to be cancelled: %v", err)
				}
			})
			continue
		}
		all.Go(func() {
			if _, err := c.Emails.Get(ctx, id); err != nil {
				lose("a lookup: %v", err)
			}
		})
	}
	time.Sleep(100 * time.Millisecond) // until all have queued up
	giveUp()
	start := time.Now()
	gone.Wait()
	if took := time.Since(start); took > time.Second {
		lose("time: those who gave up left only after %v", took)
	}
	all.Wait()
	return lost
}
