package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"example.com/emailplatform/internal/jsonscan"
)

// call is one operation under way. The layers note on it what they learn.
type call struct {
	request
	payload  []byte             // the encoded body; nil is none
	decode   func([]byte) error // takes the body of a 2xx; nil if none is expected
	token    string
	attempts int
	status   int // of the last answer

	maybeDone bool // an attempt that failed may have been carried out
}

// exchange sends a call and takes its answer. An error that is not an [*Error]
// says that nothing was sent.
type exchange func(context.Context, *call) error

// newExchange assembles the layers that a call passes, from the inside out.
func newExchange(cfg Config, base string) exchange {
	s := &sender{base: base, http: withoutRedirects(cfg.HTTPClient), timeout: cfg.Timeout, limit: cfg.MaxResponseBytes, userAgent: cfg.UserAgent}
	s.buffers.New = func() any { return new(bytes.Buffer) }
	t := newTokens(cfg.Token, cfg.TokenSource)
	r := retrier{cfg.Retry, newBudget(cfg.Retry.Budget)}
	l := lookups{limiter: cfg.LookupLimiter, tokens: t, scope: base + "\x00" + cfg.Account, retry: r.RetryConfig}

	x := exchange(s.send)     // one request, one answer
	x = logged(cfg.Logger, x) // outside of send, so that each request is a record
	x = t.authorized(x)       // outside of the log, which shows the 401 as well
	x = l.spaced(x)           // outside of authorized, so that a token is asked for when it is this call's turn
	return r.retrying(x)      // outermost: each attempt queues, is authorized and logged anew
}

// do performs an operation and returns what the platform answered, read by
// read. An empty answer is the zero value. If a member is of another kind than
// it should be, what could be read comes with the error.
func do[T any](ctx context.Context, x exchange, r request, read func(*jsonscan.Cursor) T) (v T, err error) {
	err = perform(ctx, x, r, func(body []byte) (err error) {
		v, err = decode(body, read)
		return err
	})
	if err != nil && !isMismatch(err) {
		var zero T
		return zero, err
	}
	return v, err
}

func decode[T any](body []byte, read func(*jsonscan.Cursor) T) (v T, err error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return v, nil
	}
	c := jsonscan.New(string(body))
	c.Clone = true // or one string that is kept would keep a whole page
	c.QuotedInts = true
	v = read(c)
	if err := c.End(); err != nil { // not returned as it is: it is a pointer
		return v, err
	}
	return v, nil
}

// isMismatch reports whether err is about an answer that is JSON, but not of
// the kind that is expected.
func isMismatch(err error) bool {
	var bad *jsonscan.Error
	return errors.As(err, &bad) && !bad.Syntax
}

// perform performs an operation and has decode take the answer, which may be
// empty, and once more that of the next attempt if decode refuses the first.
// Every error is an [*Error].
func perform(ctx context.Context, x exchange, r request, decode func([]byte) error) error {
	c := &call{request: r, decode: decode}
	return c.perform(ctx, x)
}

func (c *call) perform(ctx context.Context, x exchange) error {
	if err := c.encode(); err != nil {
		return &Error{Op: c.op, Method: c.method, Path: c.path, cause: err, badRequest: true}
	}
	if err := ctx.Err(); err != nil {
		return c.asError(err)
	}
	return x(ctx, c)
}

// asError returns err as an [*Error]. If it is none yet, nothing was sent, and
// trying again is of no use.
func (c *call) asError(err error) *Error {
	e, ok := ownError(err)
	if !ok {
		e = &Error{Op: c.op, Method: c.method, Path: c.path, cause: redactError(err, c.token), final: true}
	}
	e.Attempts = c.attempts
	return e
}

// ownError returns err if a layer made it. One further down, that err wraps,
// is another call's: a token source may use a client of its own.
func ownError(err error) (*Error, bool) {
	e, ok := err.(*Error) //nolint:errorlint // see above
	return e, ok
}

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
	c.status = 0
	started := time.Now()
	resp, err := s.http.Do(req)
	if err != nil {
		e := &Error{Op: c.op, Method: c.method, Path: c.path, cause: redactError(withoutURL(err), c.token), reached: conn.mayHaveSent(err)}
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

// take decodes a 2xx, or makes an error of the answer. readErr says why body
// is not whole.
func (c *call) take(resp *http.Response, body []byte, readErr error) error {
	c.status = resp.StatusCode
	e := &Error{Op: c.op, Method: c.method, Path: c.path, StatusCode: resp.StatusCode, reached: true}
	e.RequestID = redact(resp.Header.Get("X-Request-Id"), c.token)
	html := mediaType(resp.Header) == "text/html" && !c.html
	switch {
	case resp.StatusCode >= 400:
		e.RetryAfter, e.refused = retryAfter(resp.Header)
		e.Details, e.more = parseDetails(body, c.token)
		if html {
			e.note = errHTML.Error()
		}
	case resp.StatusCode < 200 || resp.StatusCode >= 300:
		e.badAnswer, e.cause = true, errRedirect
		if to := resp.Header.Get("Location"); to != "" {
			e.note = "to " + redact(withoutQuery(to), c.token)
		}
	case readErr != nil:
		e.badAnswer, e.cause = true, redactError(readErr, c.token)
		return e
	case html && len(bytes.TrimSpace(body)) > 0:
		e.badAnswer, e.cause = true, errHTML
	default:
		if c.decode == nil {
			return nil
		}
		err := c.decode(body) // also of nothing: an earlier attempt may have left something behind
		if err == nil {
			return nil
		}
		e.badAnswer, e.cause = true, redactError(err, c.token)
		return e // without the body, which may hold a webhook's secret
	}
	e.Body = []byte(redact(string(body), c.token))
	e.Body = bytes.Clone(e.Body[:min(len(e.Body), maxErrorBody)])
	return e
}

func mediaType(h http.Header) string {
	t, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return t
}

// withoutURL takes off what the Error says anyway.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func withoutQuery(address string) string {
	address, _, _ = strings.Cut(address, "?")
	return address
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

// logged makes a record of each request, at debug level.
func logged(l *slog.Logger, next exchange) exchange {
	if l == nil {
		return next
	}
	return func(ctx context.Context, c *call) error {
		if !l.Enabled(ctx, slog.LevelDebug) {
			return next(ctx, c)
		}
		started := time.Now()
		err := next(ctx, c)
		attrs := []slog.Attr{
			slog.String("op", c.op),
			slog.Int("attempt", c.attempts),
			slog.Int("status", c.status),
			slog.Duration("duration", time.Since(started)),
		}
		if err != nil {
			attrs = append(attrs, slog.Any("error", err))
		}
		l.LogAttrs(ctx, slog.LevelDebug, "platform request", attrs...)
		return err
	}
}
