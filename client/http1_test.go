package client

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// http1Platform responds to HTTP/1.1 requests on connections in memory. Only the
// client of its test can reach it. A port of the loopback interface can have belonged
// to another process before, whose clients may still send requests to it.
//
// Its tests need a bubble of synctest. Otherwise net/http does not use a connection
// again on a busy machine, because it waits at most 50 ms for the goroutine that wrote
// the request.
type http1Platform struct {
	whole    int    // number of requests that get the whole response
	response string // what the others get before the platform closes the connection
	reset    bool   // the client sees a reset where the platform closes a connection
	room     *int   // number of bytes that the client can write on the first connection; nil: no limit

	transport *http.Transport
	serving   sync.WaitGroup

	mu       sync.Mutex
	dialed   []*memoryConn
	requests int // requests with at least one byte that arrived
	history  []string
}

// http1Response is a whole response.
const http1Response = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n{\"template_id\":1}"

// client returns a client whose connections all lead to p.
func (p *http1Platform) client(t *testing.T, attempts int) *Client {
	t.Helper()
	p.transport = &http.Transport{DialContext: p.dial}
	c, err := New(Config{
		BaseURL: "http://127.0.0.1", Token: testToken, HTTPClient: &http.Client{Transport: p.transport},
		Retry: RetryConfig{MaxAttempts: attempts, BaseDelay: -1},
	})
	fatal(t, err)
	return c
}

func (p *http1Platform) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	c := &memoryConn{Conn: here, reset: p.reset, room: -1}
	p.mu.Lock()
	if p.room != nil && len(p.dialed) == 0 {
		c.room = *p.room
	}
	p.dialed = append(p.dialed, c)
	number := len(p.dialed)
	p.mu.Unlock()
	p.serving.Go(func() {
		defer there.Close()
		p.note("connection %d is closed: %v", number, p.serve(there, number))
	})
	return c, nil
}

// serve responds to the requests on a connection and returns why it ends.
func (p *http1Platform) serve(conn net.Conn, number int) error {
	for r := bufio.NewReader(conn); ; {
		if _, err := r.Peek(1); err != nil {
			return err
		}
		p.mu.Lock()
		p.requests++
		n := p.requests
		p.mu.Unlock()
		p.note("connection %d: request %d begins", number, n)
		req, err := http.ReadRequest(r)
		if err != nil {
			return err
		}
		body, err := io.ReadAll(req.Body)
		p.note("connection %d: %s %s %q, %v", number, req.Method, req.URL, body, err)
		if err != nil {
			return err
		}
		if n > p.whole {
			_, err := io.WriteString(conn, p.response)
			return err
		}
		if _, err := io.WriteString(conn, http1Response); err != nil {
			return err
		}
	}
}

func (p *http1Platform) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.history = append(p.history, fmt.Sprintf(format, args...))
}

// end closes the idle connections and waits for the end of all connections. After
// that, the number of requests is final. It returns that number and the history.
func (p *http1Platform) end() (requests int, history string) {
	p.transport.CloseIdleConnections()
	p.serving.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.requests, strings.Join(p.history, "\n")
}

// memoryConn is the client's side of a connection.
type memoryConn struct {
	net.Conn
	reset bool

	mu   sync.Mutex
	room int  // number of bytes that can be written before the connection breaks; -1: no limit
	cut  bool // it broke
}

var errReset = errors.New("connection reset")

func (c *memoryConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == io.EOF && c.reset {
		err = errReset
	}
	return n, err
}

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

// TestNoResendAfterCutHTTP1Response cuts the response at every byte, on a fresh connection and on
// one that was used before.
func TestNoResendAfterCutHTTP1Response(t *testing.T) {
	t.Parallel()
	synctest.Test(t, cutResponses)
}

func cutResponses(t *testing.T) {
	for warm := range 2 {
		for cut := range len(http1Response) {
			for op := range operations(nil) {
				cutResponse(t, cut, op, 3, warm, false)
				if cut%10 == 0 { // where it makes a difference to net/http, and some more
					cutResponse(t, cut, op, 3, warm, true)
					cutResponse(t, cut, op, 1, warm, false)
				}
			}
		}
	}
}

func cutResponse(t *testing.T, cut int, op string, attempts, warm int, reset bool) {
	t.Helper()
	p := &http1Platform{whole: warm, response: http1Response[:cut], reset: reset}
	c := p.client(t, attempts)
	for range warm {
		must(t)(c.Templates.Get(t.Context(), 1))
	}
	err := operations(c)[op](t.Context())
	want := attempts
	switch {
	case op == "create":
		want = 1
	case op == "read" && warm > 0 && cut == 0:
		want++ // net/http takes it for a connection that was closed while idle, and a GET for harmless
	}
	got, history := p.end()
	if got -= warm; got != want {
		t.Errorf("%s with %d attempts, cut at byte %d after %d responses, reset %v, arrived %d times, want %d:\n%s", op, attempts, cut, warm, reset, got, want, history)
	}
	if err == nil || errors.Is(err, ErrOutcomeUnknown) != (op != "read") {
		t.Errorf("%s, cut at byte %d: %v", op, cut, err)
	}
}

// TestNoResendAfterCutHTTP1Request cuts a create at every byte of the request, on a fresh
// connection and on one that was used before. net/http itself sends it on another
// connection if it wrote nothing of it on the used one. If one byte was written, the
// create must not be sent a second time.
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
	c := p.client(t, 3)
	for range warm {
		must(t)(c.Templates.Get(t.Context(), 1))
		p.dialed[0].breakAfter(cut)
	}
	_, err := c.Templates.Create(t.Context(), TemplateCreate{Name: "n"})
	got, history := p.end()
	broke := p.dialed[0].broke()
	sent := !broke || cut == 0 && warm > 0
	want := 0
	if cut > 0 || sent {
		want = 1
	}
	if got -= warm; got != want {
		t.Errorf("a create that was cut at byte %d after %d responses arrived %d times, want %d:\n%s", cut, warm, got, want, history)
	}
	if sent && err != nil || !sent && !errors.Is(err, ErrOutcomeUnknown) {
		t.Errorf("a create that was cut at byte %d after %d responses: %v", cut, warm, err)
	}
	return broke
}
