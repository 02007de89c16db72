package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

// lives lets platforms, clients and receivers live their lives one after
// another, and looks at what stays behind.
func lives(ctx context.Context, long bool) (result, error) {
	n := 20
	if long {
		n = 5000
	}
	var first footprint
	var lost []string
	for i := range n {
		loss, err := life(ctx, uint64(i)+1)
		if err != nil {
			return result{}, err
		}
		lost = append(lost, loss...)
		if i == 1 { // what is made once has been made
			first = settled()
		}
	}
	last := settled()
	return result{
		tried:  fmt.Sprintf("%d times %d contacts, over sockets, with faults", n, perLife),
		lost:   append(lost, last.leaks(first)...),
		memory: last.since(first),
	}, nil
}

const perLife = 2000

// life imports contacts while connections are lost, delivers an event for each
// to a receiver that fails now and then, and reads them all again.
func life(ctx context.Context, seed uint64) (lost []string, err error) {
	srv := mockserver.Start(mockserver.Config{
		SkipValidation: true, FaultSeed: seed, RetrySchedule: slices.Repeat([]time.Duration{5 * time.Millisecond}, 100),
	})
	defer srv.Close()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	cfg := client.Config{
		BaseURL: srv.URL(), Token: srv.Token(), HTTPClient: &http.Client{Transport: transport},
		Retry: client.RetryConfig{BaseDelay: time.Millisecond, MaxDelay: 5 * time.Millisecond},
	}
	c, err := client.New(cfg)
	if err != nil {
		return nil, err
	}
	cfg.Retry.MaxAttempts, cfg.Retry.Budget = 20, -1 // faults of chance do not end the reading
	patient, err := client.New(cfg)
	if err != nil {
		return nil, err
	}
	rec := &receiver{handled: map[string]int{}}
	if err := rec.listen(ctx, c); err != nil {
		return nil, err
	}
	defer rec.Close()
	list, err := c.Lists.Create(ctx, client.ListCreate{Name: "L"})
	if err != nil {
		return nil, err
	}
	if err := srv.Inject(
		mockserver.Fault{Operation: "importContacts", Probability: 0.3, Action: mockserver.FaultReset, AfterActing: true},
		mockserver.Fault{Operation: "listContacts", Probability: 0.1, Action: mockserver.FaultStatus, Status: 502},
	); err != nil {
		return nil, err
	}
	if err := importAll(ctx, c, list.ListID); err != nil {
		return nil, err
	}
	lost = append(lost, readAll(ctx, patient, list.ListID)...)
	if err := srv.Drain(ctx); err != nil {
		return nil, err
	}
	return append(lost, rec.losses()...), nil
}

// importAll starts again where the import before broke off.
func importAll(ctx context.Context, c *client.Client, listID int64) error {
	contacts := make([]client.ImportContact, perLife)
	for i := range contacts {
		contacts[i].Email = fmt.Sprintf("c%d@example.com", i)
	}
	var skip int64
	for range 1000 {
		report, err := c.Contacts.Import(ctx, listID, client.ContactsFromSlice(contacts), client.ImportOptions{BatchSize: 100, Concurrency: 4, Skip: skip})
		if err == nil || ctx.Err() != nil {
			return err
		}
		skip = report.Confirmed
	}
	return errors.New("the import does not come to its end")
}

// readAll reads all contacts, after leaving off in the middle once.
func readAll(ctx context.Context, c *client.Client, listID int64) (lost []string) {
	all := c.Contacts.All(ctx, listID, client.ListContactsParams{PerPage: 100}, client.Prefetch(3))
	left := 0
	for _, err := range all {
		if left++; err != nil || left == perLife/2 {
			break
		}
	}
	seen := map[string]int{}
	for contact, err := range all {
		if err != nil {
			return []string{fmt.Sprintf("iterating: %v after %d contacts", err, len(seen))}
		}
		seen[contact.Email]++
	}
	for email, n := range seen {
		if n != 1 {
			lost = append(lost, fmt.Sprintf("contact %s came %d times", email, n))
		}
	}
	if len(seen) != perLife {
		lost = append(lost, fmt.Sprintf("%d of %d contacts", perLife-len(seen), perLife))
	}
	return lost
}

// receiver handles each added contact once, after failing one time in ten.
type receiver struct {
	*httptest.Server
	calls   atomic.Int64
	mu      sync.Mutex
	handled map[string]int // by address
}

// listen subscribes to the platform's events.
func (r *receiver) listen(ctx context.Context, c *client.Client) error {
	var handler atomic.Pointer[http.Handler]
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { (*handler.Load()).ServeHTTP(w, req) }))
	hook, err := c.Webhooks.Create(ctx, client.WebhookCreate{URL: r.URL, Events: []client.EventName{client.EventName(events.NameContactAdded)}})
	if err != nil {
		return err
	}
	verifier, err := webhook.NewVerifier(webhook.Secret{Key: hook.Secret.Reveal()})
	if err != nil {
		return err
	}
	h := webhook.NewHandler(verifier, r.handle, webhook.Options{Logger: slog.New(slog.DiscardHandler)})
	handler.Store(&h)
	return nil
}

func (r *receiver) handle(_ context.Context, ev *events.Event) error {
	if r.calls.Add(1)%10 == 0 {
		return errors.New("not now")
	}
	address := ev.Recipient()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handled[address]++
	return nil
}

func (r *receiver) losses() (lost []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for address, n := range r.handled {
		if n != 1 {
			lost = append(lost, fmt.Sprintf("the event of %s was handled %d times", address, n))
		}
	}
	if len(r.handled) != perLife {
		lost = append(lost, fmt.Sprintf("%d of %d events", perLife-len(r.handled), perLife))
	}
	return lost
}
