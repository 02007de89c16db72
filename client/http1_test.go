package client

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// http1Platform responds to HTTP/1.1 requests on in-memory connections. Use it only in a synctest bubble. In real
// time, net/http waits at most 50 ms for the goroutine that wrote the request, so on a busy machine it may not reuse
// the connection.
type http1Platform struct {
	*Client

	whole    int64  // number of requests that get the whole response
	response string // response to other requests, before the platform closes the connection
	requests atomic.Int64
	serving  sync.WaitGroup
	first    *cutConn
}

const http1Response = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 17\r\n\r\n{\"template_id\":1}"

// newHTTP1Platform returns a platform whose client can write room bytes on its first connection; -1 means no limit.
func newHTTP1Platform(t *testing.T, whole, room int, response string) *http1Platform {
	t.Helper()
	p := &http1Platform{whole: int64(whole), response: response}
	dial := func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		c := &cutConn{Conn: here}
		c.room.Store(-1)
		if p.first == nil {
			p.first = c
			c.room.Store(int64(room))
		}
		p.serving.Go(func() { p.serve(there) })
		return c, nil
	}
	p.Client = newClient(t, "http://127.0.0.1", &http.Transport{DialContext: dial}, withoutPauses)
	return p
}

// serve responds to the requests on a connection until an error occurs or a response is incomplete.
func (p *http1Platform) serve(conn net.Conn) {
	defer conn.Close()
	for r := bufio.NewReader(conn); ; {
		if _, err := r.Peek(1); err != nil {
			return
		}
		response := http1Response
		if p.requests.Add(1) > p.whole {
			response = p.response
		}
		req, err := http.ReadRequest(r)
		if err == nil {
			_, err = io.Copy(io.Discard, req.Body)
		}
		if err == nil {
			_, err = io.WriteString(conn, response)
		}
		if err != nil || response != http1Response {
			return
		}
	}
}

// end returns the final number of requests.
func (p *http1Platform) end() int {
	p.CloseIdleConnections()
	p.serving.Wait()
	return int(p.requests.Load())
}

// cutConn is the client's side of a connection. It breaks when the client writes more than room bytes.
type cutConn struct {
	net.Conn
	room  atomic.Int64 // -1: no limit
	broke atomic.Bool
}

func (c *cutConn) Write(b []byte) (int, error) {
	room := int(c.room.Load())
	if room < 0 {
		return c.Conn.Write(b)
	}
	if len(b) <= room {
		c.room.Add(int64(-len(b)))
		return c.Conn.Write(b)
	}
	if room > 0 {
		_, _ = c.Conn.Write(b[:room])
	}
	c.broke.Store(true)
	_ = c.Close()
	return room, errors.New("connection reset")
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
	p := newHTTP1Platform(t, warm, -1, http1Response[:cut])
	for range warm {
		must(t)(p.Templates.Get(t.Context(), 1))
	}
	err := kinds(p.Client)[op](t.Context())
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

// TestNoResendAfterCutHTTP1Request cuts the connection at every byte of a create request, on a new connection and on
// a reused one. If no byte was written on the reused connection, net/http sends the request on another connection.
// If a byte was written, the request must not be sent a second time.
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
	room := cut
	if warm > 0 {
		room = -1
	}
	p := newHTTP1Platform(t, 10, room, "")
	for range warm {
		must(t)(p.Templates.Get(t.Context(), 1))
		p.first.room.Store(int64(cut))
	}
	_, err := p.Templates.Create(t.Context(), TemplateCreate{Name: "n"})
	got, broke := p.end()-warm, p.first.broke.Load()
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
