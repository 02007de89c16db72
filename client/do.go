package client

import (
	"bytes"
	"context"
	"strings"

	"example.com/emailplatform/internal/json/jsonscan"
)

// do performs an operation and returns what the platform answered, read by
// read. If a member that is promised is not there or of another kind than it
// should be, what could be read comes with the error.
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

// decode reads body by read. Nothing is as good as null: what is promised is in
// neither.
func decode[T any](body []byte, read func(*jsonscan.Cursor) T) (v T, err error) {
	text := string(body)
	if len(bytes.TrimSpace(body)) == 0 {
		text = "null"
	}
	c := jsonscan.New(text)
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
	e, ok := ownError(err)
	return ok && e.mismatch
}

// perform performs an operation and has decode take the answer, which may be
// empty, and once more that of the next attempt if decode refuses the first.
// Without decode nothing is promised, and any answer but a refusal will do.
// Every error is an [*Error].
func perform(ctx context.Context, x exchange, r request, decode func([]byte) error) error {
	if decode == nil {
		decode = readNothing
	}
	return x(ctx, &call{request: r, decode: decode})
}

// readNothing takes an answer that promises nothing. It may be anything but an
// error in the place of a success.
func readNothing(body []byte) error {
	c := jsonscan.New(string(body))
	refused := false
	for name := range c.Members() {
		refused = isErrorField(c, name) || refused
	}
	if refused && c.End() == nil {
		return errErrorInSuccess
	}
	return nil
}

// isErrorField reads a member, and reports whether it holds an error: details, or a
// member error that says something.
func isErrorField(c *jsonscan.Cursor, name string) bool {
	b, start := c.Peek(), c.Offset()
	c.Skip()
	if name == "detail" && b == '[' || name == "error" && (b == '"' || b == '{' || b == '[') {
		return strings.Trim(c.Since(start), "\"{[]} \t\r\n") != ""
	}
	return false
}

// readErrorField reads a member of an answer that may be empty, and should hold no
// error then.
func readErrorField(c *jsonscan.Cursor, name string) {
	if ahead := *c; isErrorField(&ahead, name) {
		c.Mismatch("no error of the platform")
		return
	}
	c.Skip()
}
