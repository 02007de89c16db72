package mcp

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"example.com/emailplatform/client"
)

// NewHandler returns a handler that serves the tools over streamable HTTP, without
// sessions, on any path. Each request must contain a bearer token in the Authorization
// header. The handler sends this token to the platform. Therefore, cfg, the configuration
// of the client for the platform, must not contain a token. If cfg contains a token or is
// invalid, NewHandler returns an error.
//
// The handler rejects these requests:
//
//   - 401: the token is missing, or contains characters that a token cannot contain. The
//     handler cannot detect other invalid tokens, because the platform checks the token only
//     when a tool is called. (Specification: Authentication.)
//   - 403: the host is neither a loopback name nor in [Options.AllowedHosts], or a
//     browser sends the request from a page with another origin.
//   - 413: the request is larger than 64 KiB.
//   - 400: a batch contains more than 50 messages, or an id is neither a string nor an
//     integer from -9007199254740991 to 9007199254740991.
//   - 503: more requests than [Options.MaxConcurrent] are in progress for one second.
//
// The results of a request are limited to 1 MiB. If the body of a request does not
// arrive within 10 s, the handler responds with 400 and closes the connection. It also
// closes the connection if the caller does not read the response within 10 s.
func NewHandler(cfg client.Config, opts Options) (http.Handler, error) {
	if cfg.Token != "" || cfg.TokenSource != nil {
		return nil, errors.New("mcp: the client's configuration must not contain a token, because each caller sends its own token")
	}
	if cfg.HTTPClient == nil {
		cfg.HTTPClient = &http.Client{Transport: client.NewTransport()}
	}
	if opts.MaxConcurrent < 0 {
		return nil, fmt.Errorf("mcp: MaxConcurrent must be at least 0, got %d", opts.MaxConcurrent)
	}
	if _, err := withToken(cfg, "any"); err != nil {
		return nil, fmt.Errorf("mcp: %w", err)
	}
	server := newServer(func(req *sdk.CallToolRequest) (*client.Client, error) {
		return withToken(cfg, bearer(req.Extra.Header))
	}, opts)
	same := func(*http.Request) *sdk.Server { return server }
	streamable := sdk.NewStreamableHTTPHandler(same, &sdk.StreamableHTTPOptions{
		Stateless:                    true,
		JSONResponse:                 true,
		Logger:                       problems(opts.Logger),
		DisableLocalhostProtection:   true, // checkHost replaces this check, and allows AllowedHosts
		PropagateRequestCancellation: true,
	})
	return checkHost(opts.AllowedHosts, http.NewCrossOriginProtection().Handler(requireToken(limit(opts.MaxConcurrent, streamable)))), nil
}

// withToken returns a client for a caller. The clients of all callers share the
// connections of the HTTP client in cfg.
func withToken(cfg client.Config, token string) (*client.Client, error) {
	cfg.Token = token
	return client.New(cfg)
}

func requireToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !sendable(bearer(r.Header)) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "the Authorization header must have the form \"Bearer <access token>\"",
				http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// sendable reports whether [client.New] accepts a token.
func sendable(token string) bool {
	return token != "" && !strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
}

func bearer(h http.Header) string {
	scheme, token, _ := strings.Cut(h.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// checkHost rejects requests to hosts other than loopback names and allowed hosts.
// Without this check, a web page could make its own host name resolve to this machine,
// and the browser would treat requests from the page to this server as same-origin.
func checkHost(allowed []string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := hostname(r.Host)
		named := func(a string) bool { return strings.EqualFold(a, host) }
		if !isLoopback(host) && !slices.ContainsFunc(allowed, named) {
			http.Error(w, "the host in the Host header is not allowed", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// hostname returns the host of host:port, without the brackets of an IPv6 address.
func hostname(hostport string) string {
	if host, _, err := net.SplitHostPort(hostport); err == nil {
		return host
	}
	return strings.Trim(hostport, "[]")
}

func isLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}
