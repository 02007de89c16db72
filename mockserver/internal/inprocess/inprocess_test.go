package inprocess

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestHandlerTransport compares responses in process with responses over a socket.
func TestHandlerTransport(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"nothing": func(http.ResponseWriter, *http.Request) {},
		"status":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) },
		"body":    func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") },
		"echo":    func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) },
		"request": func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, r.Method+" "+r.URL.String()+" "+r.RequestURI+" "+
				r.PathValue("x")+" "+r.Header.Get("X-Test"))
		},
		"no content with a body": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "5")
			w.WriteHeader(http.StatusNoContent)
			_, _ = io.WriteString(w, "hello")
		},
		"not modified with a body": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNotModified)
			_, _ = io.WriteString(w, "hello")
		},
		"no content, flushed": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusNoContent)
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, "hello")
		},
		"late header": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusOK)
			w.Header().Set("X-Late", "1")
		},
		"two statuses": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, "x")
		},
		"flushed": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "one ")
			w.(http.Flusher).Flush()
			_, _ = io.WriteString(w, "two")
		},
		"aborted": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"aborted before a byte": func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(200)
			panic(http.ErrAbortHandler)
		},
		"aborted after flush": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "one ")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		},
		"short body": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "short")
		},
	} {
		t.Run(name, func(t *testing.T) {
			served := httptest.NewServer(handler)
			defer served.Close()
			want := visit(t, http.DefaultTransport, served.URL)
			got := visit(t, Transport{handler}, served.URL)
			if got != want {
				t.Errorf("in process: %+v\nconnection: %+v", got, want)
			}
		})
	}
}

type seen struct {
	failed, short bool
	status        int
	length        int64 // from Content-Length
	body, late    string
}

func visit(t *testing.T, via http.RoundTripper, url string) (s seen) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/a%2Fb/c?q=1", strings.NewReader("sent"))
	require.NoError(t, err)
	req.Header.Set("X-Test", "yes")
	res, err := (&http.Client{Transport: via}).Do(req)
	if err != nil {
		return seen{failed: true}
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return seen{
		status: res.StatusCode,
		length: res.ContentLength,
		body:   string(body),
		short:  errors.Is(err, io.ErrUnexpectedEOF),
		late:   res.Header.Get("X-Late"),
	}
}

// get sends a request to a handler.
func get(ctx context.Context, t *testing.T, handler http.HandlerFunc) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://app.test/", http.NoBody)
	require.NoError(t, err)
	return Transport{handler}.RoundTrip(r)
}

// A canceled request returns immediately and cancels the handler. If the handler flushes a response afterwards, it
// does not block.
func TestHandlerTransportCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		written := make(chan error, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		res, err := get(ctx, t, func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			w.(http.Flusher).Flush()
			_, err := io.WriteString(w, "late")
			written <- err
		})
		if err == nil {
			_ = res.Body.Close()
		}
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		synctest.Wait()
		select {
		case err := <-written:
			assert.Error(t, err, "a late response was written without an error")
		default:
			t.Fatal("the handler waits for a reader")
		}
	})
}

func TestHandlerTransportCancelDuringBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		res, err := get(ctx, t, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, "one ")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		})
		require.NoError(t, err)
		defer func() { _ = res.Body.Close() }()
		if _, err := io.ReadFull(res.Body, make([]byte, 4)); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(time.Second, cancel)
		if _, err := res.Body.Read(make([]byte, 1)); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// lateDone is a context whose Done returns only after all other goroutines are blocked.
type lateDone struct{ context.Context }

func (c lateDone) Done() <-chan struct{} {
	synctest.Wait()
	return c.Context.Done()
}

// A canceled request fails with the context's error, even if the handler has aborted.
func TestCanceledAndAborted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 100 { // select chooses a ready case at random
			ctx, cancel := context.WithCancel(t.Context())
			_, err := get(lateDone{ctx}, t, func(http.ResponseWriter, *http.Request) {
				cancel()
				panic(http.ErrAbortHandler)
			})
			require.ErrorIs(t, err, context.Canceled)
		}
	})
}
