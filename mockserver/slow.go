package mockserver

import (
	"container/list"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// The limits for slow clients.
const (
	// waitTimeout limits the time between requests, and the time until a client sends
	// the first request header on a new connection. A short timeout would make long
	// tests flaky: clients may open connections in advance, and if the server closes a
	// connection just when a client sends a POST on it, the client cannot retry the
	// POST.
	waitTimeout = 10 * time.Minute
	maxWaiting  = 1000 // connections that wait for a request

	peerTimeout = 30 * time.Second // for a body, and for each write of a response
	minRate     = 64 << 10         // bytes of a body per additional second
)

// idleConns contains the connections without a request in progress, oldest first. If
// there are more than maxWaiting, it closes the oldest connection. Shutdown closes all
// of them, because [http.Server.Shutdown] would wait five seconds for a connection
// without a first request.
type idleConns struct {
	mu       sync.Mutex
	conns    list.List
	elements map[net.Conn]*list.Element
	closed   bool
}

func (u *idleConns) changed(c net.Conn, state http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.removeLocked(c)
	if state != http.StateNew && state != http.StateIdle {
		return
	}
	if state == http.StateNew { // for an error response to an invalid header
		_ = c.SetWriteDeadline(time.Now().Add(waitTimeout + peerTimeout))
	}
	u.elements[c] = u.conns.PushBack(c)
	if u.closed || u.conns.Len() > maxWaiting {
		u.closeLocked(u.conns.Front().Value.(net.Conn))
	}
}

func (u *idleConns) removeLocked(c net.Conn) {
	if element := u.elements[c]; element != nil {
		u.conns.Remove(element)
		delete(u.elements, c)
	}
}

func (u *idleConns) closeLocked(c net.Conn) {
	u.removeLocked(c)
	_ = c.Close()
}

func (u *idleConns) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	for c := range u.elements {
		u.closeLocked(c)
	}
}

// withDeadlines closes the connection of a client that sends its body, or reads
// the response, too slowly.
func withDeadlines(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := &deadlineWriter{w, http.NewResponseController(w)}
		if r.ContentLength != 0 {
			in := &deadlineBody{ReadCloser: r.Body, control: out.control, start: time.Now()}
			in.extend() // net/http reads the body if the handler does not
			r.Body = in
		}
		next.ServeHTTP(out, r)
		out.extend() // for the end of the response
	})
}

// deadlineBody is a request body with a read deadline. After an error it keeps the
// deadline, because net/http then tries to read the rest of the body.
type deadlineBody struct {
	io.ReadCloser
	control *http.ResponseController
	start   time.Time
	read    int64
}

func (b *deadlineBody) extend() {
	_ = b.control.SetReadDeadline(b.start.Add(peerTimeout + time.Duration(b.read/minRate)*time.Second))
}

func (b *deadlineBody) Read(p []byte) (n int, err error) {
	n, err = b.ReadCloser.Read(p)
	b.read += int64(n)
	switch {
	case errors.Is(err, io.EOF):
		_ = b.control.SetReadDeadline(time.Time{}) // net/http detects a closed connection by reading
	case err == nil:
		b.extend()
	}
	return n, err
}

// deadlineWriter is a response with a deadline for each write. There is no deadline for
// the whole response, because the stream of changes does not end.
type deadlineWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (w *deadlineWriter) extend() { _ = w.control.SetWriteDeadline(time.Now().Add(peerTimeout)) }

func (w *deadlineWriter) Write(b []byte) (int, error) {
	w.extend()
	return w.ResponseWriter.Write(b)
}

// FlushError is for [http.ResponseController].
func (w *deadlineWriter) FlushError() error {
	w.extend()
	return w.control.Flush()
}

// Unwrap returns the underlying writer for [http.ResponseController].
func (w *deadlineWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
