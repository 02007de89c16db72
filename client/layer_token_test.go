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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
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
	check.Need(c.Templates.Create(ctx, TemplateCreate{Name: "n"}))(t)
	assert.EqualValues(t, 2, asked.Load())
	assert.EqualValues(t, 2, requests.Load())
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

func TestTokenKeptUnless401(t *testing.T) {
	for _, status := range []int{400, 403, 404, 422, 500} {
		asked := 0
		c := newTestClient(t, respondWith(status, "application/json", "{}"), withSource(func(context.Context) (Token, error) {
			asked++
			return Token{Value: "t"}, nil
		}))
		_, err := c.Templates.Get(t.Context(), 1)
		require.Error(t, err, "status %d", status)
		assert.Equal(t, 1, asked, "status %d", status)
	}
}
