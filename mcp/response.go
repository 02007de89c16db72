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
	if a, ok := ctx.Value(responseKey{}).(*response); ok {
		a.rejected.Store(true)
	}
}

func (a *response) Header() http.Header         { return a.header }
func (a *response) Write(b []byte) (int, error) { return a.body.Write(b) }
func (a *response) WriteHeader(status int)      { a.status = status }

// send writes the response to the caller.
func (a *response) send(w http.ResponseWriter) {
	if a.rejected.Load() {
		const why = "the platform rejected the access token"
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token", error_description="`+why+`"`)
		http.Error(w, why, http.StatusUnauthorized)
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(a.body.Len()))
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body.Bytes())
}

// writers limits the responses in memory. If too many callers do not read their
// responses, it aborts the oldest response.
type writers struct {
	limit int

	mu   sync.Mutex
	open []*http.ResponseController // oldest first
}

// write writes a response before a deadline.
func (l *writers) write(a *response, w http.ResponseWriter) {
	control := http.NewResponseController(w)
	l.mu.Lock()
	if len(l.open) == l.limit {
		_ = l.open[0].SetWriteDeadline(time.Now())
		l.open = l.open[1:]
	}
	_ = control.SetWriteDeadline(time.Now().Add(peerTimeout))
	l.open = append(l.open, control)
	l.mu.Unlock()
	a.send(w)
	err := control.Flush()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = slices.DeleteFunc(l.open, func(c *http.ResponseController) bool { return c == control })
	if err == nil {
		_ = control.SetWriteDeadline(time.Time{}) // for the next request of the connection
	}
}
