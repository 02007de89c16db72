package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"example.com/emailplatform/client"
	"example.com/emailplatform/examples/faulttest"
	"example.com/emailplatform/mockserver"
)

var check = faulttest.Check

// served is a transport that calls a handler without a socket.
type served struct{ http.Handler }

func (s served) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Result(), nil
}

// withTokens runs f on virtual time with a client that gets its tokens with a client secret.
func withTokens(t *testing.T, secret string, f func(t *testing.T, c *client.Client, e *endpoint)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		platform := mockserver.New(mockserver.Config{})
		defer platform.Close()
		e := &endpoint{platform: platform}
		credentials := &clientcredentials.Config{ClientID: clientID, ClientSecret: secret, TokenURL: "https://login.test/token"}
		c, err := client.New(client.Config{BaseURL: platform.URL(), HTTPClient: platform.HTTPClient(), TokenSource: tokens(credentials)})
		check(t, err)
		f(t, c, e)
	})
}

// through returns a context that makes x/oauth2 request tokens from e.
func through(t *testing.T, e *endpoint) context.Context {
	return context.WithValue(t.Context(), oauth2.HTTPClient, &http.Client{Transport: served{e}})
}

func tags(ctx context.Context, c *client.Client) error {
	_, err := c.Tags.List(ctx, client.ListTagsParams{})
	return err
}

// TestTokenRevoked: after a 401 the adapter requests a new token, and the call succeeds.
func TestTokenRevoked(t *testing.T) {
	withTokens(t, clientSecret, func(t *testing.T, c *client.Client, e *endpoint) {
		ctx := through(t, e)
		for want := 1; want <= 3; want++ {
			for range 2 {
				if err := tags(ctx, c); err != nil || e.count() != want {
					t.Fatalf("%v with %d tokens, want %d", err, e.count(), want)
				}
			}
			check(t, e.revoke())
		}
	})
}

// TestTokenReplacedBeforeExpiry: no call is rejected because a token expired.
func TestTokenReplacedBeforeExpiry(t *testing.T) {
	withTokens(t, clientSecret, func(t *testing.T, c *client.Client, e *endpoint) {
		ctx := client.WithResponseHook(through(t, e), func(r client.Response) {
			if r.StatusCode != http.StatusOK {
				t.Errorf("%s: %d", r.Op, r.StatusCode)
			}
		})
		for range 24 * 12 {
			check(t, tags(ctx, c))
			time.Sleep(5 * time.Minute) // virtual time
		}
		if n := e.count(); n < 24 || n > 27 {
			t.Errorf("%d tokens of an hour for a day", n)
		}
	})
}

// hanging is a token endpoint that does not respond.
type hanging struct{}

func (hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestEndpointHangs: calls do not wait for the endpoint while their token is valid. Afterwards,
// they wait for at most Config.Timeout.
func TestEndpointHangs(t *testing.T) {
	withTokens(t, clientSecret, func(t *testing.T, c *client.Client, e *endpoint) {
		check(t, tags(through(t, e), c))
		time.Sleep(59 * time.Minute) // the token expires in a minute
		ctx := context.WithValue(t.Context(), oauth2.HTTPClient, &http.Client{Transport: hanging{}})
		for range 50 {
			if start := time.Now(); tags(ctx, c) != nil || time.Since(start) != 0 {
				t.Fatalf("a call with a valid token took %v", time.Since(start))
			}
			time.Sleep(time.Second)
		}
		time.Sleep(5 * time.Minute)
		start := time.Now()
		if err := tags(ctx, c); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("%v after %v, want Config.Timeout", err, time.Since(start))
		}
		if err := tags(through(t, e), c); err != nil {
			t.Errorf("the endpoint responds again: %v", err)
		}
	})
}

// TestWrongCredentials: the caller gets the error of the endpoint in one line, without the secret.
func TestWrongCredentials(t *testing.T) {
	withTokens(t, "wrong-s3cret", func(t *testing.T, c *client.Client, e *endpoint) {
		err := tags(through(t, e), c)
		if rejected, ok := errors.AsType[*oauth2.RetrieveError](err); !ok || rejected.Response.StatusCode != http.StatusUnauthorized {
			t.Fatalf("got %v", err)
		}
		if strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("the error is %q", err)
		}
	})
}

func TestRun(t *testing.T) { check(t, run(t.Context())) }
