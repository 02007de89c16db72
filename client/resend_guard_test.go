package client

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
)

// loss is a way to lose a request or a response.
type loss struct {
	name    string
	lose    func(c h2Conn, stream uint32)
	certain bool // HTTP/2 guarantees that the request was not processed
}

// losses returns a closed connection, and RST_STREAM and GOAWAY with each error code, before and during a response.
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

// transports contains functions that return a transport unchanged or wrapped.
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

// TestNoResendOverHTTP2: each attempt sends one request, although net/http resends requests after most losses.
func TestNoResendOverHTTP2(t *testing.T) {
	t.Parallel()
	// The index is the number of earlier responses. Without TLS, the client detects HTTP/2 only by the first response,
	// so the plain platform needs one earlier response.
	platforms := []*h2Platform{newH2Platform(t), newPlainH2Platform(t)}
	for name, wrap := range transports {
		for warm, p := range platforms {
			for i, l := range losses() {
				if name == "wrapped" && i > 3 { // the layers below are the same
					break
				}
				t.Run(fmt.Sprintf("%s, %s after %d responses", name, l.name, warm), func(t *testing.T) {
					for op := range kinds(nil) {
						loseOverHTTP2(t, p, l, op, wrap, warm)
					}
				})
			}
		}
	}
}

// loseOverHTTP2 first makes as many successful calls as the argument warm specifies, and then calls op. The
// platform applies the loss l to each request of op.
func loseOverHTTP2(t *testing.T, p *h2Platform, l loss, op string, wrap func(http.RoundTripper) http.RoundTripper, warm int) {
	t.Helper()
	const attempts = 3
	p.lost(warm, l.lose)
	hc := p.client(t)
	defer hc.CloseIdleConnections()
	c := newClient(t, p.base, wrap(hc.Transport), func(cfg *Config) { cfg.Retry = RetryConfig{MaxAttempts: attempts, BaseDelay: -1} })
	for range warm {
		check.Need(c.Templates.Get(t.Context(), 1))(t)
	}
	err := kinds(c)[op](t.Context())
	want := attempts
	if op == "create" && !l.certain {
		want = 1
	}
	if got := p.arrived(); got != want {
		t.Errorf("%s with %d attempts arrived %d times, want %d", op, attempts, got, want)
	}
	var e *Error
	require.ErrorAs(t, err, &e, "%s with %d attempts", op, attempts)
	assert.Equal(t, want, e.Attempts, "%s with %d attempts", op, attempts)
	unknown, hasBody := errors.Is(err, ErrOutcomeUnknown), op == "create" || op == "update"
	if l.certain && hasBody && unknown || !l.certain && op != "read" && !unknown {
		t.Errorf("%s with %d attempts: %v, want the outcome to be known: %v", op, attempts, err, l.certain)
	}
}

// TestTransportSendsOtherRequests: a RoundTripper can send additional requests with the context of the call.
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
	c := newClient(t, p.base, around)
	_, err := c.Templates.Create(t.Context(), TemplateCreate{Name: "n"})
	require.NoError(t, err)
	assert.Equal(t, 2-10, p.arrived())
}

// TestNoResendAfterProtocolChange: after a response over HTTP/1, requests have GetBody, so net/http could resend
// the next request over HTTP/2.
func TestNoResendAfterProtocolChange(t *testing.T) {
	p := newH2Platform(t)
	h1 := httptest.NewTLSServer(respondWith(200, "application/json", `{"template_id":1}`))
	defer h1.Close()
	for _, l := range losses() {
		p.lost(0, l.lose)
		asked, tr := 0, p.client(t).Transport
		c := newClient(t, p.base, roundTrip(func(r *http.Request) (*http.Response, error) {
			if asked++; asked == 1 {
				r = r.Clone(r.Context())
				r.URL.Host = h1.Listener.Addr().String()
				return h1.Client().Transport.RoundTrip(r)
			}
			return tr.RoundTrip(r)
		}), withoutRetries)
		check.Need(c.Templates.Get(t.Context(), 1))(t)
		_, err := c.Templates.Create(t.Context(), TemplateCreate{Name: "n"})
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
		for range 100_000 {
			c.headers(stream, http.StatusEarlyHints)
		}
		c.respond(stream, `{"template_id":1}`)
	})
	for base, hc := range map[string]*http.Client{h1.URL: h1.Client(), p.base: p.client(t)} {
		c := newClient(t, base, hc.Transport, withoutRetries, func(cfg *Config) { cfg.Timeout = -1 })
		_, err := c.Templates.Create(t.Context(), TemplateCreate{Name: "n"})
		assert.ErrorIs(t, err, ErrInvalidResponse, base)
		assert.ErrorIs(t, err, ErrOutcomeUnknown, base)
	}
}

