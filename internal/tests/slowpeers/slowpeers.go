// Package slowpeers tests servers with slow clients, on virtual time and in-memory connections.
package slowpeers

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

const (
	clients   = 2000
	maxMemory = 64 << 10        // average number of bytes per slow client, with both ends of its connection
	pause     = 9 * time.Second // between the bytes of a request that arrives slowly
)

// Post returns a POST request. It adds spaces after the body, so that the request is long enough for a slow client.
func Post(path, token, body string) string {
	body += strings.Repeat(" ", 1000)
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Accept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n%s", path, token, len(body), body)
}

// Get returns a GET request.
func Get(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n" }

// slow contains the kinds of slow clients. None of them closes its connection.
var slow = []func(conn net.Conn, request string){
	func(net.Conn, string) {}, // sends nothing
	func(conn net.Conn, request string) { _, _ = io.WriteString(conn, request[:10]) },             // stops in the header
	func(conn net.Conn, request string) { _, _ = io.WriteString(conn, request[:len(request)-1]) }, // stops in the body
	func(conn net.Conn, request string) { _, _ = io.WriteString(conn, request) },                  // does not read the response
	func(conn net.Conn, request string) { _, _ = ask(conn, request) },                             // sends no other request
	func(conn net.Conn, request string) { trickle(conn, request) },
	func(conn net.Conn, request string) {
		_, _ = io.WriteString(conn, request[:len(request)/2])
		trickle(conn, request[len(request)/2:])
	},
}

func trickle(conn net.Conn, text string) {
	for i := range len(text) {
		if _, err := io.WriteString(conn, text[i:i+1]); err != nil {
			return
		}
		time.Sleep(pause)
	}
}

// ask sends a request and returns the status of the complete response.
func ask(conn net.Conn, request string) (status int, err error) {
	go func() { _, _ = io.WriteString(conn, request) }() // the server may respond before it has read the request
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	_, err = io.Copy(io.Discard, response.Body)
	return response.StatusCode, err
}

// Survive connects 2,000 slow clients to the server that the function serve runs until ctx ends. The variable slow
// contains the kinds of clients, and clients of each kind use each of the given requests. Survive fails if a
// normal client then gets no response or a 5xx status, or if the server uses too much memory. It also fails if the
// server does not close each connection within the given time.
func Survive(t *testing.T, within time.Duration, serve func(ctx context.Context, l net.Listener) error, requests ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		l := &listener{incoming: make(chan net.Conn), closed: make(chan struct{})}
		ended := make(chan error, 1)
		go func() { ended <- serve(ctx, l) }()
		l.check(t, "before", requests)
		before := memory()
		for i := range clients {
			conn := l.dial()
			defer func() { _ = conn.Close() }()
			go slow[i%len(slow)](conn, requests[i/len(slow)%len(requests)])
		}
		synctest.Wait()
		used := (memory() - before) / clients
		t.Logf("%d connections are open, %d bytes per client", l.open.Load(), used)
		if used > maxMemory {
			t.Errorf("the server uses %d bytes per slow client, want at most %d", used, maxMemory)
		}
		l.check(t, "while others are slow", requests)
		time.Sleep(within)
		synctest.Wait()
		if n := l.open.Load(); n > 0 {
			t.Errorf("%d connections are open after %v", n, within)
		}
		l.check(t, "afterwards", requests)
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with %v", err)
		}
		time.Sleep(pause) // until the clients notice the end
	})
}

func memory() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// listener is a listener for in-memory connections.
type listener struct {
	incoming chan net.Conn
	closed   chan struct{}
	once     sync.Once
	open     atomic.Int64 // connections that the server has not closed
}

func (l *listener) dial() net.Conn {
	near, far := net.Pipe()
	l.open.Add(1)
	l.incoming <- &counted{Conn: far, closed: sync.OnceFunc(func() { l.open.Add(-1) })}
	return near
}

// check sends each request on its own connection.
func (l *listener) check(t *testing.T, when string, requests []string) {
	t.Helper()
	for _, request := range requests {
		conn := l.dial()
		_ = conn.SetDeadline(time.Now().Add(time.Second)) // of the virtual clock
		if status, err := ask(conn, request); err != nil || status >= 500 {
			line, _, _ := strings.Cut(request, "\r")
			t.Errorf("%s, %s: status %d, error %v", when, line, status, err)
		}
		_ = conn.Close()
	}
	synctest.Wait()
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.incoming:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (*listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

type counted struct {
	net.Conn
	closed func()
}

func (c *counted) Close() error {
	c.closed()
	return c.Conn.Close()
}
