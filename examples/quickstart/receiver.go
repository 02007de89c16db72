package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// receiver receives deliveries and keeps the events. It listens before the
// webhook exists, and gets the webhook's secret afterwards. Until then it
// responds with 503, and the platform retries.
type receiver struct {
	server  *httptest.Server
	url     string        // where the platform reaches it
	arrived chan struct{} // holds a value after an event has come

	mu      sync.Mutex
	handler http.Handler
	events  []*events.Event
}

// startReceiver returns a receiver that the platform reaches at url, or at the
// receiver's own loopback address if url is empty. httptest chooses a free port,
// and uses IPv6 on a machine that has no IPv4.
func startReceiver(url string) *receiver {
	r := &receiver{url: url, arrived: make(chan struct{}, 1)}
	r.server = httptest.NewServer(r)
	if url == "" {
		r.url = r.server.URL + "/events"
	}
	return r
}

func (r *receiver) close() { r.server.Close() }

// trust sets the secret that verifies deliveries.
func (r *receiver) trust(secret string) error {
	parsed, err := webhook.ParseSecret(secret, "")
	if err != nil {
		return err
	}
	verifier, err := webhook.NewVerifier(parsed)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handler = webhook.NewHandler(verifier, r.keep, webhook.Options{})
	return nil
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	handler := r.handler
	r.mu.Unlock()
	if handler == nil {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "not ready", http.StatusServiceUnavailable)
		return
	}
	handler.ServeHTTP(w, req)
}

// keep is called once for every event, after its signature was verified.
func (r *receiver) keep(_ context.Context, ev *events.Event) error {
	r.mu.Lock()
	r.events = append(r.events, ev)
	r.mu.Unlock()
	select {
	case r.arrived <- struct{}{}:
	default:
	}
	return nil
}

// received returns the events so far, in the order of their arrival.
func (r *receiver) received() []*events.Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]*events.Event(nil), r.events...)
}

// await returns when an event of that name has come, or says that none came in
// time.
func (r *receiver) await(ctx context.Context, name events.Name, limit time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		for _, ev := range r.received() {
			if ev.Name == name {
				return true
			}
		}
		select {
		case <-r.arrived:
		case <-ctx.Done():
			return false
		}
	}
}
