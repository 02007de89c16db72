package client

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestPrefetch checks the number of concurrent requests and the total time.
func TestPrefetch(t *testing.T) {
	for _, depth := range []int{0, 1, 3} {
		synctest.Test(t, func(t *testing.T) {
			var under, most atomic.Int64
			srv := &tagPages{pages: pagesOf(slices.Repeat([]int{2}, 81)...), perPage: 2}
			c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
				most.Store(max(most.Load(), under.Add(1)))
				defer under.Add(-1)
				select {
				case <-time.After(20 * time.Millisecond):
				case <-r.Context().Done():
				}
				return srv.RoundTrip(r)
			})
			start := time.Now()
			n := 0
			for _, err := range c.Tags.All(t.Context(), ListTagsParams{}, Prefetch(depth)) {
				assert.NoError(t, err)
				if n++; n == 2*81 {
					break
				}
			}
			assert.Equal(t, time.Duration(1+80/(depth+1))*20*time.Millisecond, time.Since(start), "Prefetch(%d)", depth)
			assert.Equal(t, int64(depth+1), most.Load())
			assert.Zero(t, under.Load())
		})
	}
}

// TestPrefetchEnds: no goroutine remains, however the loop ends.
func TestPrefetchEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		fail    int64         // number of the page that fails
		timeout time.Duration // of the context
		leave   func()        // called after item 7
		items   int
		want    error
	}{
		"break":        {0, time.Hour, func() {}, 7, nil},
		"panic":        {0, time.Hour, func() { panic("in the loop") }, 7, nil},
		"failing page": {4, time.Hour, nil, 6, ErrForbidden},
		"context":      {0, 1500 * time.Millisecond, nil, 2, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				srv := &tagPages{pages: pagesOf(slices.Repeat([]int{2}, 50)...), perPage: 2, fail: tc.fail}
				c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
					if err := pause(r.Context(), time.Second); err != nil {
						return nil, err
					}
					return srv.RoundTrip(r)
				})
				ctx, cancel := context.WithTimeout(t.Context(), tc.timeout)
				defer cancel()
				n := 0
				var last error
				func() {
					defer func() { _ = recover() }()
					for _, err := range c.Tags.All(ctx, ListTagsParams{}, Prefetch(5)) {
						if last = err; err == nil {
							n++
						}
						if n == tc.items && tc.leave != nil {
							tc.leave()
							break
						}
					}
				}()
				assert.Equal(t, tc.items, n)
				assert.ErrorIs(t, last, tc.want)
			})
		})
	}
}

// TestPrefetchWithSort: an iteration in another order reads its pages one after another.
func TestPrefetchWithSort(t *testing.T) {
	var asked []string
	c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
		asked = append(asked, r.URL.Query().Get("page"))
		return respond(200, `{"data":[{"id":`+strconv.Itoa(len(asked))+`}],"pagination":{"per_page":1}}`), nil
	})
	for contact, err := range c.Contacts.All(t.Context(), 1, ListContactsParams{Sort: "email:asc"}, Prefetch(5)) {
		if assert.NoError(t, err); contact.ID == 4 {
			break
		}
	}
	assert.Equal(t, []string{"1", "2", "3", "4"}, asked)
}
