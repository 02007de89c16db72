package client

import (
	"context"
	"net/http"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// ending runs f on its own goroutine. The second result reports whether f returned. If f panicked, the first
// result is the value of the panic.
func ending(f func()) (panicked any, returned bool) {
	done := make(chan struct{})
	go runCallback(func() {
		f()
		returned = true
	}, func(c callbackExit) {
		panicked = c.panicked
		close(done)
	})
	<-done
	return panicked, returned
}

// TestCallbackPanics: a panic or runtime.Goexit in a callback ends the call, even if another goroutine runs the
// callback. Afterwards no goroutine remains.
func TestCallbackPanics(t *testing.T) {
	ways := map[string]func(){"panic": func() { panic("stop") }, "Goexit": runtime.Goexit}
	for name, call := range callbackCalls() {
		for way, exit := range ways {
			t.Run(name+"/"+way, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					panicked, returned := ending(func() { call(t, exit) })
					want := map[string]any{"panic": "stop"}[way]
					assert.Equal(t, want, panicked)
					assert.False(t, returned)
				})
			})
		}
	}
}

// callbackCalls returns calls that run exit in a callback.
func callbackCalls() map[string]func(t *testing.T, exit func()) {
	pages := func(t *testing.T) *Client {
		srv := &tagPages{pages: pagesOf(slices.Repeat([]int{1}, 100)...), perPage: 1}
		return newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			return srv.RoundTrip(r)
		})
	}
	imports := func(t *testing.T, opts ImportOptions) {
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			return respond(200, `{"imported":1}`), nil
		})
		opts.BatchSize, opts.Concurrency = 1, 3
		_, _ = c.Contacts.Import(t.Context(), 1, numbered(100, 0), opts)
	}
	return map[string]func(t *testing.T, exit func()){
		"token source": func(t *testing.T, exit func()) {
			c := newBubbleClient(t, nil, withSource(func(context.Context) (Token, error) { exit(); return Token{}, nil }))
			_, _ = c.Templates.Get(t.Context(), 1)
		},
		"WithResponseHook": func(t *testing.T, exit func()) {
			_, _ = pages(t).Tags.List(WithResponseHook(t.Context(), func(Response) { exit() }), ListTagsParams{})
		},
		"WithResponseHook under Prefetch": func(t *testing.T, exit func()) {
			var n atomic.Int64
			ctx := WithResponseHook(t.Context(), func(Response) {
				if n.Add(1) > 1 {
					exit()
				}
			})
			for _, err := range pages(t).Tags.All(ctx, ListTagsParams{}, Prefetch(1)) {
				assert.NoError(t, err)
			}
		},
		"Progress": func(t *testing.T, exit func()) {
			imports(t, ImportOptions{OnProgress: func(ImportProgress) { exit() }})
		},
		"Checkpoint": func(t *testing.T, exit func()) {
			imports(t, ImportOptions{OnCheckpoint: func(int64) error { exit(); return nil }})
		},
		"WithResponseHook under Import": func(t *testing.T, exit func()) {
			c := newBubbleClient(t, func(*http.Request) (*http.Response, error) { return respond(200, `{"imported":1}`), nil })
			_, _ = c.Contacts.Import(WithResponseHook(t.Context(), func(Response) { exit() }), 1, numbered(100, 0), ImportOptions{BatchSize: 1})
		},
	}
}

// TestPrefetchCallbackPanics: the caller gets the panic of a callback for a prefetched page even after the loop ends.
func TestPrefetchCallbackPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		ctx := WithResponseHook(t.Context(), func(Response) {
			if n.Add(1) == 3 {
				panic("stop")
			}
		})
		c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
			page := r.URL.Query().Get("page")
			if page == "3" {
				time.Sleep(time.Second) // ignores the canceled context
			}
			return respond(200, `{"data":[{"name":"`+page+`"}],"pagination":{"page":`+page+`,"per_page":1}}`), nil
		})
		seen := 0
		panicked, returned := ending(func() {
			for _, err := range c.Tags.All(ctx, ListTagsParams{}, Prefetch(1)) {
				synctest.Wait() // until the request for the next page is sent
				if seen++; err != nil || seen == 2 {
					break
				}
			}
		})
		assert.Equal(t, 2, seen)
		assert.Equal(t, "stop", panicked)
		assert.False(t, returned)
	})
}
