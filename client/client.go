package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// version is that of this package, as the User-Agent header names it.
const version = "1.0.0"

// Config says how to reach the platform. BaseURL and one of Token and
// TokenSource are required; the zero value of all else is a good default. It
// prints and logs without the token.
type Config struct {
	// BaseURL is the absolute http or https URL that all paths are relative
	// to, for example "https://api.example.com" or, with a prefix,
	// "https://example.com/mail". The platform has no default address.
	BaseURL string

	// AllowPlainHTTP permits an http URL of a host other than localhost and
	// the loopback addresses. The token then travels in the clear.
	AllowPlainHTTP bool

	// Token is a fixed access token.
	Token string `json:"-"`

	// TokenSource gives access tokens, instead of Token.
	TokenSource TokenSource `json:"-"`

	// Account names the account that is acted for, if one token may act for
	// several. It is only used to keep the lookups of accounts apart.
	Account string

	// HTTPClient sends the requests. It is used as it is, except that
	// redirects are never followed, and it is not changed. Default: one like
	// http.DefaultClient that keeps up to 32 idle connections to the platform.
	HTTPClient *http.Client `json:"-"`

	// Timeout bounds one attempt, from dialing to the last byte of the
	// answer. Default 60 s; negative is no bound. Pauses and all attempts
	// together are bounded by the context alone. An attempt that takes longer
	// fails with a context.DeadlineExceeded underneath.
	Timeout time.Duration

	// MaxResponseBytes is how large an answer may be, after decompression.
	// Default 10 MiB.
	MaxResponseBytes int64

	// Retry says how failed requests are tried again.
	Retry RetryConfig

	// LookupLimiter spaces out lookups of submitted emails. Default: a
	// [NewLookupLimiter] of this client's own.
	LookupLimiter LookupLimiter `json:"-"`

	// Logger gets a record of each request at debug level: operation, attempt,
	// status, duration and error. Default: nothing is logged.
	Logger *slog.Logger `json:"-"`

	// UserAgent is the application's own name and version, for example
	// "shop/2.1". It stands before this package's in the User-Agent header.
	UserAgent string
}

// Format implements [fmt.Formatter]: no verb prints the token.
func (c Config) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, c.String()) }

// String returns the base URL and where the token comes from.
func (c Config) String() string {
	token := "none"
	switch {
	case c.TokenSource != nil:
		token = "from a source"
	case c.Token != "":
		token = redacted
	}
	return fmt.Sprintf("client.Config{BaseURL: %s, Token: %s}", printable(c.BaseURL), token)
}

// printable returns a base URL without what may be a secret: a password, and a
// query, which New refuses anyway.
func printable(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Opaque != "" { // "user:password@host" is a scheme and something opaque
		return "invalid"
	}
	u.RawQuery, u.Fragment = "", ""
	return u.Redacted()
}

// LogValue implements [slog.LogValuer].
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalJSON implements [json.Marshaler]: JSON shows no token either.
func (c Config) MarshalJSON() ([]byte, error) {
	type plain Config
	c.BaseURL = printable(c.BaseURL)
	return json.Marshal(plain(c))
}

func (c Config) withDefaults() Config {
	if c.HTTPClient == nil {
		c.HTTPClient = &http.Client{Transport: defaultTransport()}
	}
	if c.LookupLimiter == nil {
		c.LookupLimiter = NewLookupLimiter()
	}
	c.Timeout = orDefault(c.Timeout, time.Minute)
	c.MaxResponseBytes = min(orDefault(c.MaxResponseBytes, 10<<20), math.MaxInt64-1) // one byte more is read
	c.Retry = c.Retry.withDefaults()
	c.UserAgent = strings.TrimSpace(c.UserAgent + " emailplatform-go/" + version)
	return c
}

// defaultTransport is http.DefaultTransport for calls that all go to one host,
// of which that keeps only two idle connections.
func defaultTransport() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.MaxIdleConnsPerHost = 32
	return t
}

// Client calls the platform. Its services group the operations as the
// specification does. A Client is immutable and safe for concurrent use.
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
}

// New returns a client. It sends nothing. The error says which member of cfg
// breaks which rule.
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
		return nil, errors.New("client: Token and TokenSource are both given")
	}
	if cfg.MaxResponseBytes < 0 {
		return nil, errors.New("client: MaxResponseBytes is negative")
	}
	if strings.ContainsFunc(cfg.UserAgent, func(r rune) bool { return r < ' ' || r > '~' }) {
		return nil, errors.New("client: UserAgent: want visible ASCII characters and spaces")
	}
	x := newExchange(cfg.withDefaults(), base)
	return &Client{
		Templates:        &Templates{x},
		Lists:            &Lists{x},
		Contacts:         &Contacts{x},
		Tags:             &Tags{x},
		Emails:           &Emails{x},
		Campaigns:        &Campaigns{x},
		Workflows:        &Workflows{x},
		SuppressedEmails: &SuppressedEmails{x},
		Webhooks:         &Webhooks{x},
		base:             base,
	}, nil
}

// Format implements [fmt.Formatter].
func (c *Client) Format(f fmt.State, _ rune) { _, _ = fmt.Fprintf(f, "client.Client{%s}", c.base) }

// LogValue implements [slog.LogValuer].
func (c *Client) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(c)) }

// baseURL checks s and returns it without a slash at its end.
func baseURL(s string, allowPlain bool) (string, error) {
	if s == "" {
		return "", errors.New("is missing")
	}
	u, err := url.Parse(s)
	if err != nil {
		var parse *url.Error
		if errors.As(err, &parse) { // its text would show s, and so a password in it
			err = parse.Err
		}
		return "", err
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "", errors.New("want an absolute http or https URL")
	case u.User != nil:
		return "", errors.New("must not hold a user or a password")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("must not have a query or a fragment")
	case u.Scheme == "http" && !allowPlain && !isLoopback(u.Hostname()):
		return "", fmt.Errorf("plain http would show the token to the network on the way to %s: use https, or set AllowPlainHTTP", u.Hostname())
	}
	return strings.TrimRight(u.String(), "/"), nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}

// isDialError reports whether err says that no connection was made.
func isDialError(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}
