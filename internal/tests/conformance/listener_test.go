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
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/probe"
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
	t testing.TB

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
	if value, err := probe.Parse(string(raw)); err == nil {
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
func (f *fixture) listen(events ...string) string {
	f.Helper()
	return f.listenWith("", events...)
}

// listenWith is listen with further fields such as `,"rate_limit":1`.
func (f *fixture) listenWith(more string, events ...string) string {
	f.Helper()
	if len(events) == 0 {
		events = eventNames()
	}
	f.receiver.mu.Lock()
	path := fmt.Sprintf("/%d", len(f.receiver.secrets)+1)
	f.receiver.secrets[path] = ""
	f.receiver.mu.Unlock()
	created := f.Post("/webhooks", fmt.Sprintf(`{"url":"http://hook.test%s","events":%s%s}`, path, probe.Show(events), more)).OK()
	f.receiver.mu.Lock()
	for other, secret := range f.receiver.secrets {
		assert.NotEqual(f, secret, created.Text("secret"), "the same secret as "+other)
	}
	f.receiver.secrets[path] = created.Text("secret")
	f.receiver.mu.Unlock()
	return created.Text("webhook_id")
}

// deliveries waits for all deliveries and returns those since the last call.
func (f *fixture) deliveries() []delivery {
	f.Helper()
	require.NoError(f, f.Wait(f.Context()))
	return f.receiver.drain()
}

// fires waits for all deliveries and checks that exactly these events were delivered since the last call.
func (f *fixture) fires(names ...string) []delivery {
	f.Helper()
	got := f.deliveries()
	out := make([]delivery, 0, len(names))
	for _, name := range names {
		i := slices.IndexFunc(got, func(d delivery) bool { return d.event == name })
		if i < 0 {
			f.Fatalf("%s did not fire", name)
		}
		out = append(out, got[i])
		got = slices.Delete(got, i, i+1)
	}
	for _, d := range got {
		f.Errorf("%s fired unexpectedly: %s", d.event, d.raw)
	}
	return out
}

// matches compares a value with a pattern.
func (f *fixture) matches(what string, got any, pattern string) {
	f.Helper()
	for _, m := range probe.Mismatches(got, pattern) {
		f.Errorf("%s: %s", what, m)
	}
}
