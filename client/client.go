package client

import (
	"errors"
	"fmt"
	"log/slog"
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

	shared *shared
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
	shared := newShared(cfg.withDefaults(), base)
	return shared.newClient(newTokens(cfg.Token, cfg.TokenSource, shared.cfg.Timeout)), nil
}

// WithToken returns a client with another fixed token, for another account or user. The
// new client shares the connections, the retry budget and all other options with c. It
// therefore uses only about 1 kB, so a program with thousands of accounts can have a
// client for each account. The rate limit for lookups is not shared, because each token
// has its own. If a header cannot contain the token, WithToken returns an error that
// names the violated rule.
func (c *Client) WithToken(token string) (*Client, error) {
	if err := checkToken(token); err != nil {
		return nil, fmt.Errorf("client: WithToken: %w", err)
	}
	return c.shared.newClient(newTokens(token, nil, c.shared.cfg.Timeout)), nil
}

// CloseIdleConnections closes idle connections. Without this call, a connection closes
// after it has been idle for 90 s. If a program creates many Clients with [New], call
// the method when a Client is no longer needed. If [Config].HTTPClient is set, the
// method also closes idle connections of other users of that HTTPClient.
func (c *Client) CloseIdleConnections() { c.shared.cfg.HTTPClient.CloseIdleConnections() }

// Format implements [fmt.Formatter].
func (c *Client) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "client.Client{%s}", c.shared.base)
}

// LogValue implements [slog.LogValuer].
func (c *Client) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(c)) }

// shared contains what the clients of several tokens have in common.
type shared struct {
	cfg     Config // without the token
	base    string
	send    handler
	retries retrier
	encoder *encoder
}

func newShared(cfg Config, base string) *shared {
	cfg.Token, cfg.TokenSource = "", nil
	h := handler(newSender(cfg, base).send) // one request, one response
	h = withRequestLog(h, cfg.Logger)       // outside send, so each request is logged
	return &shared{cfg: cfg, base: base, send: h, retries: retrier{cfg.Retry, newBudget(cfg.Retry.Budget)}, encoder: newEncoder()}
}

func (s *shared) newClient(t *tokens) *Client {
	h := s.newHandler(t)
	return &Client{
		Templates:        &Templates{h},
		Lists:            &Lists{h},
		Contacts:         &Contacts{h},
		Tags:             &Tags{h},
		Emails:           &Emails{h},
		Campaigns:        &Campaigns{h},
		Workflows:        &Workflows{h},
		SuppressedEmails: &SuppressedEmails{h},
		Webhooks:         &Webhooks{h, s.cfg.Logger},
		shared:           s,
	}
}

// newHandler returns a handler that wraps the layers of a call around send, the innermost
// layer. Each layer is in a file layer_*.go.
func (s *shared) newHandler(t *tokens) handler {
	limit := lookupLimit{limiter: s.cfg.LookupLimiter, tokens: t, scope: s.base + "\x00" + s.cfg.Account, retry: s.cfg.Retry}

	h := withToken(s.send, t)             // outside the log, so the log contains the 401 too
	h = withLookupLimit(h, limit)         // outside the token, which is requested after the wait for the rate limiter
	h = withRetries(h, s.retries)         // each attempt waits for the limiter, obtains a token and is logged
	h = withEncodedBody(h, s.encoder)     // outside the retries, so the body is encoded once for all attempts
	h = withContextCause(h)               // outside all layers that check the context
	return withObserver(h, s.cfg.Observe) // outermost, so it sees the final result and the whole duration
}
