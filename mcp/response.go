package mcp

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// response stores the response of a request until all its calls are complete. If the
// platform rejects the caller's token, a 401 with a challenge replaces the response,
// because assistants do not get another token after a tool error.
type response struct {
	header   http.Header
	status   int
	body     bytes.Buffer
	rejected atomic.Bool // whether the platform rejected the token
}

type responseKey struct{}

// rejectToken changes the response to 401 if ctx is from an HTTP request.
func rejectToken(ctx context.Context) {
	if r, ok := ctx.Value(responseKey{}).(*response); ok {
		r.rejected.Store(true)
	}
}

func (r *response) Header() http.Header         { return r.header }
func (r *response) Write(b []byte) (int, error) { return r.body.Write(b) }
func (r *response) WriteHeader(status int)      { r.status = status }

// send writes the response to the caller.
func (r *response) send(w http.ResponseWriter) {
	if r.rejected.Load() {
		const why = "the platform rejected the access token"
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token", error_description="`+why+`"`)
		http.Error(w, why, http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(r.body.Len()))
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body.Bytes())
}

// writers limits the responses in memory. If too many callers do not read their
// responses, it aborts the oldest response.
type writers struct {
	limit int

	mu   sync.Mutex
	open []*http.ResponseController // oldest first
}

// write writes a response before a deadline.
func (l *writers) write(r *response, w http.ResponseWriter) {
	control := http.NewResponseController(w)
	l.mu.Lock()
	if len(l.open) == l.limit {
		_ = l.open[0].SetWriteDeadline(time.Now())
		l.open = l.open[1:]
	}
	_ = control.SetWriteDeadline(time.Now().Add(peerTimeout))
	l.open = append(l.open, control)
	l.mu.Unlock()
	r.send(w)
	err := control.Flush()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = slices.DeleteFunc(l.open, func(c *http.ResponseController) bool { return c == control })
	if err == nil {
		_ = control.SetWriteDeadline(time.Time{}) // for the next request of the connection
	}
}
