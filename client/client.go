package client

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
)

// Client calls the platform through a service for each kind of resource. A
// Client is immutable and safe for concurrent use.
type Client struct {
	Templates        *Templates
	Lists            *Lists
	Contacts         *Contacts
	Tags             *Tags
	Emails           *Emails
	Campaigns        *Campaigns
	Workflows        *Workflows
	SuppressedEmails *SuppressedEmails
	Webhooks         *Webhooks

	base string
	http *http.Client
}

// New returns a client, and does not send a request. If the configuration is
// invalid, the error contains the name of the field and the violated rule.
func New(cfg Config) (*Client, error) {
	base, err := baseURL(cfg.BaseURL, cfg.AllowPlainHTTP)
	if err != nil {
		return nil, fmt.Errorf("client: BaseURL: %w", err)
	}
	if cfg.TokenSource == nil {
		if err := checkToken(cfg.Token); err != nil {
			return nil, fmt.Errorf("client: Token: %w", err)
		}
	} else if cfg.Token != "" {
		return nil, errors.New("client: Token and TokenSource must not both be set")
	}
	if cfg.MaxResponseBytes < 0 {
		return nil, errors.New("client: MaxResponseBytes must not be negative")
	}
	if strings.ContainsFunc(cfg.UserAgent, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil, errors.New("client: UserAgent must contain only visible ASCII characters and spaces")
	}
	cfg = cfg.withDefaults()
	h := newHandler(cfg, base)
	return &Client{
		Templates:        &Templates{h},
		Lists:            &Lists{h},
		Contacts:         &Contacts{h},
		Tags:             &Tags{h},
		Emails:           &Emails{h},
		Campaigns:        &Campaigns{h},
		Workflows:        &Workflows{h},
		SuppressedEmails: &SuppressedEmails{h},
		Webhooks:         &Webhooks{h, cfg.Logger},
		base:             base,
		http:             cfg.HTTPClient,
	}, nil
}

// CloseIdleConnections closes idle connections, which otherwise close after 90
// s of inactivity. Call this method in a program that creates many Clients. If
// [Config].HTTPClient is set, the method also closes idle connections of other
// users of that HTTPClient.
func (c *Client) CloseIdleConnections() { c.http.CloseIdleConnections() }

// Format implements [fmt.Formatter].
func (c *Client) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "client.Client{%s}", c.base) }

// LogValue implements [slog.LogValuer].
func (c *Client) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(c)) }

// newHandler combines the layers of a call, from the inside out. Each layer is in the
// file layer_*.go.
func newHandler(cfg Config, base string) handler {
	tokens := newTokens(cfg.Token, cfg.TokenSource, cfg.Timeout)
	retries := retrier{cfg.Retry, newBudget(cfg.Retry.Budget)}
	limit := lookups{limiter: cfg.LookupLimiter, tokens: tokens, scope: base + "\x00" + cfg.Account, retry: cfg.Retry}

	h := handler(newSender(cfg, base).send) // one request, one response
	h = withRequestLog(h, cfg.Logger)       // outside send, so each request is logged
	h = withToken(h, tokens)                // outside the log, so the log contains the 401 too
	h = withLookupLimit(h, limit)           // outside the token, which is requested after the wait for the rate limiter
	h = withRetries(h, retries)             // each attempt waits for the limiter, obtains a token and is logged
	h = withEncodedBody(h, newEncoder())    // outside the retries, so the body is encoded once for all attempts
	h = withContextCause(h)                 // outside all layers that check the context
	return withObserver(h, cfg.Observe)     // outermost, so it sees the final result and the whole duration
}
