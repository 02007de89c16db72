package client

import (
	"bytes"
	"errors"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/internal/json/jsonscan"
)

// take decodes a 2xx response, and returns an error for any other response. If
// readErr is not nil, body is incomplete.
func (c *call) take(resp *http.Response, body []byte, readErr error) error {
	c.status, c.requestID = resp.StatusCode, redact(resp.Header.Get("X-Request-Id"), c.token)
	e := c.newError(nil)
	e.StatusCode, e.RequestID, e.reached = c.status, c.requestID, true
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	html := media == "text/html" && !c.html
	switch {
	case resp.StatusCode >= 400:
		e.RetryAfter, e.retryLater = retryAfter(resp.Header)
		e.Details, e.more = parseDetails(string(body), c.token)
		if html {
			e.note = errHTML.Error()
		}
	case resp.StatusCode < 200:
		e.invalidResponse, e.cause = true, errNoStatus
	case resp.StatusCode >= 300:
		e.invalidResponse, e.cause = true, errRedirect
		if to := resp.Header.Get("Location"); to != "" {
			e.note = "to " + redact(withoutSecrets(to), c.token)
		}
	case readErr != nil:
		e.invalidResponse, e.cause = true, redactError(readErr, c.token)
		return e
	case html && len(bytes.TrimSpace(body)) > 0:
		e.invalidResponse, e.cause = true, errHTML
	case c.html && strings.HasSuffix(media, "json"):
		e.invalidResponse, e.cause = true, errJSON
		e.Details, e.more = parseDetails(string(body), c.token)
		return e // without the body, which may contain a webhook's secret
	default:
		err := c.decode(body) // even if the body is empty, because an earlier attempt may have decoded some fields
		if err == nil {
			return nil
		}
		bad, ok := errors.AsType[*jsonscan.Error](err)
		e.notQueued = errors.Is(err, ErrNotQueued)
		e.invalidResponse, e.mismatch = !e.notQueued, ok && !bad.Syntax
		e.cause = redactError(err, c.token) // not a jsonscan.Error if its text contained the token
		e.Details, e.more = parseDetails(string(body), c.token)
		return e // without the body, which may contain a webhook's secret
	}
	shown := redactFirst(string(body), c.token, maxErrorBody)
	e.Body = []byte(shown[:min(len(shown), maxErrorBody)])
	return e
}

// withoutSecrets removes the user, password, query and fragment from a URL,
// which may be invalid.
func withoutSecrets(address string) string {
	if end := strings.IndexAny(address, "?#"); end >= 0 {
		address = address[:end]
	}
	before, rest, _ := strings.Cut(address, "//")
	host, _, _ := strings.Cut(rest, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		return before + "//" + rest[at+1:]
	}
	return address
}

// retryAfter parses a Retry-After header, which contains seconds or a date. The
// delay until a date is the difference from the Date header, because the clocks
// of the client and the server may differ. Any other value is ignored.
func retryAfter(h http.Header) (d time.Duration, ok bool) {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0, false
	}
	if s, err := strconv.ParseUint(v, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		const most = uint64(1<<63-1) / uint64(time.Second)
		return time.Duration(min(s, most)) * time.Second, true
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0, false
	}
	now := time.Now()
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		now = date
	}
	return max(at.Sub(now), 0), true
}
