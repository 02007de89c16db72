package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
)

// TestWithHeader: each request of a call with the context has the header, including retries.
func TestWithHeader(t *testing.T) {
	var got []string
	c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
		got = append(got, fmt.Sprintf("%q %q %q", r.Header["X-Tenant"], r.Header["Trace~parent"], r.Header["Authorization"]))
		if len(got) == 1 {
			return respond(503, ""), nil
		}
		return respond(200, `{"template_id":1}`), nil
	}, withoutPauses)
	ctx := WithHeader(t.Context(), "x-tenant", "wrong")
	ctx = WithHeader(ctx, "X-Tenant", "ours and ~theirs")
	both := WithHeader(ctx, "Trace~parent", "00-1")
	for _, ctx := range []context.Context{both, ctx, WithHeader(ctx, "X-TENANT", ""), t.Context()} {
		check.Need(c.Templates.Get(ctx, 1))(t)
	}
	const tenant, token = `["ours and ~theirs"]`, ` ["Bearer ` + testToken + `"]`
	traced := tenant + ` ["00-1"]` + token
	want := []string{traced, traced, tenant + " []" + token, "[] []" + token, "[] []" + token}
	assert.Equal(t, want, got)
}

// TestWithHeaderRejectsReserved: reserved and invalid headers are rejected before a request, and the error does not
// contain the value.
func TestWithHeaderRejectsReserved(t *testing.T) {
	requests := 0
	c := newTestClient(t, func(http.ResponseWriter, *http.Request) { requests++ })
	rejected := map[string]string{
		"": "x", "X Y": "x", "X:": "x", "X\n": "x", "Ü": "x", "X-Break": "x\r\nY: z", "X-Bell": "\a", "X-Umlaut": "ü", "X-Tab": "a\tb",
		"X-Before": " x", "X-After": "x ", "X-Original-URL": "/templates/2", "Prefer": "return=minimal", "authorization": "Bearer x",
	}
	for _, name := range []string{ // literals, to detect an omission in reservedHeaders
		"If-Match", "Content-Md5", "content-length", "Proxy-Authorization", "X-Rewrite-URL", "A-IM", "x-idempotency-key", "TE",
		"Idempotency-Key", "User-Agent", "Accept", "Host", "Transfer-Encoding", "Connection", "Expect", "Accept-Encoding", "Range",
		"X-Http-Method-Override", "Upgrade", "Trailer",
	} {
		rejected[name] = "x"
	}
	for _, name := range reservedHeaders() {
		if http.CanonicalHeaderKey(name) != name {
			t.Errorf("%s is not in canonical form, so no name matches it", name)
		}
		rejected[name] = ""
		rejected[strings.ToLower(name)] = "s3cret"
	}
	for name, value := range rejected {
		for op, call := range kinds(c) {
			err := call(WithHeader(t.Context(), name, value))
			assert.ErrorIs(t, err, ErrValidation, "%s with %q", op, name)
			assert.NotErrorIs(t, err, ErrOutcomeUnknown, "%s with %q", op, name)
			assert.ErrorContains(t, err, "header ", "%s with %q", op, name)
			if len(value) > 1 && strings.Contains(err.Error(), strings.TrimSpace(value)) {
				t.Errorf("%s with %q: the error shows the value: %v", op, name, err)
			}
		}
	}
	assert.Equal(t, 0, requests, "requests were sent")
	ctx := WithHeader(t.Context(), "X-Secret", "s3cret")
	for _, verb := range []string{"%v", "%+v", "%#v"} {
		assert.NotContains(t, fmt.Sprintf(verb, ctx), "s3cret", "%s of the context contains the value", verb)
	}
}

func TestTokenSourceGetsNoCallOptions(t *testing.T) {
	c := newTestClient(t, respondWith(200, "application/json", `{"template_id":1}`), withSource(func(ctx context.Context) (Token, error) {
		o := optionsOf(ctx)
		assert.Nil(t, o.header)
		assert.Zero(t, o.maxAttempts)
		return Token{Value: testToken}, nil
	}))
	if _, err := c.Templates.Get(WithMaxAttempts(WithHeader(t.Context(), "X-Tenant", "7"), 7), 1); err != nil {
		t.Error(err)
	}
}

// TestTokenSourceGetsNoHook: a source can outlive the call whose context it gets, so it must not call the hook.
func TestTokenSourceGetsNoHook(t *testing.T) {
	other := newTestClient(t, respondWith(200, "application/json", `{"list_id":1}`))
	c := newTestClient(t, respondWith(200, "application/json", `{"template_id":1}`), withSource(func(ctx context.Context) (Token, error) {
		_, err := other.Lists.Get(ctx, 1)
		return Token{Value: testToken}, err
	}))
	var ops []string
	ctx := WithResponseHook(t.Context(), func(r Response) { ops = append(ops, r.Op) })
	check.Need(c.Templates.Get(ctx, 1))(t)
	assert.Equal(t, []string{"getTemplate"}, ops)
}

// TestWithMaxAttempts: the limit applies to each kind of operation. A create with an unknown outcome is sent only once.
func TestWithMaxAttempts(t *testing.T) {
	for _, status := range []int{429, 500} {
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) { return respond(status, ""), nil }, withoutPauses)
		for n, want := range map[int]int{-1: 1, 0: 3, 1: 1, 2: 2, 7: 7} {
			for op, call := range kinds(c) {
				want := want
				if op == "create" && status == 500 {
					want = 1
				}
				e, ok := errors.AsType[*Error](call(WithMaxAttempts(t.Context(), n)))
				require.True(t, ok, op)
				assert.Equal(t, want, e.Attempts, op)
			}
		}
	}
}

// TestWithMaxAttemptsOfLookup: rejected lookups and attempts that fail with other errors all count toward the
// limit. Only a request that is sent again with a new token after a 401 does not count.
func TestWithMaxAttemptsOfLookup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for name, statuses := range map[string][]int{
			"rejected": {429}, "failed": {500}, "rejected, then failed": {429, 500}, "failed, then rejected": {500, 429, 429, 500},
		} {
			for n, want := range map[int]int{-1: 1, 1: 1, 2: 2, 3: 3, 11: 11} {
				requests := 0
				c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
					requests++
					return respond(statuses[(requests-1)%len(statuses)], ""), nil
				})
				_, err := c.Emails.Get(WithMaxAttempts(t.Context(), n), "1")
				require.Error(t, err, name)
				assert.Equal(t, want, requests, name)
			}
		}
		tokens := 0
		c := newBubbleClient(t, inOrder(respond(401, ""), respond(429, ""), respond(200, `{"id":"1"}`)), withSource(func(context.Context) (Token, error) {
			tokens++
			return Token{Value: testToken + strconv.Itoa(tokens)}, nil
		}))
		_, err := c.Emails.Get(WithMaxAttempts(t.Context(), 2), "1")
		assert.NoError(t, err)
	})
}