// TestInformationalResponseLimit: the 1xx responses to a request may have a total size of 1 MiB.
func TestInformationalResponseLimit(t *testing.T) {
	const line = len("HTTP/1.1 103 \r\n\r\n") + len("Link: \r\n")
	for _, parts := range []int{1, 4} {
		for over := range 2 {
			o := &resendGuard{}
			var err error
			for i := range parts {
				size := maxInformational / parts
				if i == 0 {
					size += over
				}
				assert.NoError(t, err, "%d of %d", i, parts)
				err = o.got1xx(103, textproto.MIMEHeader{"Link": {strings.Repeat("x", size-line)}})
			}
			assert.Equal(t, over > 0, err != nil, "%d bytes too many in %d responses: %v", over, parts, err)
		}
	}
	two := textproto.MIMEHeader{"A": {strings.Repeat("x", maxInformational/2)}, "B": {strings.Repeat("x", maxInformational/2)}}
	assert.Error(t, new(resendGuard).got1xx(103, two), "fields of one response do not add up")
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
		assert.Equal(t, tc.want, settledHTTP2(tc.conn), name)
	}
	for err, want := range map[error]bool{
		&net.OpError{Op: "dial", Err: io.EOF}: true, &net.OpError{Op: "read", Err: io.EOF}: false, io.EOF: false,
	} {
		assert.Equal(t, want, isDialError(fmt.Errorf("wrapped: %w", err)), "%v: no connection was made", err)
	}
}

type settledConn struct {
	net.Conn
	protocol string
}

func (c settledConn) ConnectionState() tls.ConnectionState {
	return tls.ConnectionState{NegotiatedProtocol: c.protocol}
}

// Types and flags of HTTP/2 frames (RFC 9113, section 6).
const (
	frameData     = 0x0
	frameHeaders  = 0x1
	frameReset    = 0x3
	frameSettings = 0x4
	framePing     = 0x6
	frameGoAway   = 0x7

	flagEndStream  = 0x1
	flagAck        = 0x1 // of SETTINGS and PING
	flagEndHeaders = 0x4
)

// errorCodes contains the names of the error codes in RFC 9113, section 7. The index of a name is its error code.
// The last element represents an unknown code.
var errorCodes = []string{
	"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
	"FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
	"INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED", "ERR_UNKNOWN_14",
}

// h2Conn is a connection with functions to write HTTP/2 frames.
type h2Conn struct {
	net.Conn
}

func (c h2Conn) frame(kind, flags byte, stream uint32, payload []byte) {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
	b = binary.BigEndian.AppendUint32(append(b, flags), stream)
	_, _ = c.Write(append(b, payload...)) // the client may have closed the connection
}

func (c h2Conn) reset(stream, code uint32) {
	c.frame(frameReset, 0, stream, binary.BigEndian.AppendUint32(nil, code))
}

func (c h2Conn) goAway(last, code uint32) {
	b := binary.BigEndian.AppendUint32(nil, last)
	c.frame(frameGoAway, 0, 0, binary.BigEndian.AppendUint32(b, code))
}

// headers starts a response whose only header field is the status. This field is a literal, and its name has the
// index 8 in HPACK's static table.
func (c h2Conn) headers(stream uint32, status int) {
	c.frame(frameHeaders, flagEndHeaders, stream, fmt.Appendf([]byte{0x48, 3}, "%d", status))
}

