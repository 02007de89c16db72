package client

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"testing"
	"time"
)

// loss is a way to lose a request or a response.
type loss struct {
	name    string
	lose    func(c h2Conn, stream uint32)
	certain bool // HTTP/2 says that the request was not processed
}

// losses returns all error codes, before and after the start of a response, and GOAWAY.
func losses() []loss {
	all := []loss{{"closed", func(c h2Conn, _ uint32) { _ = c.Close() }, false}}
	for i, name := range errorCodes {
		code := uint32(i)
		reset := func(c h2Conn, stream uint32) { c.reset(stream, code) }
		all = append(all,
			loss{"RST_STREAM " + name, reset, name == "REFUSED_STREAM"},
			loss{"GOAWAY below the stream, " + name, func(c h2Conn, stream uint32) { c.goAway(stream-1, code) }, true},
		)
		if name != "NO_ERROR" && name != "PROTOCOL_ERROR" && name != "REFUSED_STREAM" {
			continue
		}
		all = append(all,
			loss{"103, RST_STREAM " + name, func(c h2Conn, stream uint32) {
				c.headers(stream, 103)
				c.reset(stream, code)
			}, name == "REFUSED_STREAM"},
			loss{"200, RST_STREAM " + name, func(c h2Conn, stream uint32) {
				c.headers(stream, 200)
				c.frame(frameData, 0, stream, []byte(`{"template_id":`))
				c.reset(stream, code)
			}, false},
			loss{"GOAWAY with the stream, closed, " + name, func(c h2Conn, stream uint32) {
				c.goAway(stream, code)
				_ = c.Close()
			}, false},
		)
	}
	return all
}

// transports are ways to send over HTTP/2.
var transports = map[string]func(http.RoundTripper) http.RoundTripper{
	"net/http": func(t http.RoundTripper) http.RoundTripper { return t },
	"wrapped": func(t http.RoundTripper) http.RoundTripper {
		return roundTrip(func(r *http.Request) (*http.Response, error) {
			resp, err := t.RoundTrip(r.Clone(r.Context()))
			if err != nil {
				err = fmt.Errorf("wrapped: %w", err)
			}
			return resp, err
		})
	},
}

// TestNoResendOverHTTP2: net/http itself would send a request again after most losses.
func TestNoResendOverHTTP2(t *testing.T) {
	t.Parallel()
	// The key is the number of earlier responses on the connection. Without TLS,
	// a response shows that it is HTTP/2.
	platforms := []*h2Platform{newH2Platform(t), newPlainH2Platform(t)}
	for name, wrap := range transports {
		for warm, p := range platforms {
			for i, l := range losses() {
				if name == "wrapped" && i > 10 {
					break
				}
				t.Run(fmt.Sprintf("%s, %s after %d responses", name, l.name, warm), func(t *testing.T) {
					for op := range operations(nil) {
						loseOverHTTP2(t, p, l, op, wrap, 1, warm)
						loseOverHTTP2(t, p, l, op, wrap, 3, warm)
					}
				})
			}
		}
	}
}

// loseOverHTTP2 calls op while each request meets l.
func loseOverHTTP2(t *testing.T, p *h2Platform, l loss, op string, wrap func(http.RoundTripper) http.RoundTripper, attempts, warm int) {
	t.Helper()
	p.lost(warm, l.lose)
	hc := p.client(t)
	defer hc.CloseIdleConnections()
	c, err := New(Config{
		BaseURL: p.base, Token: testToken, HTTPClient: &http.Client{Transport: wrap(hc.Transport)},
		Retry: RetryConfig{MaxAttempts: attempts, BaseDelay: -1},
	})
	fatal(t, err)
	for range warm {
		must(t)(c.Templates.Get(t.Context(), 1))
	}
	err = operations(c)[op](t.Context())
	want := attempts
	if op == "create" && !l.certain {
		want = 1
	}
	if got := p.arrived(); got != want {
		t.Errorf("%s with %d attempts arrived %d times, want %d", op, attempts, got, want)
	}
	var e *Error
	if !errors.As(err, &e) || e.Attempts != want {
		t.Errorf("%s with %d attempts: %v, want an error after %d", op, attempts, err, want)
	}
	unknown, hasBody := errors.Is(err, ErrOutcomeUnknown), op == "create" || op == "update"
	if l.certain && hasBody && unknown || !l.certain && op != "read" && !unknown {
		t.Errorf("%s with %d attempts: %v, want the outcome to be known: %v", op, attempts, err, l.certain)
	}
}

func TestResendOfUnprocessedHTTP2Request(t *testing.T) {
	p := newH2Platform(t)
	for _, l := range losses() {
		if !l.certain {
			continue
		}
		p.lost(0, func(c h2Conn, stream uint32) {
			if p.arrived() == 1 {
				l.lose(c, stream)
				return
			}
			c.answer(stream, `{"template_id":7}`)
		})
		var o observations
		c, err := New(Config{
			BaseURL: p.base, Token: testToken, HTTPClient: p.client(t),
			Retry: RetryConfig{BaseDelay: -1}, Observe: o.observe,
		})
		fatal(t, err)
		template, err := c.Templates.Create(t.Context(), TemplateCreate{Name: "n"})
		if err != nil || template.ID != 7 || p.arrived() != 2 || o.end[0].Attempts != 2 {
			t.Errorf("%s: got %d, %v after %d requests, want 7 after 2; observed %+v", l.name, template.ID, err, p.arrived(), o.end)
		}
	}
}

