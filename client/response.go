package client

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strings"

	"example.com/emailplatform/internal/json/jsonscan"
)

// handleResponse decodes a 2xx response, and returns an error for any other response. If
// readErr is not nil, body is incomplete.
func (c *call) handleResponse(resp *http.Response, body []byte, readErr error) error {
	c.status, c.requestID = resp.StatusCode, shortened(resp.Header.Get("X-Request-Id"), c.token)
	media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	html := media == "text/html" && !c.html && !isJSON(body)
	switch {
	case resp.StatusCode >= 400:
		return c.rejection(resp, body, html)
	case resp.StatusCode < 200:
		return c.responseError(errNoStatus).withBody(body, c.token)
	case resp.StatusCode >= 300:
		e := c.responseError(errRedirect).withBody(body, c.token)
		if to := resp.Header.Get("Location"); to != "" {
			e.note = "to " + shortened(withoutSecrets(to), c.token)
		}
		return e
	case readErr != nil:
		return c.responseError(readErr)
	case html && len(bytes.TrimSpace(body)) > 0:
		return c.responseError(errHTML).withBody(body, c.token)
	case c.html && strings.HasSuffix(media, "json") && isJSON(body):
		return c.decodeError(errJSON, body)
	}
	// Decode even an empty body, because an earlier attempt may have decoded some fields.
	err := c.decode(body)
	if err == nil {
		return nil
	}
	if bad, ok := errors.AsType[*jsonscan.Error](err); ok && bad.Ignored {
		c.ignoredValue = redactError(err, c.token)
		return nil
	}
	e := c.decodeError(err, body)
	if coding := resp.Header.Get("Content-Encoding"); coding != "" && !isJSON(body) {
		e.note = fmt.Sprintf("content encoding %.100q", redact(coding, c.token))
	}
	return e
}

// rejection returns the error for a response with an error status.
func (c *call) rejection(resp *http.Response, body []byte, html bool) *Error {
	e := c.responseError(nil).withBody(body, c.token)
	e.result = errorStatus
	if d, ok := retryAfter(resp.Header); ok {
		e.result, e.RetryAfter = postponed, d
	}
	e.Details, e.omittedDetails = parseDetails(string(body), c.token)
	if html {
		e.note = errHTML.Error()
	}
	return e
}

// decodeError returns the error for an invalid body of a 2xx response. It does not contain the
// body, which may contain a webhook's secret.
func (c *call) decodeError(err error, body []byte) *Error {
	e := c.responseError(err)
	bad, ok := errors.AsType[*jsonscan.Error](err)
	switch {
	case errors.Is(err, ErrNotQueued):
		e.result = unqueued
	case errors.Is(err, errNoImportResult):
		e.result = unreported
	case ok && !bad.Syntax:
		e.result = mismatched
	}
	e.Details, e.omittedDetails = parseDetails(string(body), c.token)
	return e
}

// responseError returns the error for an invalid response, without its body.
func (c *call) responseError(cause error) *Error {
	e := c.newError(cause)
	e.StatusCode, e.RequestID, e.result = c.status, c.requestID, unreadable
	return e
}

// withBody stores the beginning of the response body in the error.
func (e *Error) withBody(body []byte, token string) *Error {
	shown := redactFirst(string(body), token, maxErrorBody)
	e.Body = []byte(shown[:min(len(shown), maxErrorBody)])
	return e
}

// isJSON reports whether body begins like a JSON object or array. It ignores the Content-Type
// header, which can be wrong for HTML.
func isJSON(body []byte) bool {
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\ufeff")))
	return len(body) > 0 && (body[0] == '{' || body[0] == '[')
}

// decode treats an empty body as null, so all required fields are missing. If every error is
// a value of the wrong type in a field that is not required, decode returns a
// [jsonscan.Error] whose field Ignored is true.
func decode[T any](body []byte, read func(*jsonscan.Cursor) T) (v T, err error) {
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("null")
	}
	c := jsonscan.Borrow(body) // the buffer will be reused
	c.QuotedInts, c.Tolerant = true, true
	v = read(c)
	if err := c.End(); err != nil { // err is a pointer, so returning it directly would return a non-nil error
		return v, err
	}
	return v, nil
}

// readNothing reads a response that has no required fields. It fails only if the
// response contains an error.
func readNothing(body []byte) error {
	c := jsonscan.New(string(body))
	failed := false
	for name := range c.Members() {
		failed = isErrorField(c, name) || failed
	}
	if failed && c.End() == nil {
		return errErrorInSuccess
	}
	return nil
}

// isErrorField reads a field and reports whether the field indicates an error.
// A non-empty array "detail" or a non-empty field "error" indicates an error.
func isErrorField(c *jsonscan.Cursor, name string) bool {
	b, start := c.Peek(), c.Offset()
	c.Skip()
	if name == "detail" && b == '[' || name == "error" && (b == '"' || b == '{' || b == '[') {
		return strings.Trim(c.Since(start), "\"{[]} \t\r\n") != ""
	}
	return false
}

// readErrorField reads a field from a response, and records a mismatch if the
// field indicates an error.
func readErrorField(c *jsonscan.Cursor, name string) {
	if ahead := *c; isErrorField(&ahead, name) {
		c.Reject("no error of the platform")
		return
	}
	c.Skip()
}
