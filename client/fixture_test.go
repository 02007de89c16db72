package client

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"example.com/emailplatform/internal/tests/check"
)

// TestMain discards the log records of clients without a logger, in all tests of this package.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

const testToken = "secret-token-7d1f"

// newClient returns a client that sends its requests to the platform at base.
func newClient(t testing.TB, base string, transport http.RoundTripper, change ...func(*Config)) *Client {
	t.Helper()
	cfg := Config{BaseURL: base, Token: testToken, HTTPClient: &http.Client{Transport: transport}}
	for _, c := range change {
		c(&cfg)
	}
	return check.Need(New(cfg))(t)
}

// newTestClient returns a client of a server with the handler h. The client does not pause between attempts.
func newTestClient(t *testing.T, h http.HandlerFunc, change ...func(*Config)) *Client {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	atOnce := func(cfg *Config) { cfg.LookupLimiter, cfg.Retry.BaseDelay = NoLookupLimit{}, -1 }
	return newClient(t, srv.URL, srv.Client().Transport, append([]func(*Config){atOnce}, change...)...)
}

// newBubbleClient returns a client without a socket. f responds to its requests.
func newBubbleClient(t testing.TB, f roundTrip, change ...func(*Config)) *Client {
	t.Helper()
	return newClient(t, "https://example.com", f, change...)
}

func withoutRetries(cfg *Config) { cfg.Retry.MaxAttempts = 1 }

func withoutPauses(cfg *Config) { cfg.Retry.BaseDelay = -1 }

func withPromised503(cfg *Config) { cfg.Retry.Unprocessed503WithRetryAfter = true }

// withSource sets a token source instead of the token.
func withSource(source TokenSource) func(*Config) {
	return func(cfg *Config) { cfg.Token, cfg.TokenSource = "", source }
}

func last[T any](_ T, err error) error { return err }

func kinds(c *Client) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"read":   func(ctx context.Context) error { return last(c.Templates.Get(ctx, 1)) },
		"update": func(ctx context.Context) error { return last(c.Templates.Update(ctx, 1, TemplateUpdate{})) },
		"delete": func(ctx context.Context) error { return c.Templates.Delete(ctx, 1) },
		"state":  func(ctx context.Context) error { return c.Webhooks.Archive(ctx, "1") },
		"create": func(ctx context.Context) error { return last(c.Templates.Create(ctx, TemplateCreate{Name: "n"})) },
	}
}
