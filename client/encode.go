package client

import (
	"context"
	"sync"

	"example.com/emailplatform/internal/json/jsonwrite"
)

// body is a request body that can write itself as JSON. The methods are
// generated.
type body interface{ write(w *jsonwrite.Writer) }

// encoder encodes bodies and reuses their memory.
type encoder struct{ writers sync.Pool }

func newEncoder() *encoder {
	return &encoder{sync.Pool{New: func() any { return new(jsonwrite.Writer) }}}
}

// encoded returns an error for an invalid body before the client sends a
// request.
func (e *encoder) encoded(next exchange) exchange {
	return func(ctx context.Context, c *call) error {
		c.options = optionsOf(ctx)
		if err := e.encode(c); err != nil {
			e := newError(c.request, err)
			e.badRequest = true
			return e
		}
		if c.payload != nil {
			defer c.payload.release()
		}
		if err := ctx.Err(); err != nil {
			return c.asError(err)
		}
		return next(ctx, c)
	}
}

// encode encodes the body once for all attempts.
func (e *encoder) encode(c *call) error {
	if c.err != nil {
		return c.err
	}
	if err := c.options.check(); err != nil || c.body == nil {
		return err
	}
	w := e.writers.Get().(*jsonwrite.Writer)
	c.body.write(w)
	if err := w.Err(); err != nil {
		e.recycle(w)
		return err
	}
	c.payload = &payload{length: int64(len(w.Bytes)), encoder: e, users: 1, writer: w}
	return nil
}

// recycle makes a writer available for reuse after all readers have finished.
func (e *encoder) recycle(w *jsonwrite.Writer) {
	if cap(w.Bytes) <= maxRecycled {
		w.Reset()
		e.writers.Put(w)
	}
}

func writeNullable(w *jsonwrite.Writer, n Nullable[string]) {
	switch n.state {
	case given:
		w.String(n.value)
	case null:
		w.Null()
	default:
		w.Missing()
	}
}
