package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// withoutRedirects returns a copy of h that hands redirects out as answers:
// following one could send a token or a body to another host.
func withoutRedirects(h *http.Client) *http.Client {
	c := *h
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &c
}

// sender is the innermost layer: it builds, sends and reads.
type sender struct {
	base      string
	http      *http.Client
	timeout   time.Duration
	limit     int64
	userAgent string
	buffers   sync.Pool // of *bytes.Buffer, for answers
}

func (s *sender) send(ctx context.Context, c *call) error {
	var conn connTrace
	attempt, cancel := conn.watch(ctx), context.CancelFunc(func() {})
	if s.timeout > 0 {
		attempt, cancel = context.WithTimeout(attempt, s.timeout)
	}
	defer cancel()
	req, err := s.newRequest(attempt, c)
	if err != nil {
		return err
	}
	c.attempts++
	c.status, c.requestID = 0, ""
	started := time.Now()
	resp, err := s.http.Do(req)
	if err != nil {
		e := c.newError(withoutURL(err))
		e.reached = conn.mayHaveSent(err)
		if attempt.Err() != nil && ctx.Err() == nil {
			e.note = fmt.Sprintf("no answer within %v", s.timeout)
		}
		return e
	}
	defer resp.Body.Close() //nolint:errcheck // there is nothing left to lose
	b := s.buffers.Get().(*bytes.Buffer)
	defer s.recycle(b)
	err = s.read(b, resp)
	report(ctx, c, resp, b.Bytes(), time.Since(started))
	return c.take(resp, b.Bytes(), err)
}

// maxRecycled is how large a buffer may be to be used again.
const maxRecycled = 1 << 20

func (s *sender) recycle(b *bytes.Buffer) {
	if b.Cap() <= maxRecycled {
		b.Reset()
		s.buffers.Put(b)
	}
}

func (s *sender) newRequest(ctx context.Context, c *call) (*http.Request, error) {
	address := s.base + c.path
	if c.query != "" {
		address += "?" + c.query
	}
	var body io.Reader
	if c.payload != nil {
		body = bytes.NewReader(c.payload) // of which net/http can make a fresh one (GetBody)
	}
	req, err := http.NewRequestWithContext(ctx, c.method, address, body)
	if err != nil {
		return nil, err
	}
	if c.payload != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	req.Header.Set("Accept", "application/json")
	if c.html {
		req.Header.Set("Accept", "text/html")
	}
	req.Header.Set("User-Agent", s.userAgent)
	req.Header.Set("Authorization", "Bearer "+c.token)
	return req, nil
}

// read reads the whole body into b, or what there is of it and returns why it
// is not whole.
func (s *sender) read(b *bytes.Buffer, resp *http.Response) error {
	if resp.ContentLength > s.limit {
		return fmt.Errorf("%w of %d bytes", errTooLargeAnswer, s.limit)
	}
	n, err := b.ReadFrom(io.LimitReader(resp.Body, s.limit+1))
	if err == nil && n > s.limit {
		err = fmt.Errorf("%w of %d bytes", errTooLargeAnswer, s.limit)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = fmt.Errorf("truncated after %d bytes: %w", n, err)
	}
	return err
}

// withoutURL takes off what the Error says anyway.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// isDialError reports whether err says that no connection was made.
func isDialError(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// connTrace learns whether a request got a connection. Without one, no byte of
// it has left, which is the only proof that a failed request did nothing.
type connTrace struct{ asked, got atomic.Bool }

func (t *connTrace) watch(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) { t.asked.Store(true) },
		GotConn: func(httptrace.GotConnInfo) { t.got.Store(true) },
	})
}

// mayHaveSent reports whether bytes may have left before err. A transport that
// is not traced leaves only its error to go by.
func (t *connTrace) mayHaveSent(err error) bool {
	if t.asked.Load() {
		return t.got.Load()
	}
	return !isDialError(err)
}
