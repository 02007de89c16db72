package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestTokenSource: after a 401, the client gets another token, retries the request with it and keeps it for later
// requests.
func TestTokenSource(t *testing.T) {
	type key struct{}
	var asked, requests atomic.Int64
	c := newTestClient(t, func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.Header.Get("Authorization") != "Bearer token-2" {
			w.WriteHeader(401)
			return
		}
		respondWith(200, "application/json", `{"template_id":1}`)(w, r)
	}, withoutRetries, withSource(func(ctx context.Context) (Token, error) {
		if ctx.Value(key{}) == nil {
			t.Error("the source got another context")
		}
		return Token{Value: fmt.Sprintf("token-%d", asked.Add(1))}, nil
	}))
	ctx := context.WithValue(t.Context(), key{}, 1)
	must(t)(c.Templates.Create(ctx, TemplateCreate{Name: "n"}))
	if asked.Load() != 2 || requests.Load() != 2 {
		t.Errorf("%d calls of the source for %d requests, want 2 and 2", asked.Load(), requests.Load())
	}
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := c.Templates.Get(ctx, 1); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if asked.Load() != 2 {
		t.Errorf("%d calls of the source, want 2", asked.Load())
	}
}

func TestTokenRejected(t *testing.T) {
	broken := errors.New("cannot renew " + testToken)
	for name, tc := range map[string]struct {
		tokens   []string
		want     error
		requests int64
	}{
		"fixed":               {nil, ErrUnauthorized, 1},
		"the same again":      {[]string{"a", "a"}, ErrUnauthorized, 1},
		"both rejected":       {[]string{"a", "b"}, ErrUnauthorized, 2},
		"source fails":        {[]string{""}, broken, 0},
		"source fails later":  {[]string{testToken, ""}, broken, 1},
		"source is malformed": {[]string{"a b"}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var requests, asked atomic.Int64
			c := newTestClient(t, func(w http.ResponseWriter, _ *http.Request) {
				requests.Add(1)
				w.WriteHeader(401)
			}, func(cfg *Config) {
				if tc.tokens == nil {
					return
				}
				withSource(func(context.Context) (Token, error) {
					if token := tc.tokens[asked.Add(1)-1]; token != "" {
						return Token{Value: token}, nil
					}
					return Token{}, broken
				})(cfg)
			})
			_, err := c.Templates.Create(t.Context(), TemplateCreate{Name: "n"})
			if err == nil || tc.want != nil && !errors.Is(err, tc.want) || requests.Load() != tc.requests || errors.Is(err, ErrOutcomeUnknown) {
				t.Errorf("%v after %d requests, want %v after %d", err, requests.Load(), tc.want, tc.requests)
			}
			if tc.requests > 0 && strings.Contains(fmt.Sprint(err), testToken) {
				t.Errorf("the error shows the token: %v", err)
			}
		})
	}
}

// TestTokenSourceErrorOfAnotherCall: if a token source fails with the *Error of another call, the client does not
// change that error.
func TestTokenSourceErrorOfAnotherCall(t *testing.T) {
	inner := &Error{Op: "login", StatusCode: 503, Attempts: 7}
	asked := 0
	c := newBubbleClient(t, nil, withSource(func(context.Context) (Token, error) {
		asked++
		return Token{}, inner
	}))
	err := kinds(c)["create"](t.Context())
	var e *Error
	if !errors.As(err, &e) || e.Op != "createTemplate" || e.Attempts != 0 || asked != 1 || inner.Attempts != 7 || !errors.Is(err, inner) {
		t.Errorf("%v after %d requests; %+v", err, asked, inner)
	}
}

// TestTokenSharedByWaiters: cancellation of one caller does not cancel the source for the other callers.
func TestTokenSharedByWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		tokens := newTokens("", func(ctx context.Context) (Token, error) {
			asked.Add(1)
			select {
			case <-time.After(time.Second):
				return Token{Value: "t"}, nil
			case <-ctx.Done():
				return Token{}, ctx.Err()
			}
		}, 0)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := tokens.get(ctx, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("the canceled caller: %v", err)
			}
		})
		synctest.Wait()
		for range 5 {
			wg.Go(func() {
				if g, err := tokens.get(t.Context(), nil); err != nil || g.token != "t" {
					t.Errorf("a waiting caller: %+v, %v", g, err)
				}
			})
		}
		synctest.Wait()
		cancel()
		wg.Wait()
		if asked.Load() != 1 {
			t.Errorf("%d calls of the source, want 1", asked.Load())
		}
	})
}

