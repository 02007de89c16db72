package simulation

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"sync"
	"time"
)

// outlet is where requests leave a process: each at an instant of its own, and not
// while the process stands still.
type outlet struct {
	c   *caller
	way *http.Transport
}

// try is a request of a call, as the process's own transport saw it.
type try struct {
	connected bool
	status    int // of an answer that came whole
}

// RoundTrip implements [http.RoundTripper].
func (o *outlet) RoundTrip(r *http.Request) (*http.Response, error) {
	c := o.c
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body) // of memory
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	name := c.nameOf(fingerprint(r, body))
	c.proc.ready(name)
	time.Sleep(c.w.chance.brief(name))
	if isImport(r) {
		c.checkImport(body)
	}
	c.w.record.leaves(fingerprint(r, body))
	d, _ := r.Context().Value(callKey{}).(*call)
	t := try{connected: r.Context().Err() != nil} // then nobody can know that there was no connection
	ctx := httptrace.WithClientTrace(r.Context(), &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { t.connected = true }})
	resp, err := o.way.RoundTrip(r.WithContext(ctx))
	time.Sleep(c.w.chance.brief(name + " back"))
	if err != nil {
		d.note(t)
		return nil, err
	}
	resp.Body = &inlet{ReadCloser: resp.Body, broken: c.w.chance.brief(name + " broken"), done: sync.OnceFunc(func() { d.note(t) }), whole: func() {
		t.status = resp.StatusCode
		c.w.record.hears(resp.Header.Get(visitHeader))
	}}
	return resp, nil
}

// nameOf names a request that leaves to chance.
func (c *caller) nameOf(request uint64) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sent[request]++
	return fmt.Sprintf("outlet %s %x %d", c.proc.name, request, c.sent[request])
}

// note keeps what came of a request.
func (d *call) note(t try) {
	if d == nil { // of an import
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tries = append(d.tries, t)
}

// inlet is the body of an answer on its way in.
type inlet struct {
	io.ReadCloser

	broken time.Duration // how much later a failure is seen
	whole  func()
	done   func() // does nothing the second time
}

func (i *inlet) Read(b []byte) (int, error) {
	n, err := i.ReadCloser.Read(b)
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		i.whole()
		i.done()
	default:
		time.Sleep(i.broken)
		i.done()
	}
	return n, err
}

// Close implements [io.Closer].
func (i *inlet) Close() error {
	i.done()
	return i.ReadCloser.Close()
}

func isLookup(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/v2/emails/")
}

func isImport(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/contacts/import")
}
