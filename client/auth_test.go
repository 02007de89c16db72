package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

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
	}, func(cfg *Config) {
		cfg.Token = ""
		cfg.Retry.MaxAttempts = 1
		cfg.TokenSource = func(ctx context.Context) (Token, error) {
			if ctx.Value(key{}) == nil {
				t.Error("asked without the context")
			}
			return Token{Value: fmt.Sprintf("token-%d", asked.Add(1))}, nil
		}
	})
	ctx := context.WithValue(t.Context(), key{}, 1)
	must(t)(c.Templates.Create(ctx, TemplateCreate{Name: "n"}))
	if asked.Load() != 2 || requests.Load() != 2 {
		t.Errorf("asked %d times for %d requests, want 2 and 2", asked.Load(), requests.Load())
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
		t.Errorf("asked %d times, want the token to be kept", asked.Load())
	}
}

func TestTokenRejected(t *testing.T) {
	broken := errors.New("the vault is sealed")
	for name, tc := range map[string]struct {
		tokens   []string
		want     error
		requests int64
	}{
		"fixed":               {nil, ErrUnauthorized, 1},
		"the same again":      {[]string{"a", "a"}, ErrUnauthorized, 1},
		"refused twice":       {[]string{"a", "b"}, ErrUnauthorized, 2},
		"source fails":        {[]string{""}, broken, 0},
		"source fails later":  {[]string{"a", ""}, broken, 1},
		"source is malformed": {[]string{"a b"}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var requests, asked atomic.Int64
			c := newTestClient(t, func(w http.ResponseWriter, _ *http.Request) {
				requests.Add(1)
				w.WriteHeader(401)
			}, func(cfg *Config) {
				if tc.tokens != nil {
					cfg.Token = ""
					cfg.TokenSource = func(context.Context) (Token, error) {
						if token := tc.tokens[asked.Add(1)-1]; token != "" {
							return Token{Value: token}, nil
						}
						return Token{}, broken
					}
				}
			})
			_, err := c.Templates.Create(t.Context(), TemplateCreate{Name: "n"})
			if err == nil || tc.want != nil && !errors.Is(err, tc.want) || requests.Load() != tc.requests || errors.Is(err, ErrOutcomeUnknown) {
				t.Errorf("%v after %d requests, want %v after %d", err, requests.Load(), tc.want, tc.requests)
			}
		})
	}
}

// TestTokenSourceErrorOfAnotherCall: a token source can fail with the *Error of another call. It must not be changed.
func TestTokenSourceErrorOfAnotherCall(t *testing.T) {
	inner := &Error{Op: "login", StatusCode: 503, Attempts: 7}
	asked := 0
	c := newTestClient(t, func(http.ResponseWriter, *http.Request) { t.Error("sent something") }, func(cfg *Config) {
		cfg.Token = ""
		cfg.TokenSource = func(context.Context) (Token, error) {
			asked++
			return Token{}, inner
		}
	})
	err := operations(c)["create"](t.Context())
	var e *Error
	if !errors.As(err, &e) || e.Op != "createTemplate" || e.Attempts != 0 || asked != 1 || inner.Attempts != 7 || !errors.Is(err, inner) {
		t.Errorf("%v after asking %d times; %+v", err, asked, inner)
	}
}

// TestTokenSharedByWaiters: a caller that leaves does not cancel the source for the other callers.
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
					t.Errorf("one that waited: %+v, %v", g, err)
				}
			})
		}
		synctest.Wait()
		cancel()
		wg.Wait()
		if asked.Load() != 1 {
			t.Errorf("asked %d times, want once", asked.Load())
		}
	})
}

// TestTokenSourceFailsForAll: 100 calls share one failure of the source, before the first token and after a 401.
func TestTokenSourceFailsForAll(t *testing.T) {
	broken := errors.New("the vault is sealed")
	for name, tc := range map[string]struct {
		tokens []string // what the source gives first
		is     error
		apart  time.Duration // the calls; 401s come one after the other to those that begin after 1 s
		asked  int
	}{
		"at once":     {nil, broken, 10 * time.Millisecond, 1},
		"after a 401": {[]string{"a"}, broken, 20 * time.Millisecond, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
				time.Sleep(time.Second)
				return respond(401, ""), nil
			}, func(cfg *Config) {
				cfg.Token, cfg.TokenSource = "", func(context.Context) (Token, error) {
					if asked++; asked == 1 {
						time.Sleep(time.Second)
					}
					if asked <= len(tc.tokens) {
						return Token{Value: tc.tokens[asked-1]}, nil
					}
					return Token{}, broken
				}
			})
			var wg sync.WaitGroup
			for i := range 100 {
				wg.Go(func() {
					time.Sleep(time.Duration(i) * tc.apart)
					if _, err := c.Templates.Get(t.Context(), 1); !errors.Is(err, tc.is) {
						t.Errorf("%s: got %v, want %v", name, err, tc.is)
					}
				})
			}
			wg.Wait()
			if asked != tc.asked {
				t.Errorf("%s: asked %d times, want %d", name, asked, tc.asked)
			}
		})
	}
}

