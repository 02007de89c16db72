package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
)

// http1Platform responds to HTTP/1.1 requests on in-memory connections. Only the client of its test can reach it. On a
// loopback port, requests for an earlier process with the same port could arrive.
//
// Its tests need a synctest bubble. Otherwise, net/http may not reuse a connection on a busy machine, because it waits
// at most 50 ms for the goroutine that wrote the request.
type http1Platform struct {
	whole    int    // number of requests that get the whole response
	response string // response to other requests, before the platform closes the connection
	room     *int   // number of bytes that the client can write on the first connection; nil: no limit

	transport *http.Transport
	serving   sync.WaitGroup

	mu       sync.Mutex
	dialed   []*memoryConn
	requests int // number of requests that arrived, at least in part
}

// http1Response is a whole response.
const http1Response = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n{\"template_id\":1}"

// client returns a client that connects only to p.
func (p *http1Platform) client(t *testing.T) *Client {
	t.Helper()
	p.transport = &http.Transport{DialContext: p.dial}
	return newClient(t, "http://127.0.0.1", p.transport, withoutPauses)
}

func (p *http1Platform) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	c := &memoryConn{Conn: here, room: -1}
	p.mu.Lock()
	if p.room != nil && len(p.dialed) == 0 {
		c.room = *p.room
	}
	p.dialed = append(p.dialed, c)
	p.mu.Unlock()
	p.serving.Go(func() {
		defer there.Close()
		p.serve(there)
	})
	return c, nil
}

// serve responds to the requests on a connection until an error occurs or a response is incomplete.
func (p *http1Platform) serve(conn net.Conn) {
	for r := bufio.NewReader(conn); ; {
		if _, err := r.Peek(1); err != nil {
			return
		}
		p.mu.Lock()
		p.requests++
		n := p.requests
		p.mu.Unlock()
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return
		}
		response := http1Response
		if n > p.whole {
			response = p.response
		}
		if _, err := io.WriteString(conn, response); err != nil || n > p.whole {
			return
		}
	}
}

// end closes the idle connections and waits until all connections have ended. It returns the final number of requests.
func (p *http1Platform) end() (requests int) {
	p.transport.CloseIdleConnections()
	p.serving.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests
}

// memoryConn is the client's side of a connection.
type memoryConn struct {
	net.Conn

	mu   sync.Mutex
	room int  // number of bytes that can be written before the connection breaks; -1: no limit
	cut  bool // the connection broke
}

var errReset = errors.New("connection reset")

func (c *memoryConn) Write(b []byte) (n int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.room < 0 {
		return c.Conn.Write(b)
	}
	if len(b) <= c.room {
		c.room -= len(b)
		return c.Conn.Write(b)
	}
	if c.room > 0 {
		n, _ = c.Conn.Write(b[:c.room])
	}
	c.room, c.cut = 0, true
	_ = c.Close()
	return n, errReset
}

// breakAfter breaks the connection after n further bytes of the client.
func (c *memoryConn) breakAfter(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.room = n
}

// broke reports whether the connection was cut.
func (c *memoryConn) broke() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cut
}

// TestNoResendAfterCutHTTP1Response cuts the response at every byte, on a new connection and on a reused connection.
func TestNoResendAfterCutHTTP1Response(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for warm := range 2 {
			for cut := range len(http1Response) {
				for op := range kinds(nil) {
					cutResponse(t, cut, op, warm)
				}
			}
		}
	})
}

func cutResponse(t *testing.T, cut int, op string, warm int) {
	t.Helper()
	p := &http1Platform{whole: warm, response: http1Response[:cut]}
	c := p.client(t)
	for range warm {
		must(t)(c.Templates.Get(t.Context(), 1))
	}
	err := kinds(c)[op](t.Context())
	want := 3
	switch {
	case op == "create":
		want = 1
	case op == "read" && warm > 0 && cut == 0:
		want++ // net/http assumes that the connection was closed while idle, and resends a GET
	}
	if got := p.end() - warm; got != want {
		t.Errorf("%s, cut at byte %d after %d responses, arrived %d times, want %d", op, cut, warm, got, want)
	}
	if err == nil || errors.Is(err, ErrOutcomeUnknown) != (op != "read") {
		t.Errorf("%s, cut at byte %d: %v", op, cut, err)
	}
}

// TestNoResendAfterCutHTTP1Request cuts a create at every byte of the request, on a new connection and on a reused
// connection. If no byte was written on the reused connection, net/http sends the create on another one. If a byte
// was written, the create must not be sent a second time.
func TestNoResendAfterCutHTTP1Request(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for warm := range 2 {
			cut := 0
			for cutRequest(t, cut, warm) {
				cut++
			}
			if cut < 100 {
				t.Errorf("the request after %d responses has %d bytes, want more than 100", warm, cut)
			}
		}
	})
}

// cutRequest reports whether the request was longer than cut bytes.
func cutRequest(t *testing.T, cut, warm int) bool {
	t.Helper()
	p := &http1Platform{whole: 10}
	if warm == 0 {
		p.room = &cut
	}
	c := p.client(t)
	for range warm {
		must(t)(c.Templates.Get(t.Context(), 1))
		p.dialed[0].breakAfter(cut)
	}
	_, err := c.Templates.Create(t.Context(), TemplateCreate{Name: "n"})
	got := p.end() - warm
	broke := p.dialed[0].broke()
	sent := !broke || cut == 0 && warm > 0
	want := 0
	if cut > 0 || sent {
		want = 1
	}
	if got != want {
		t.Errorf("a create that was cut at byte %d after %d responses arrived %d times, want %d", cut, warm, got, want)
	}
	if sent && err != nil || !sent && !errors.Is(err, ErrOutcomeUnknown) {
		t.Errorf("a create that was cut at byte %d after %d responses: %v", cut, warm, err)
	}
	return broke
}
