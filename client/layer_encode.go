package client

import (
	"context"
	"fmt"
	"sync"

	"example.com/emailplatform/internal/json/jsonwrite"
)

// body is a request body that can write itself as JSON. The code generator writes the
// methods.
type body interface{ write(w *jsonwrite.Writer) }

type encoder struct{ writers sync.Pool }

func newEncoder() *encoder {
	return &encoder{sync.Pool{New: func() any { return new(jsonwrite.Writer) }}}
}

// withEncodedBody checks the arguments, and encodes the body once for all attempts.
func withEncodedBody(next handler, e *encoder) handler {
	return func(ctx context.Context, c *call) error {
		c.options = optionsOf(ctx)
		if err := e.encode(c); err != nil {
			return newBadRequest(c.request, err)
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

func (e *encoder) encode(c *call) error {
	switch {
	case c.err != nil:
		return c.err
	case c.page < 0:
		return fmt.Errorf("page: must be a positive number, got %d", c.page)
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

func (e *encoder) recycle(w *jsonwrite.Writer) {
	if cap(w.Bytes) <= maxRecycled {
		w.Reset()
		e.writers.Put(w)
	}
}
