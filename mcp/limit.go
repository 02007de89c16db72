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
)

// The limits of a request. SECURITY.md lists them.
const (
	maxRequest        = 64 << 10         // bytes of the body
	maxBatch          = 50               // messages in a JSON-RPC batch
	maxResults        = 1 << 20          // total bytes of the results of all calls in a request
	defaultConcurrent = 64               // requests in progress
	bodyTimeout       = 10 * time.Second // for reading the body
)

// limit limits the work for callers whose token the platform has not checked
// yet. Before the SDK decodes a request, limit responds with 503 to too many
// concurrent requests, with 413 to a large body, and with 400 to a large batch.
func limit(concurrent int, next http.Handler) http.Handler {
	if concurrent == 0 {
		concurrent = defaultConcurrent
	}
	slots := make(chan struct{}, concurrent)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		default:
			w.Header().Set("Retry-After", "1")
			http.Error(w, fmt.Sprintf("%d requests are in progress; try again later", concurrent), http.StatusServiceUnavailable)
			return
		}
		body, status, err := readBody(w, r)
		if err != nil {
			http.Error(w, err.Error(), status)
			return
		}
		r = r.WithContext(withBudget(r.Context()))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		next.ServeHTTP(w, r)
	})
}

// readBody reads the body of a request. Reading has a deadline, because a slow
// sender occupies a slot.
func readBody(w http.ResponseWriter, r *http.Request) (body []byte, status int, err error) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // the recorder in tests does not support deadlines
	body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	_ = control.SetReadDeadline(time.Time{})
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, http.StatusRequestEntityTooLarge, fmt.Errorf("the body must be at most %d bytes long", maxRequest)
	}
	if err != nil {
		return nil, http.StatusBadRequest, errors.New("the body could not be read")
	}
	var batch []json.RawMessage // nil unless the body is a valid array
	if _ = json.Unmarshal(body, &batch); len(batch) > maxBatch {
		return nil, http.StatusBadRequest, fmt.Errorf("a batch must contain at most %d messages", maxBatch)
	}
	return body, 0, nil
}

type budgetKey struct{}

// withBudget returns a context for the calls of one request. Their results have
// at most maxResults bytes in total.
func withBudget(ctx context.Context) context.Context {
	left := new(atomic.Int64)
	left.Store(maxResults)
	return context.WithValue(ctx, budgetKey{}, left)
}

// spend subtracts n bytes from the budget of the request, and returns an error if
// the budget is exceeded. Over standard input, each call has its own budget.
func spend(ctx context.Context, n int) error {
	left, ok := ctx.Value(budgetKey{}).(*atomic.Int64)
	if ok && left.Add(int64(-n)) >= 0 || !ok && n <= maxResults {
		return nil
	}
	return fmt.Errorf("the result must be at most %d bytes long; use a smaller per_page", maxResults)
}
