package probe

import (
	"io"
	"net/http"
	"sync"
	"time"

	"example.com/emailplatform/webhook"
)

// Receiver records deliveries with their times.
type Receiver struct {
	Status func(n int) int // status code of the nth response, from 0; 200 if nil

	mu         sync.Mutex
	Times      []time.Time
	Bodies     []string
	Signatures []string
}

func (h *Receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	h.mu.Lock()
	n := len(h.Times)
	h.Times = append(h.Times, time.Now())
	h.Bodies = append(h.Bodies, string(body))
	h.Signatures = append(h.Signatures, r.Header.Get(webhook.DefaultSignatureHeader))
	h.mu.Unlock()
	if h.Status != nil {
		w.WriteHeader(h.Status(n))
	}
}

// Targets returns the receiver as the target of [Probe.Webhook].
func (h *Receiver) Targets() map[string]http.Handler { return map[string]http.Handler{"app.test": h} }

// Since returns the times of the deliveries, relative to start.
func (h *Receiver) Since(start time.Time) []time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []time.Duration
	for _, t := range h.Times {
		out = append(out, t.Sub(start))
	}
	return out
}
