package client

import (
	"cmp"
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
	"unicode"
)

// version appears in the User-Agent header. The command .ci/release prepare
// updates the constant.
const version = "0.1.0"

// Config configures a [Client]. BaseURL and either Token or TokenSource are
// required. The zero values of the other fields are good defaults. A printed or
// logged Config does not contain the token.
type Config struct {
	// BaseURL is the absolute http or https URL of the platform, for example
	// "https://api.example.com" or, with a prefix, "https://example.com/mail".
	BaseURL string

	// AllowPlainHTTP allows an http URL for hosts other than loopback. Over http,
	// the client sends the token unencrypted.
	AllowPlainHTTP bool

	// Token is a fixed access token.
	Token string `json:"-"`

	// TokenSource returns access tokens that expire. Set either TokenSource or
	// Token.
	TokenSource TokenSource `json:"-"`

	// Account is a name of your choice that separates lookup limits. Clients with the
	// same base URL, token and Account share one limit. If one token gives access to
	// several accounts, set Account to a different name for each of them, so each has its
	// own limit. This name does not select the account of a request, because the client
	// does not send it. Usually, the token selects the account. If your platform selects
	// the account by a header instead, see [WithHeader].
	Account string

	// HTTPClient sends the requests. The default is a new http.Client with
	// [NewTransport]. The client does not change an HTTPClient, and never lets it follow
	// redirects.
	//
	// Your own HTTPClient needs two settings:
	//
	//   - Its transport must not add an Idempotency-Key header, because net/http resends
	//     failed HTTP/1 requests that have this header.
	//   - If its transport uses HTTP/2, set SendPingTimeout and PingTimeout in
	//     [http.Transport].HTTP2, or use NewTransport. Otherwise, net/http keeps using a
	//     dead connection for up to 15 minutes.
	HTTPClient *http.Client `json:"-"`

	// Timeout is the maximum duration of one attempt, from dialing to the last byte of the
	// response. It also limits each call to TokenSource. The default is 60 s; a negative
	// value means no limit. If an attempt takes longer, its error wraps
	// context.DeadlineExceeded, and the client may retry. To limit the whole call, use its
	// context.
	Timeout time.Duration

	// MaxResponseBytes is the maximum size of a response body after
	// decompression. The default is 10 MiB.
	MaxResponseBytes int64

	// Retry configures retries.
	Retry RetryConfig

	// LookupLimiter limits the rate of email lookups. By default, all clients in the
	// process with the same BaseURL, Account and token share one limit. If a client has
	// a TokenSource, the first token from the source determines which limit the client
	// uses.
	LookupLimiter LookupLimiter `json:"-"`

	// Logger receives these records:
	//
	//   - "platform request" at debug level for each request, with op, method, path,
	//     attempt, status (0 without a response) and duration
	//   - "retrying platform request" at info level for each retry, with the same
	//     attributes, but delay instead of duration
	//   - "response value ignored" at warn level if a response contains a value of the
	//     wrong type, which becomes the zero value
	//   - "refused parameter omitted" at warn level if a call continues without a
	//     parameter that the platform refused
	//   - one record at warn level for each webhook that [Webhooks.Ensure] reminds you to
	//     archive
	//
	// The records "platform request" and "retrying platform request" also contain
	// request_id and error, if known. The records "response value ignored" and "refused
	// parameter omitted" appear only once for each operation. Paths and errors may contain
	// the address of a recipient. If Logger is nil, the client uses slog.Default. To
	// disable logging, use slog.New(slog.DiscardHandler).
	Logger *slog.Logger `json:"-"`

	// Observe, if not nil, is called at the start of each call, for traces and metrics.
	// Each page of an iterator and each batch of an import is a call. Observe returns the
	// context for the call, which must be derived from ctx. It also returns an [Observer],
	// which the client notifies of the call's retries and end. Observe must be safe for
	// concurrent use and must not block.
	Observe func(ctx context.Context, call Call) (context.Context, Observer) `json:"-"`

	// UserAgent is the name and version of the application, for example "shop/2.1". In
	// the User-Agent header, UserAgent precedes the name and version of this package.
	UserAgent string
}

// Format implements [fmt.Formatter] without the token. However, package fmt does not
// call Format for the verb %p, which prints the token.
func (c Config) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, c.String()) }

// String returns text with the base URL. The text shows whether a token or a token source is set,
// but does not contain the token.
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

func printable(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Opaque != "" { // "user:password@host" is parsed as a scheme and opaque data
		return "invalid"
	}
	u.RawQuery, u.Fragment = "", ""
	return u.Redacted()
}

// LogValue implements [slog.LogValuer].
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalText implements [encoding.TextMarshaler] with the text of String.
func (c Config) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// MarshalBinary implements [encoding.BinaryMarshaler] with the text of String.
func (c Config) MarshalBinary() ([]byte, error) { return []byte(c.String()), nil }

// MarshalJSON implements [json.Marshaler]. The JSON does not contain the token.
func (c Config) MarshalJSON() ([]byte, error) {
	type plain Config
	c.BaseURL = printable(c.BaseURL)
	return json.Marshal(plain(c))
}

func (c Config) withDefaults() Config {
	if c.HTTPClient == nil {
		c.HTTPClient = &http.Client{Transport: NewTransport()}
	}
	if c.LookupLimiter == nil {
		c.LookupLimiter = defaultLookupLimiter()
	}
	c.Timeout = min(cmp.Or(c.Timeout, time.Minute), math.MaxInt64/2)              // adding to it cannot overflow
	c.MaxResponseBytes = min(cmp.Or(c.MaxResponseBytes, 10<<20), math.MaxInt64-1) // one byte more is read
	c.Retry = c.Retry.withDefaults()
	c.UserAgent = strings.TrimSpace(c.UserAgent + " emailplatform-go/" + version)
	return c
}

