// Package inprocess implements an HTTP transport to a handler in the same process.
package inprocess

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"strconv"
)

// Transport passes requests to a handler in the same process. It uses no sockets and
// leaves no goroutines running, so tests can use it in a testing/synctest bubble.
// Otherwise it behaves like a network connection:
//
//   - If the request is canceled, the handler's context is canceled.
//   - If the handler aborts, the client receives a connection error.
//   - If the body is shorter than its Content-Length, the client receives an unexpected
//     EOF.
type Transport struct{ Handler http.Handler }

// RoundTrip implements [http.RoundTripper].
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(r.Context())
	w := &responder{Recording: *NewRecording(http.Header{}), request: r, ready: make(chan *http.Response, 1)}
	go func() {
		defer cancel()
		defer w.finish()
		t.Handler.ServeHTTP(w, received(ctx, r))
	}()
	select {
	case response := <-w.ready:
		if response == nil { // the handler panicked, possibly because the request was canceled
			return nil, cmp.Or(r.Context().Err(), io.EOF)
		}
		return response, nil
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// received returns the request as a server would receive it.
func received(ctx context.Context, r *http.Request) *http.Request {
	in := r.Clone(ctx)
	in.RequestURI = r.URL.RequestURI()
	in.RemoteAddr = "127.0.0.1:0"
	in.Proto, in.ProtoMajor, in.ProtoMinor = "HTTP/1.1", 1, 1
	if in.Host == "" {
		in.Host = r.URL.Host
	}
	in.URL.Scheme, in.URL.Host, in.URL.User = "", "", nil
	if in.Body == nil {
		in.Body = http.NoBody
	}
	return in
}

// responder is the handler's ResponseWriter. The client receives the response when the
// handler returns or first calls Flush. After a Flush, further writes go through a
// pipe.
type responder struct {
	Recording
	request *http.Request
	pipe    *io.PipeWriter
	release func() bool // stops the function that closes the pipe when the request ends
	ready   chan *http.Response
}

func (w *responder) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	switch {
	case w.request.Method == http.MethodHead:
		return len(b), nil
	case w.bodyless():
		return 0, http.ErrBodyNotAllowed
	case w.pipe != nil:
		return w.pipe.Write(b)
	}
	return w.Recording.Write(b)
}

func (w *responder) bodyless() bool {
	return w.Status == http.StatusNoContent || w.Status == http.StatusNotModified
}

// Flush implements [http.Flusher].
func (w *responder) Flush() {
	if w.pipe != nil {
		return
	}
	w.WriteHeader(http.StatusOK)
	reader, writer := io.Pipe()
	w.pipe = writer
	ctx := w.request.Context()
	w.release = context.AfterFunc(ctx, func() { _ = writer.CloseWithError(ctx.Err()) }) // the reader may have closed the pipe
	head := bytes.NewReader(w.Body.Bytes())
	w.hand(struct {
		io.Reader
		io.Closer
	}{io.MultiReader(head, reader), reader})
}

// finish sends the rest of the response. The handler's goroutine must defer it, so that
// it is called even if the handler panics.
func (w *responder) finish() {
	cause := recover()
	if w.request.Body != nil {
		_ = w.request.Body.Close()
	}
	if err, ok := cause.(error); cause != nil && (!ok || !errors.Is(err, http.ErrAbortHandler)) {
		log.Printf("mockserver: the handler of %s %s panicked: %v", w.request.Method, w.request.URL.Path, cause)
	}
	switch {
	case w.pipe != nil && cause != nil:
		w.release()
		_ = w.pipe.CloseWithError(io.ErrUnexpectedEOF)
	case w.pipe != nil:
		w.release()
		_ = w.pipe.CloseWithError(w.request.Context().Err()) // nil means io.EOF
	case cause != nil:
		w.ready <- nil
	default:
		w.WriteHeader(http.StatusOK)
		w.hand(io.NopCloser(w.rest()))
	}
}

// rest returns the buffered body. If the body is shorter than its
// Content-Length, the reader ends with an unexpected EOF.
func (w *responder) rest() io.Reader {
	length, err := strconv.Atoi(w.sent.Get("Content-Length"))
	if err == nil && length > w.Body.Len() && !w.bodyless() && w.request.Method != http.MethodHead {
		return io.MultiReader(&w.Body, brokenReader{})
	}
	return &w.Body
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func (w *responder) hand(body io.ReadCloser) {
	length := int64(-1)
	if w.pipe == nil || w.bodyless() {
		length = int64(w.Body.Len())
	}
	if n, err := strconv.ParseInt(w.sent.Get("Content-Length"), 10, 64); err == nil && !w.bodyless() {
		length = n
	}
	w.ready <- &http.Response{
		Status:        fmt.Sprintf("%d %s", w.Status, http.StatusText(w.Status)),
		StatusCode:    w.Status,
		Proto:         "HTTP/1.1",
		ProtoMajor:    1,
		ProtoMinor:    1,
		Header:        w.sent,
		Body:          body,
		ContentLength: length,
		Request:       w.request,
	}
}

// Recording is an [http.ResponseWriter] that stores a response.
type Recording struct {
	Status int
	Body   bytes.Buffer

	header http.Header
	sent   http.Header // copy of the header at the time of WriteHeader; nil before
}

// NewRecording returns an empty response with a copy of header.
func NewRecording(header http.Header) *Recording {
	return &Recording{Status: http.StatusOK, header: header.Clone()}
}

// Header implements [http.ResponseWriter].
func (r *Recording) Header() http.Header { return r.header }

// WriteHeader implements [http.ResponseWriter].
func (r *Recording) WriteHeader(status int) {
	if r.sent == nil && status >= 200 {
		r.Status, r.sent = status, r.header.Clone()
	}
}

// Write implements [http.ResponseWriter].
func (r *Recording) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.Body.Write(b)
}

// Send writes the stored response to w.
func (r *Recording) Send(w http.ResponseWriter) {
	maps.Copy(w.Header(), r.header)
	w.WriteHeader(r.Status)
	_, _ = w.Write(r.Body.Bytes())
}
