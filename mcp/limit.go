package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"example.com/emailplatform/mcp/internal/rpcid"
)

// The limits of a request, which SECURITY.md lists.
const (
	maxRequest        = 64 << 10         // bytes of the body
	maxBatch          = 50               // messages in a JSON-RPC batch
	maxResults        = 1 << 20          // total bytes of the results of all calls in a request
	defaultConcurrent = 64               // requests in progress
	slotWait          = time.Second      // until another request ends
	peerTimeout       = 10 * time.Second // for reading the body, and for writing the response
)

// limit limits the work for callers whose token the platform has not checked yet. It
// rejects a request before the SDK decodes it: a large body with 413, a large batch with
// 400, and any request with 503 if too many are in progress. A request is in progress only
// while the wrapped handler (next) handles it. limit reads the body before it calls the
// handler, and writes the response after the handler has returned, so a slow caller does
// not cause a 503 for others.
func limit(concurrent int, next http.Handler) http.Handler {
	if concurrent == 0 {
		concurrent = defaultConcurrent
	}
	slots, writing := make(chan struct{}, concurrent), &writers{limit: concurrent}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, status, err := readBody(w, r)
		if err != nil {
			http.Error(w, err.Error(), status)
			return
		}
		response := &response{header: w.Header(), status: http.StatusOK}
		select {
		case slots <- struct{}{}:
		case <-r.Context().Done(): // the caller has closed the connection
			return
		case <-time.After(slotWait):
			w.Header().Set("Retry-After", "1")
			http.Error(w, fmt.Sprintf("%d requests are in progress; try again later", concurrent), http.StatusServiceUnavailable)
			return
		}
		func() {
			defer func() { <-slots }()
			r = r.WithContext(context.WithValue(withBudget(r.Context()), responseKey{}, response))
			r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
			next.ServeHTTP(response, r)
		}()
		writing.write(response, w)
	})
}

// readBody reads the body of a request before a deadline. After an error, the deadline
// still applies, because net/http then waits for the rest of the body.
func readBody(w http.ResponseWriter, r *http.Request) (body []byte, status int, err error) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(peerTimeout)) // the recorder in tests does not support deadlines
	body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the body must be at most %d bytes long", maxRequest)
	}
	if err != nil {
		return nil, http.StatusBadRequest, errors.New("the body could not be read")
	}
	_ = control.SetReadDeadline(time.Time{})
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, http.StatusUnsupportedMediaType, fmt.Errorf("the body must not be compressed, got Content-Encoding %.20s", encoding)
	}
	body = bytes.TrimPrefix(body, []byte("\ufeff")) // as over standard input
	if err := checkMessages(body); err != nil {
		return nil, http.StatusBadRequest, err
	}
	return body, 0, nil
}

// checkMessages returns an error for a large batch, and for an id that the SDK would change.
func checkMessages(body []byte) error {
	var batch []json.RawMessage
	if json.Unmarshal(body, &batch) != nil {
		batch = []json.RawMessage{body} // not a batch
	}
	if len(batch) > maxBatch {
		return fmt.Errorf("a batch must contain at most %d messages", maxBatch)
	}
	for _, message := range batch {
		if _, err := rpcid.Check(message); err != nil {
			return err
		}
	}
	return nil
}

type budgetKey struct{}

// withBudget returns a context for the calls of one request. The results of these calls
// have at most maxResults bytes in total.
func withBudget(ctx context.Context) context.Context {
	left := new(atomic.Int64)
	left.Store(maxResults)
	return context.WithValue(ctx, budgetKey{}, left)
}

// spend subtracts n bytes from the budget of the request, and returns an error if the
// budget is exceeded. Over standard input, each call has its own budget, because calls
// share no request.
func spend(ctx context.Context, n int) error {
	left, ok := ctx.Value(budgetKey{}).(*atomic.Int64)
	if ok && left.Add(int64(-n)) >= 0 || !ok && n <= maxResults {
		return nil
	}
	return fmt.Errorf("the result must be at most %d bytes long; use a smaller per_page", maxResults)
}