// maxConns is the maximum number of connections to the platform. http.DefaultTransport
// limits only the number of idle connections, which is at most 2 per host. During a
// burst, it therefore opens any number of connections, which could exhaust the file
// descriptors, and closes almost all of them after the burst.
const maxConns = 100

// pingTimeout has two uses: if net/http receives no HTTP/2 frame during this time, it sends
// a ping, and then waits for the response for the same time.
const pingTimeout = 5 * time.Second

// NewTransport returns a new transport, which is the default for [Config.HTTPClient]. It
// is a copy of [http.DefaultTransport] with two changes:
//
//   - It opens up to 100 HTTP/1 connections, and keeps all of them for reuse while they are
//     idle (see [Client.CloseIdleConnections]). Additional concurrent calls wait for a
//     connection, and [Config.Timeout] includes this wait. Over HTTP/2, many requests share
//     one connection.
//   - It detects a dead HTTP/2 connection: if the connection receives nothing for 5 s,
//     the transport sends a ping, and if no response arrives within another 5 s, it
//     closes the connection. If http.DefaultTransport has its own settings for pings,
//     the copy keeps them.
//
// If http.DefaultTransport is not an [*http.Transport], NewTransport returns it
// unchanged.
func NewTransport() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.MaxConnsPerHost, t.MaxIdleConnsPerHost = maxConns, maxConns
	if t.HTTP2 == nil {
		t.HTTP2 = &http.HTTP2Config{}
	}
	if t.HTTP2.SendPingTimeout == 0 {
		t.HTTP2.SendPingTimeout, t.HTTP2.PingTimeout = pingTimeout, pingTimeout
	}
	return t
}

// RetryConfig configures retries. The zero value is a good default.
type RetryConfig struct {
	// MaxAttempts is the maximum number of attempts. The default is 3; 1 disables retries.
	// The retry with a new token after a 401 never counts.
	//
	// An attempt with a 429 response often does not count either, because other calls may
	// have used up the platform's rate limit. Unless MaxAttempts is 1 or [WithMaxAttempts]
	// is set, there are two cases:
	//
	// - If a lookup gets a 429, the client retries it, up to 60 times in a call.
	// - If any other request gets a 429 with a Retry-After header, the client retries it
	//   after at least 100 ms. After MaxAttempts attempts, the client does so only while the sum
	//   of the call's delays does not exceed MaxRetryAfter.
	MaxAttempts int

	// BaseDelay is the maximum delay before the second attempt. The maximum
	// doubles with each attempt, up to MaxDelay. The actual delay is a random
	// duration from 0 to the maximum. The default is 200 ms; a negative value
	// means no delay.
	BaseDelay time.Duration

	// MaxDelay limits the doubling of BaseDelay. The default is 5 s.
	MaxDelay time.Duration

	// MaxRetryAfter is the longest Retry-After delay that the client accepts. If
	// the platform requests a longer delay, the call fails immediately, and
	// [Error.RetryAfter] contains the delay. The default is 60 s. If the value is
	// negative, the client ignores Retry-After.
	MaxRetryAfter time.Duration

	// Unprocessed503WithRetryAfter declares that the platform has not processed a request
	// when it responds with a 503 and a valid Retry-After header. The client then retries
	// every request after such a response, including [Emails.Send]. If the declaration is
	// wrong, recipients may get duplicates. By default, the outcome after a 503 is unknown.
	Unprocessed503WithRetryAfter bool

	// Budget is the size of the retry budget that all calls of the client share. The
	// budget starts with this number of retries, and never exceeds it. When the budget is
	// exhausted, calls fail without a retry, so an outage does not multiply the load. The
	// default is 100; a negative value means no limit.
	//
	// A retry costs 1, but a retry after a 429 with a Retry-After header costs nothing,
	// because a platform that sends this header has not failed and limits the load itself.
	// A call adds 0.2 to the budget if its first attempt succeeds, and 1 if a retry
	// succeeds.
	Budget int
}

func (r RetryConfig) withDefaults() RetryConfig {
	r.MaxAttempts = max(cmp.Or(r.MaxAttempts, 3), 1)
	r.BaseDelay = max(cmp.Or(r.BaseDelay, 200*time.Millisecond), 0)      // a negative delay would overflow
	r.MaxDelay = min(cmp.Or(r.MaxDelay, 5*time.Second), math.MaxInt64/2) // MaxRetryAfter is added
	r.MaxRetryAfter = min(cmp.Or(r.MaxRetryAfter, 60*time.Second), math.MaxInt64/2)
	r.Budget = cmp.Or(r.Budget, 100)
	return r
}

func baseURL(s string, allowPlain bool) (string, error) {
	if s == "" {
		return "", errors.New("must not be empty")
	}
	u, err := url.Parse(s)
	if err != nil {
		if parse, ok := errors.AsType[*url.Error](err); ok { // the error text would contain a password from s
			err = parse.Err
		}
		return "", err
	}
	switch {
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "", errors.New("must be an absolute http or https URL")
	case strings.ContainsFunc(s, unicode.IsSpace): // at its end, for example
		return "", errors.New("must not contain white space")
	case u.User != nil:
		return "", errors.New("must not contain a username or password")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("must not contain a query or a fragment")
	case u.Scheme == "http" && !allowPlain && !isLoopback(u.Hostname()):
		return "", fmt.Errorf("plain http would send the token unencrypted to %s: use https, or set AllowPlainHTTP", u.Hostname())
	}
	return strings.TrimRight(u.String(), "/"), nil
}

func isLoopback(host string) bool {
	return net.ParseIP(host).IsLoopback() || strings.EqualFold(host, "localhost")
}
