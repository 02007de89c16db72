package client

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// withoutRedirects returns a copy of h that does not follow redirects, because
// a redirect could send a token or a body to another host.
func withoutRedirects(h *http.Client) *http.Client {
	c := *h
	c.Transport = hidesLocation{h.Transport}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// hidesLocation hides the Location header from http.Client, because the error of
// http.Client for an invalid Location would contain it.
type hidesLocation struct{ http.RoundTripper }

// hiddenLocation is not a valid header field name, so no server can send it.
const hiddenLocation = "\x00Location"

func (h hidesLocation) RoundTrip(r *http.Request) (*http.Response, error) {
	t := h.RoundTripper
	if t == nil {
		t = http.DefaultTransport
	}
	resp, err := t.RoundTrip(r)
	if err == nil && resp != nil && resp.StatusCode/100 == 3 { // http.Client returns an error if both are nil
		renameHeader(resp.Header, "Location", hiddenLocation)
	}
	return resp, err
}

func renameHeader(h http.Header, from, to string) {
	if v, ok := h[from]; ok {
		delete(h, from)
		h[to] = v
	}
}

type sender struct {
	base      string
	http      *http.Client
	timeout   time.Duration
	limit     int64
	userAgent string
	major     atomic.Int64 // HTTP version of the last response; 0 before the first
	buffers   sync.Pool    // contains *bytes.Buffer, for responses
}

func newSender(cfg Config, base string) *sender {
	return &sender{
		base: base, http: withoutRedirects(cfg.HTTPClient), timeout: cfg.Timeout, limit: cfg.MaxResponseBytes,
		userAgent: cfg.UserAgent, buffers: sync.Pool{New: func() any { return new(bytes.Buffer) }},
	}
}

func (s *sender) send(ctx context.Context, c *call) error {
	limited, cancel := timeoutContext(ctx, s.timeout)
	defer cancel()
	g := &resendGuard{stop: cancel}
	major := s.major.Load()
	req, err := s.newRequest(g.watch(limited, major == 1), c)
	if err != nil {
		return err
	}
	if major > 1 || major == 0 && req.URL.Scheme == "https" { // most likely HTTP/2
		req.GetBody = nil // net/http uses it to send the body again over HTTP/1; see resendGuard
	}
	c.attempts++
	c.status, c.requestID, c.ignoredValue = 0, "", nil
	started := time.Now()
	resp, err := s.http.Do(req)
	if err != nil {
		if g.h2.Load() {
			s.major.Store(2)
		}
		e := c.newError(g.reason(withoutURL(err)))
		e.result = g.result(err)
		if errors.Is(limited.Err(), context.DeadlineExceeded) && ctx.Err() == nil {
			e.note = fmt.Sprintf("no response within %v", s.timeout)
		}
		return e
	}
	defer resp.Body.Close() //nolint:errcheck // the body was read
	renameHeader(resp.Header, hiddenLocation, "Location")
	s.major.Store(int64(resp.ProtoMajor))
	b := s.buffers.Get().(*bytes.Buffer)
	defer s.recycle(b)
	err = s.read(b, resp)
	callResponseHook(ctx, c, resp, b.Bytes(), time.Since(started))
	return c.handleResponse(resp, b.Bytes(), err)
}

func (s *sender) recycle(b *bytes.Buffer) {
	if b.Cap() <= maxRecycled {
		b.Reset()
		s.buffers.Put(b)
	}
}

func (s *sender) newRequest(ctx context.Context, c *call) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, c.method, s.base+c.requestURI(), nil)
	if err != nil {
		return nil, err
	}
	// One slice for all header values saves allocations.
	v := []string{"application/json", "application/json", s.userAgent, "Bearer " + c.token}
	if c.html {
		v[1] = "text/html"
	}
	c.options.addTo(req.Header)
	req.Header["Accept"], req.Header["User-Agent"], req.Header["Authorization"] = v[1:2:2], v[2:3:3], v[3:4:4]
	if c.payload == nil {
		return req, nil
	}
	req.Header["Content-Type"] = v[0:1:1]
	return req, c.payload.give(req)
}

// read returns an error if the body is incomplete or too large.
func (s *sender) read(b *bytes.Buffer, resp *http.Response) error {
	if resp.StatusCode < 200 {
		return nil // the body is the connection, which does not end
	}
	if resp.ContentLength > s.limit {
		return fmt.Errorf("%w: limit %d bytes", errResponseTooLarge, s.limit)
	}
	err := s.readLimited(b, resp.Body)
	if err == nil && bytes.HasPrefix(b.Bytes(), []byte("\x1f\x8b")) {
		err = s.decompress(b)
	}
	return err
}

// decompress replaces gzip-compressed contents of b with the uncompressed contents. Two
// kinds of transports do not decompress a response: transports with disabled compression,
// and transports that set Accept-Encoding.
func (s *sender) decompress(b *bytes.Buffer) error {
	r, err := gzip.NewReader(bytes.NewReader(bytes.Clone(b.Bytes())))
	if err != nil {
		return err
	}
	b.Reset()
	return s.readLimited(b, r)
}

func (s *sender) readLimited(b *bytes.Buffer, r io.Reader) error {
	n, err := b.ReadFrom(io.LimitReader(r, s.limit+1))
	if err == nil && n > s.limit {
		err = fmt.Errorf("%w: limit %d bytes", errResponseTooLarge, s.limit)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("truncated after %d bytes: %w", n, err)
	}
	return err
}

// withoutURL returns the cause of a *url.Error, because [Error] already
// contains the URL.
func withoutURL(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return u.Err
	}
	return err
}