// TestTransportSendsOtherRequests: a RoundTripper can send other requests with the context of the call.
func TestTransportSendsOtherRequests(t *testing.T) {
	p := newH2Platform(t)
	p.lost(10, nil)
	tr := p.client(t).Transport
	around := roundTrip(func(r *http.Request) (*http.Response, error) {
		login, err := http.NewRequestWithContext(r.Context(), http.MethodGet, p.base+"/login", nil)
		if err != nil {
			return nil, err
		}
		resp, err := tr.RoundTrip(login)
		if err != nil {
			return nil, err
		}
		_ = resp.Body.Close()
		return tr.RoundTrip(r)
	})
	c, err := New(Config{BaseURL: p.base, Token: testToken, HTTPClient: &http.Client{Transport: around}})
	fatal(t, err)
	if _, err := c.Templates.Create(t.Context(), TemplateCreate{Name: "n"}); err != nil || p.arrived() != 2-10 {
		t.Errorf("got %v, %d requests in all, want the other one and the create", err, p.arrived()+10)
	}
}

// TestNoResendAfterProtocolChange: the platform uses HTTP/1, so requests have GetBody, and then HTTP/2.
func TestNoResendAfterProtocolChange(t *testing.T) {
	p := newH2Platform(t)
	h1 := httptest.NewTLSServer(answer(200, "application/json", `{"template_id":1}`))
	defer h1.Close()
	for _, l := range losses() {
		p.lost(0, l.lose)
		asked, tr := 0, p.client(t).Transport
		c, err := New(Config{
			BaseURL: p.base, Token: testToken, Timeout: 5 * time.Second, Retry: RetryConfig{MaxAttempts: 1},
			HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				if asked++; asked == 1 {
					r = r.Clone(r.Context())
					r.URL.Host = h1.Listener.Addr().String()
					return h1.Client().Transport.RoundTrip(r)
				}
				return tr.RoundTrip(r)
			})},
		})
		fatal(t, err)
		must(t)(c.Templates.Get(t.Context(), 1))
		_, err = c.Templates.Create(t.Context(), TemplateCreate{Name: "n"})
		if got := p.arrived(); got != 1 || err == nil || !l.certain && !errors.Is(err, ErrOutcomeUnknown) {
			t.Errorf("%s: arrived %d times, %v", l.name, got, err)
		}
	}
}

func TestEndlessInformationalResponses(t *testing.T) {
	t.Parallel()
	h1 := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", strings.Repeat("x", 10_000))
		for r.Context().Err() == nil {
			w.WriteHeader(http.StatusEarlyHints)
		}
	}))
	defer h1.Close()
	p := newH2Platform(t)
	p.lost(0, func(c h2Conn, stream uint32) {
		for range 200_000 {
			c.headers(stream, http.StatusEarlyHints)
		}
		c.answer(stream, `{"template_id":1}`)
	})
	for base, hc := range map[string]*http.Client{h1.URL: h1.Client(), p.base: p.client(t)} {
		c, err := New(Config{BaseURL: base, Token: testToken, HTTPClient: hc, Timeout: -1, Retry: RetryConfig{MaxAttempts: 1}})
		fatal(t, err)
		if _, err := c.Templates.Create(t.Context(), TemplateCreate{Name: "n"}); !errors.Is(err, ErrInvalidResponse) || !errors.Is(err, ErrOutcomeUnknown) {
			t.Errorf("%s: %v", base, err)
		}
	}
}

// TestInformationalResponseLimit: 1xx responses may have 1 MiB in total.
func TestInformationalResponseLimit(t *testing.T) {
	const line = len("HTTP/1.1 103 \r\n\r\n") + len("Link: \r\n")
	for _, parts := range []int{1, 4} {
		for over := range 2 {
			o := &once{}
			var err error
			for i := range parts {
				size := maxInformed / parts
				if i == 0 {
					size += over
				}
				if err != nil {
					t.Errorf("%d of %d: %v", i, parts, err)
				}
				err = o.got1xx(103, textproto.MIMEHeader{"Link": {strings.Repeat("x", size-line)}})
			}
			if (err != nil) != (over > 0) {
				t.Errorf("%d bytes too many in %d responses: %v", over, parts, err)
			}
		}
	}
	two := textproto.MIMEHeader{"A": {strings.Repeat("x", maxInformed/2)}, "B": {strings.Repeat("x", maxInformed/2)}}
	if new(once).got1xx(103, two) == nil {
		t.Error("fields of one response do not add up")
	}
}

func TestDetectHTTP2(t *testing.T) {
	here, there := net.Pipe()
	defer here.Close()
	defer there.Close()
	for name, tc := range map[string]struct {
		conn net.Conn
		want bool
	}{
		"no TLS":      {here, false},
		"no protocol": {tls.Client(here, &tls.Config{ServerName: "x"}), false},
		"h2":          {settledConn{here, "h2"}, true},
		"http/1.1":    {settledConn{here, "http/1.1"}, false},
	} {
		if got := settledHTTP2(tc.conn); got != tc.want {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
	for err, want := range map[error]bool{
		&net.OpError{Op: "dial", Err: io.EOF}: true, &net.OpError{Op: "read", Err: io.EOF}: false, io.EOF: false,
	} {
		if got := isDialError(fmt.Errorf("wrapped: %w", err)); got != want {
			t.Errorf("%v: no connection was made: %v, want %v", err, got, want)
		}
	}
}

type settledConn struct {
	net.Conn
	protocol string
}

func (c settledConn) ConnectionState() tls.ConnectionState {
	return tls.ConnectionState{NegotiatedProtocol: c.protocol}
}
