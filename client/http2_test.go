package client

import (
	"bufio"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Types and flags of HTTP/2 frames. (RFC 9113, section 6.)
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

// errorCodes are the codes of RFC 9113, section 7, in their order, and an unknown code.
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
	_, _ = c.Write(append(b, payload...)) // the client may have gone
}

func (c h2Conn) reset(stream, code uint32) {
	c.frame(frameReset, 0, stream, binary.BigEndian.AppendUint32(nil, code))
}

func (c h2Conn) goAway(last, code uint32) {
	b := binary.BigEndian.AppendUint32(nil, last)
	c.frame(frameGoAway, 0, 0, binary.BigEndian.AppendUint32(b, code))
}

// headers starts a response. Its only field is the status, a literal whose name has index 8 in HPACK's static table.
func (c h2Conn) headers(stream uint32, status int) {
	c.frame(frameHeaders, flagEndHeaders, stream, fmt.Appendf([]byte{0x48, 3}, "%d", status))
}

func (c h2Conn) answer(stream uint32, body string) {
	c.headers(stream, 200)
	c.frame(frameData, flagEndStream, stream, []byte(body))
}

// serve calls request after each complete request.
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
	transport *http.Transport // that trusts it; to be cloned

	mu       sync.Mutex
	requests int
	warm     int // number of requests that get a response
	lose     func(c h2Conn, stream uint32)
	conns    []net.Conn
}

func newH2Platform(t *testing.T) *h2Platform {
	t.Helper()
	srv := httptest.NewUnstartedServer(nil) // has a certificate, and a client that trusts it
	srv.StartTLS()
	srv.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: srv.TLS.Certificates, NextProtos: []string{"h2"}})
	fatal(t, err)
	p := &h2Platform{base: "https://" + l.Addr().String(), transport: srv.Client().Transport.(*http.Transport).Clone()}
	p.transport.ForceAttemptHTTP2 = true
	p.transport.TLSClientConfig.ClientSessionCache = tls.NewLRUClientSessionCache(1) // handshakes take most of the time
	p.transport.TLSClientConfig.CurvePreferences = []tls.CurveID{tls.CurveP256}      // and of them, the exchange of keys
	p.listen(t, l)
	return p
}

// newPlainH2Platform returns a platform without TLS, because handshakes take most of the time.
func newPlainH2Platform(t *testing.T) *h2Platform {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	fatal(t, err)
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

// lost closes all connections. The next warm requests get a response; lose handles the others.
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
	answered, lose := p.requests <= p.warm, p.lose
	p.mu.Unlock()
	if answered {
		c.answer(stream, `{"template_id":1}`)
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