func (c h2Conn) respond(stream uint32, body string) {
	c.headers(stream, 200)
	c.frame(frameData, flagEndStream, stream, []byte(body))
}

// serve reads frames and calls request after each complete request.
func (c h2Conn) serve(request func(c h2Conn, stream uint32)) {
	defer c.Close()
	r := bufio.NewReader(c)
	preface := make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
	if _, err := io.ReadFull(r, preface); err != nil {
		return
	}
	c.frame(frameSettings, 0, 0, nil)
	for {
		var head [9]byte
		if _, err := io.ReadFull(r, head[:]); err != nil {
			return
		}
		kind, flags, stream := head[3], head[4], binary.BigEndian.Uint32(head[5:])
		payload := make([]byte, binary.BigEndian.Uint32(head[:4])>>8)
		if _, err := io.ReadFull(r, payload); err != nil {
			return
		}
		switch {
		case kind == frameSettings && flags&flagAck == 0:
			c.frame(frameSettings, flagAck, 0, nil)
		case kind == framePing && flags&flagAck == 0:
			c.frame(framePing, flagAck, 0, payload)
		case (kind == frameHeaders || kind == frameData) && flags&flagEndStream != 0:
			request(c, stream)
		}
	}
}

// h2Platform responds with frames and counts requests.
type h2Platform struct {
	base      string
	transport *http.Transport // client returns clones of it

	mu       sync.Mutex
	requests int
	warm     int // number of requests that get a response
	lose     func(c h2Conn, stream uint32)
	conns    []net.Conn
}

func newH2Platform(t *testing.T) *h2Platform {
	t.Helper()
	srv := httptest.NewUnstartedServer(nil) // provides a certificate and a client that trusts it
	srv.StartTLS()
	srv.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: srv.TLS.Certificates, NextProtos: []string{"h2"}})
	require.NoError(t, err)
	p := &h2Platform{base: "https://" + l.Addr().String(), transport: srv.Client().Transport.(*http.Transport).Clone()}
	p.transport.ForceAttemptHTTP2 = true
	p.transport.TLSClientConfig.ClientSessionCache = tls.NewLRUClientSessionCache(1) // handshakes are slow
	p.transport.TLSClientConfig.CurvePreferences = []tls.CurveID{tls.CurveP256}      // a fast key exchange
	p.listen(t, l)
	return p
}

// newPlainH2Platform returns a platform without TLS, because TLS handshakes are slow.
func newPlainH2Platform(t *testing.T) *h2Platform {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &h2Platform{base: "http://" + l.Addr().String(), transport: &http.Transport{Protocols: new(http.Protocols)}}
	p.transport.Protocols.SetUnencryptedHTTP2(true)
	p.listen(t, l)
	return p
}

func (p *h2Platform) listen(t *testing.T, l net.Listener) {
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.mu.Lock()
			p.conns = append(p.conns, conn)
			p.mu.Unlock()
			wg.Go(func() { h2Conn{conn}.serve(p.request) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.lost(0, nil)
		wg.Wait()
	})
}

// client returns a client with its own connections.
func (p *h2Platform) client(t *testing.T) *http.Client {
	tr := p.transport.Clone()
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

// lost closes all connections. The argument warm is the number of requests that get a response afterwards. The
// function lose handles all later requests.
func (p *h2Platform) lost(warm int, lose func(c h2Conn, stream uint32)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.requests, p.warm, p.lose, p.conns = 0, warm, lose, nil
}

func (p *h2Platform) request(c h2Conn, stream uint32) {
	p.mu.Lock()
	p.requests++
	responds, lose := p.requests <= p.warm, p.lose
	p.mu.Unlock()
	if responds {
		c.respond(stream, `{"template_id":1}`)
		return
	}
	lose(c, stream)
}

// arrived returns the number of requests without a response.
func (p *h2Platform) arrived() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests - p.warm
}
