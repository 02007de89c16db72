package client

import (
	"context"
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

// version is that of this package, as the User-Agent header names it. It is
// written by internal/tools/release -prepare.
const version = "0.1.0"

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

	// TokenSource returns access tokens that expire. Set it instead of Token.
	TokenSource TokenSource `json:"-"`

	// Account names the account that is acted for, if one token may act for
	// several. It is only used to keep the lookups of accounts apart.
	Account string

	// HTTPClient sends the requests. It is used as it is, except that
	// redirects are never followed, and it is not changed. Over HTTP/2 its
	// transport sends no request twice by itself; over HTTP/1 it may if it
	// adds an Idempotency-Key, so it must not. Default: one of this Client's
	// own, like http.DefaultClient, that keeps up to 100 idle connections to the
	// platform; see [Client.CloseIdleConnections].
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

	// Logger gets a record of each request at debug level, "platform request",
	// and one of each retry at info level, "platform request is tried again".
	// Both have the keys op, method, path, attempt, status (0 if no answer
	// came), request_id (if there is one) and error (if it failed, a group);
	// the first has duration and the second pause. A path may hold the address
	// of a recipient, and so may an error. Default: nothing is logged.
	Logger *slog.Logger `json:"-"`

	// Observe, if not nil, is called when a call begins, with its operation,
	// such as "getEmail". All that the call does runs with the context that it
	// returns, which must come from ctx, and the [Observer] that it returns is
	// told of retries and of the end: for traces and metrics. Each page of an
	// iterator and each batch of an import is a call. It must be safe for
	// concurrent use and not block.
	Observe func(ctx context.Context, op string) (context.Context, Observer) `json:"-"`

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

// maxIdleConns is how many connections wait for the next burst of calls: as many
// as http.DefaultTransport keeps to all hosts together.
const maxIdleConns = 100

// defaultTransport is http.DefaultTransport for calls that all go to one host,
// of which that keeps only two idle connections.
func defaultTransport() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.MaxIdleConnsPerHost = maxIdleConns
	return t
}

// RetryConfig says how failed requests are tried again. The zero RetryConfig
// is a good default.
type RetryConfig struct {
	// MaxAttempts is how often a request is sent at most. Default 3; 1 turns
	// retries off. A token asked for after a 401 does not count, nor does a
	// lookup that is refused because it came too early.
	MaxAttempts int

	// BaseDelay is the longest pause before the second attempt. It doubles
	// with each further attempt, up to MaxDelay. The pause itself is random,
	// from 0 up to that. Default 200 ms; negative is no pause.
	BaseDelay time.Duration

	// MaxDelay is the longest pause that the client itself chooses. Default 5 s.
	MaxDelay time.Duration

	// MaxRetryAfter is the longest Retry-After that is waited. A call that is
	// asked to wait for longer fails at once, and its error says for how long.
	// Default 60 s; negative ignores Retry-After.
	MaxRetryAfter time.Duration

	// Budget is how many retries in excess of the successes all calls of the
	// client have together. Each retry takes one; each call that succeeds at
	// once gives a fifth back, and one that succeeds after a retry gives one
	// back. When nothing is left, calls fail without a retry, so that an
	// outage does not multiply the load. Default 100; negative is no limit.
	Budget int
}

func (r RetryConfig) withDefaults() RetryConfig {
	r.MaxAttempts = max(orDefault(r.MaxAttempts, 3), 1)
	r.BaseDelay = max(orDefault(r.BaseDelay, 200*time.Millisecond), 0)        // negative, it would overflow
	r.MaxDelay = min(orDefault(r.MaxDelay, 5*time.Second), math.MaxInt64/2-1) // both together are a pause
	r.MaxRetryAfter = min(orDefault(r.MaxRetryAfter, 60*time.Second), math.MaxInt64/2)
	r.Budget = orDefault(r.Budget, 100)
	return r
}

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// baseURL checks s and returns it without a slash at its end.
func baseURL(s string, allowPlain bool) (string, error) {
	if s == "" {
		return "", errors.New("is missing")
	}
	u, err := url.Parse(s)
	if err != nil {
		if parse, ok := errors.AsType[*url.Error](err); ok { // its text would show s, and so a password in it
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
		return "", fmt.Errorf("plain http would show the token to the network on the way to %s: "+
			"use https, or set AllowPlainHTTP", u.Hostname())
	}
	return strings.TrimRight(u.String(), "/"), nil
}

func isLoopback(host string) bool {
	return net.ParseIP(host).IsLoopback() || strings.EqualFold(host, "localhost")
}