// TestTokenSourceKeepsRejected: 100 concurrent calls get a 401, and the source has no other token.
func TestTokenSourceKeepsRejected(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			return respond(401, ""), nil
		}, func(cfg *Config) {
			cfg.Token, cfg.TokenSource = "", func(context.Context) (Token, error) {
				asked++
				return Token{Value: "a"}, nil
			}
		})
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 5 * time.Millisecond)
				if _, err := c.Templates.Get(t.Context(), 1); !errors.Is(err, ErrUnauthorized) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if asked != 2 { // for the first token, and after the first 401
			t.Errorf("asked %d times, want 2", asked)
		}
		if _, err := c.Templates.Get(t.Context(), 1); !errors.Is(err, ErrUnauthorized) || asked != 3 {
			t.Errorf("a later call: %v, asked %d times, want once more", err, asked)
		}
	})
}

// TestTokenSourceFailsForCallsInFlight: calls that were in flight when the source failed do not call it again for the
// same token.
func TestTokenSourceFailsForCallsInFlight(t *testing.T) {
	broken := errors.New("the vault is sealed")
	asked := 0
	tokens := newTokens("", func(context.Context) (Token, error) {
		if asked++; asked == 2 {
			return Token{}, broken
		}
		return Token{Value: fmt.Sprintf("token-%d", asked)}, nil
	}, 0)
	first, err := tokens.get(t.Context(), nil)
	if err != nil || first.token != "token-1" {
		t.Fatal(first, err)
	}
	for range 2 {
		if _, err := tokens.get(t.Context(), first); !errors.Is(err, broken) || asked != 2 {
			t.Errorf("refused: %v, asked %d times", err, asked)
		}
	}
	next, err := tokens.get(t.Context(), nil)
	if err != nil || next.token != "token-1" || asked != 2 {
		t.Errorf("the next call: %+v, %v, asked %d times", next, err, asked)
	}
	if later, err := tokens.get(t.Context(), next); err != nil || later.token != "token-3" {
		t.Errorf("refused again: %+v, %v", later, err)
	}
}

func TestTokenSourceCanceledAfter401(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		tokens := newTokens("", func(ctx context.Context) (Token, error) {
			if asked++; asked == 2 {
				<-ctx.Done()
				return Token{}, ctx.Err()
			}
			return Token{Value: fmt.Sprintf("token-%d", asked)}, nil
		}, 0)
		first, err := tokens.get(t.Context(), nil)
		fatal(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := tokens.get(ctx, first); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the canceled caller: %v", err)
		}
		synctest.Wait()
		if g, err := tokens.get(t.Context(), first); err != nil || g.token != "token-3" {
			t.Errorf("a call in flight: %+v, %v", g, err)
		}
	})
}

func TestTokenKeptUnless401(t *testing.T) {
	for _, status := range []int{400, 403, 404, 422, 500} {
		asked := 0
		c := newTestClient(t, respondWith(status, "application/json", "{}"), func(cfg *Config) {
			cfg.Token, cfg.Retry.MaxAttempts = "", 1
			cfg.TokenSource = func(context.Context) (Token, error) { asked++; return Token{Value: "t"}, nil }
		})
		if _, err := c.Templates.Get(t.Context(), 1); err == nil || asked != 1 {
			t.Errorf("status %d: %v, asked %d times, want once", status, err, asked)
		}
	}
}

// TestTokenSourceCanceled: a source fails because all its callers left. A later call does not get that error.
func TestTokenSourceCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		tokens := newTokens("", func(ctx context.Context) (Token, error) {
			if asked++; asked == 1 {
				<-ctx.Done()
				time.Sleep(time.Second)
				return Token{}, ctx.Err()
			}
			return Token{Value: "t"}, nil
		}, 0)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := tokens.get(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the canceled caller: %v", err)
		}
		if g, err := tokens.get(t.Context(), nil); err != nil || g.token != "t" || asked != 2 {
			t.Errorf("the next: %+v, %v, asked %d times", g, err, asked)
		}
	})
}
