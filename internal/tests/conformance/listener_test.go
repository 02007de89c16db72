package conformance_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"io"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// delivery is a delivery that the receiver got.
type delivery struct {
	at     time.Time
	path   string // path of the webhook's URL
	event  string
	header http.Header
	raw    []byte
	body   map[string]any
}

// listener receives the deliveries of all webhooks, and checks the method, the content type and the signature.
type listener struct {
	t *testing.T

	mu       sync.Mutex
	secrets  map[string]string // by path
	got      []delivery
	hash     func() hash.Hash                              // SHA-256 if nil
	handle   func(http.ResponseWriter, *http.Request, int) // if non-nil; the number counts from 1
	received int
}

func (r *listener) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	raw, err := io.ReadAll(req.Body)
	assert.NoError(r.t, err, "reading a delivery")
	d := delivery{at: time.Now(), path: req.URL.Path, header: req.Header, raw: raw}
	if value, err := parse(raw); err == nil {
		d.body, _ = value.(map[string]any)
		d.event, _ = d.body["event"].(string)
	}
	r.check(req, d)
	r.mu.Lock()
	r.got = append(r.got, d)
	r.received++
	handle, n := r.handle, r.received
	r.mu.Unlock()
	if handle != nil {
		handle(w, req, n)
	}
}

func (r *listener) check(req *http.Request, d delivery) {
	if req.Method != http.MethodPost || req.Header.Get("Content-Type") != "application/json" || d.event == "" {
		r.t.Errorf("not a delivery: %s %s %s: %s", req.Method, req.URL, req.Header.Get("Content-Type"), d.raw)
	}
	r.mu.Lock()
	secret, known := r.secrets[d.path]
	newHash := r.hash
	r.mu.Unlock()
	if newHash == nil {
		newHash = sha256.New
	}
	mac := hmac.New(newHash, []byte(secret))
	mac.Write(d.raw)
	if sum := base64.StdEncoding.EncodeToString(mac.Sum(nil)); known && req.Header.Get("X-Service-Signature") != sum {
		r.t.Errorf("%s: the signature is %q, want %q", d.event, req.Header.Get("X-Service-Signature"), sum)
	}
}

func (r *listener) respond(handle func(http.ResponseWriter, *http.Request, int)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handle, r.received = handle, 0
}

// drain returns the deliveries since the last call.
func (r *listener) drain() []delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.got
	r.got = nil
	return got
}

// listen creates a webhook for these events, or for all, and returns its id.
func (l *fixture) listen(events ...string) string {
	l.Helper()
	return l.listenWith("", events...)
}

// listenWith is listen with further fields such as `,"rate_limit":1`.
func (l *fixture) listenWith(more string, events ...string) string {
	l.Helper()
	if len(events) == 0 {
		events = eventNames()
	}
	l.receiver.mu.Lock()
	path := fmt.Sprintf("/%d", len(l.receiver.secrets)+1)
	l.receiver.secrets[path] = ""
	l.receiver.mu.Unlock()
	created := l.post("/webhooks", fmt.Sprintf(`{"url":"http://hook.test%s","events":%s%s}`, path, show(events), more)).ok()
	l.receiver.mu.Lock()
	for other, secret := range l.receiver.secrets {
		want(l, "the same secret as "+other, secret == created.text("secret"), false)
	}
	l.receiver.secrets[path] = created.text("secret")
	l.receiver.mu.Unlock()
	return created.text("webhook_id")
}

// deliveries waits for all deliveries and returns those since the last call.
func (l *fixture) deliveries() []delivery {
	l.Helper()
	l.must(l.srv.Wait(l.Context()))
	return l.receiver.drain()
}

// fires waits for all deliveries and checks that exactly these events were delivered since the last call.
func (l *fixture) fires(names ...string) []delivery {
	l.Helper()
	got := l.deliveries()
	out := make([]delivery, 0, len(names))
	for _, name := range names {
		i := slices.IndexFunc(got, func(d delivery) bool { return d.event == name })
		if i < 0 {
			l.Fatalf("%s did not fire", name)
		}
		out = append(out, got[i])
		got = slices.Delete(got, i, i+1)
	}
	for _, d := range got {
		l.Errorf("%s fired unexpectedly: %s", d.event, d.raw)
	}
	return out
}

// matches compares a value with a pattern.
func (l *fixture) matches(what string, got any, pattern string) {
	l.Helper()
	for _, m := range mismatches(got, pattern) {
		l.Errorf("%s: %s", what, m)
	}
}