// TestTokenSourceFailsForAll: 100 concurrent calls share one failure of the token source, whether they wait for the
// first token or for a new token after a 401. If the source returns the rejected token again, this counts as a
// failure.
func TestTokenSourceFailsForAll(t *testing.T) {
	broken := errors.New("the vault is sealed")
	for name, tc := range map[string]struct {
		tokens []string // the first tokens of the source
		want   error
		apart  time.Duration // delay between calls; calls that start after 1 s get their 401s one by one
		asked  int
	}{
		"at once":             {nil, broken, 10 * time.Millisecond, 1},
		"after a 401":         {[]string{"a"}, broken, 20 * time.Millisecond, 2},
		"with the same token": {[]string{"a", "a", "a"}, ErrUnauthorized, 5 * time.Millisecond, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
				time.Sleep(time.Second)
				return respond(401, ""), nil
			}, withSource(func(context.Context) (Token, error) {
				if asked++; asked == 1 && tc.want == broken {
					time.Sleep(time.Second)
				}
				if asked <= len(tc.tokens) {
					return Token{Value: tc.tokens[asked-1]}, nil
				}
				return Token{}, broken
			}))
			var wg sync.WaitGroup
			for i := range 100 {
				wg.Go(func() {
					time.Sleep(time.Duration(i) * tc.apart)
					if _, err := c.Templates.Get(t.Context(), 1); !errors.Is(err, tc.want) {
						t.Errorf("%s: got %v, want %v", name, err, tc.want)
					}
				})
			}
			wg.Wait()
			if asked != tc.asked {
				t.Errorf("%s: %d calls of the source, want %d", name, asked, tc.asked)
			}
			if _, err := c.Templates.Get(t.Context(), 1); !errors.Is(err, tc.want) || asked != tc.asked+1 {
				t.Errorf("%s: a later call: %v after %d calls of the source, want 1 more", name, err, asked)
			}
		})
	}
}

// TestTokenSourceCanceled: if the source fails because all callers were canceled, a later call does not get that error.
func TestTokenSourceCanceled(t *testing.T) {
	for name, hangs := range map[string]int{"first token": 1, "after a 401": 2} { // the number of the call that hangs
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			tokens := newTokens("", func(ctx context.Context) (Token, error) {
				if asked++; asked == hangs {
					<-ctx.Done()
					time.Sleep(time.Second)
					return Token{}, ctx.Err()
				}
				return Token{Value: fmt.Sprintf("token-%d", asked)}, nil
			}, 0)
			var rejected *cachedToken
			if hangs == 2 {
				rejected = need[*cachedToken](t)(tokens.get(t.Context(), nil))
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if _, err := tokens.get(ctx, rejected); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: the canceled caller: %v", name, err)
			}
			want := fmt.Sprintf("token-%d", hangs+1)
			if g, err := tokens.get(t.Context(), rejected); err != nil || g.token != want || asked != hangs+1 {
				t.Errorf("%s: the next caller: %+v, %v, %d calls of the source", name, g, err, asked)
			}
		})
	}
}

func TestTokenKeptUnless401(t *testing.T) {
	for _, status := range []int{400, 403, 404, 422, 500} {
		asked := 0
		c := newTestClient(t, respondWith(status, "application/json", "{}"), withSource(func(context.Context) (Token, error) {
			asked++
			return Token{Value: "t"}, nil
		}))
		if _, err := c.Templates.Get(t.Context(), 1); err == nil || asked != 1 {
			t.Errorf("status %d: %v, %d calls of the source, want 1", status, err, asked)
		}
	}
}

// duringGet is a context that calls act when tokens.get reads the value of sourceKey.
type duringGet struct {
	context.Context
	act func()
}

func (c duringGet) Value(key any) any {
	if _, ok := key.(sourceKey); ok {
		c.act()
	}
	return c.Context.Value(key)
}

// TestTokenReplacedConcurrently: a call uses a token that another call stored after the first check.
func TestTokenReplacedConcurrently(t *testing.T) {
	tokens := newTokens("", func(context.Context) (Token, error) {
		t.Error("the token source was called")
		return Token{}, nil
	}, 0)
	ctx := duringGet{t.Context(), func() { tokens.setCurrent(&cachedToken{token: "t"}) }}
	if g, err := tokens.get(ctx, nil); err != nil || g.token != "t" {
		t.Errorf("got %+v, %v", g, err)
	}
}
