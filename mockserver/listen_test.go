package mockserver_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/emailplatform/mockserver"
)

// pipes is a listener for connections in memory.
type pipes struct {
	incoming chan net.Conn
	closed   chan struct{}
	once     sync.Once
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.incoming:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (*pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (p *pipes) dial() net.Conn {
	near, far := net.Pipe()
	p.incoming <- far
	return near
}

// An idle connection does not delay Shutdown.
func TestShutdownUnusedConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{incoming: make(chan net.Conn), closed: make(chan struct{})}
		srv := mockserver.StartOn(l, mockserver.Config{})
		defer srv.Close()
		conn := l.dial()
		synctest.Wait()
		began := time.Now()
		if err := srv.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took >= time.Second { // net/http looks again within milliseconds
			t.Errorf("it took %v", took)
		}
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("the connection: %v, want its end", err)
		}
	})
}

// A stalled request delays Shutdown until the context ends. The error names the running requests.
func TestShutdownReportsRunningRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{incoming: make(chan net.Conn), closed: make(chan struct{})}
		srv := mockserver.StartOn(l, mockserver.Config{})
		defer srv.Close()
		for range 12 {
			conn := l.dial()
			defer func() { _ = conn.Close() }()
			if _, err := io.WriteString(conn, "POST /_mock/seed HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := srv.Shutdown(ctx)
		want := "mockserver: shutdown: still running: 12 POST /_mock/seed: context deadline exceeded"
		if err == nil || err.Error() != want || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want %s", err, want)
		}
	})
}
