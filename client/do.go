package client

import (
	"bytes"
	"context"

	"example.com/emailplatform/internal/jsonscan"
)

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
	e, ok := ownError(err)
	return ok && e.mismatch
}

// perform performs an operation and has decode take the answer, which may be
// empty, and once more that of the next attempt if decode refuses the first.
// Every error is an [*Error].
func perform(ctx context.Context, x exchange, r request, decode func([]byte) error) error {
	return x(ctx, &call{request: r, decode: decode})
}
