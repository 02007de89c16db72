package client

import (
	"errors"
	"io"
	"net/http"
	"sync"

	"example.com/emailplatform/internal/json/jsonwrite"
)

// payload is an encoded body. A transport may read the body even after Do has returned,
// so the encoder reuses the buffer only after the call has ended and all readers are
// closed.
type payload struct {
	length  int64
	encoder *encoder

	mu     sync.Mutex
	users  int // number of users: the call and the open readers
	writer *jsonwrite.Writer
}

// give sets the body of a request, and sets GetBody so that net/http can read
// the body again.
func (p *payload) give(r *http.Request) (err error) {
	r.ContentLength, r.GetBody = p.length, p.open
	r.Body, err = p.open()
	return err
}

var errBodyGone = errors.New("the body is closed, or the call has ended")

// open returns a new reader, which must be closed.
func (p *payload) open() (io.ReadCloser, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users == 0 {
		return nil, errBodyGone
	}
	p.users++
	return &payloadReader{payload: p}, nil
}

func (p *payload) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users--; p.users == 0 {
		p.encoder.recycle(p.writer)
		p.writer = nil
	}
}

// payloadReader reads a payload. Close can be called during a Read.
//
// If an HTTP/2 connection becomes unusable before a request begins, net/http closes the body
// and then sends the same body on another connection. Therefore, if no byte was read before
// Close, Read still works after Close, until the client's method returns. If a byte was read,
// Read returns an error after Close, because the request on the other connection would
// contain only the rest of the body.
type payloadReader struct {
	payload *payload
	at      int
	closed  bool
}

// Read implements [io.Reader].
func (r *payloadReader) Read(to []byte) (int, error) {
	r.payload.mu.Lock()
	defer r.payload.mu.Unlock()
	if r.closed {
		if r.at > 0 || r.payload.users == 0 {
			return 0, errBodyGone
		}
		r.closed = false
		r.payload.users++ // without a second Close, the memory is not reused
	}
	rest := r.payload.writer.Bytes[r.at:]
	if len(rest) == 0 {
		return 0, io.EOF
	}
	n := copy(to, rest)
	r.at += n
	return n, nil
}

// Close implements [io.Closer].
func (r *payloadReader) Close() error {
	r.payload.mu.Lock()
	closed := r.closed
	r.closed = true
	r.payload.mu.Unlock()
	if !closed {
		r.payload.release()
	}
	return nil
}
