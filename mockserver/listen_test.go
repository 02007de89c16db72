package mockserver_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/slowpeers"
	"example.com/emailplatform/mockserver"
)

// pipes is a listener for in-memory connections.
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
		assert.NoError(t, srv.Shutdown(t.Context()))
		if took := time.Since(began); took >= time.Second { // net/http polls connections within milliseconds
			t.Errorf("it took %v", took)
		}
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			t.Errorf("reading the connection: %v, want io.EOF", err)
		}
	})
}

// A request that is unfinished when Shutdown returns gets no response, because a snapshot would not contain its changes.
func TestShutdownUnfinishedRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Second) // at the end, net/http needs 500 ms to close a connection
		l := &pipes{incoming: make(chan net.Conn), closed: make(chan struct{})}
		srv := mockserver.StartOn(l, mockserver.Config{})
		defer srv.Close()
		conn := l.dial()
		defer func() { _ = conn.Close() }()
		request := slowpeers.Post("/lists", srv.Token(), `{"name":"News"}`)
		_, err := io.WriteString(conn, request[:len(request)-1])
		require.NoError(t, err)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, srv.Shutdown(ctx), context.DeadlineExceeded)
		_, _ = io.WriteString(conn, request[len(request)-1:])
		response, err := io.ReadAll(conn)
		assert.Empty(t, response, "the response after Shutdown; reading it: %v", err)
	})
}

// A request that does not end delays Shutdown until the context ends. The error then lists the running requests.
func TestShutdownReportsRunningRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(time.Second) // at the end, net/http needs 500 ms to close a connection
		l := &pipes{incoming: make(chan net.Conn), closed: make(chan struct{})}
		srv := mockserver.StartOn(l, mockserver.Config{})
		defer srv.Close()
		want := "mockserver: shutdown: still running: "
		for i := range 24 { // two requests for each of 12 paths
			conn := l.dial()
			defer func() { _ = conn.Close() }()
			request := fmt.Sprintf("POST /_mock/outbox/%02d/bounce HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{", i/2)
			if _, err := io.WriteString(conn, request); err != nil {
				t.Fatal(err)
			}
			if i < 20 && i%2 == 0 {
				want += fmt.Sprintf("2 POST /_mock/outbox/%02d/bounce, ", i/2)
			}
		}
		want += "2 others: context deadline exceeded"
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := srv.Shutdown(ctx)
		require.EqualError(t, err, want)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// The requests that wait for a fault rule do not delay Shutdown: a delayed request is processed, and a hanging request
// loses its connection.
func TestShutdownDuringFaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{incoming: make(chan net.Conn), closed: make(chan struct{})}
		srv := mockserver.StartOn(l, mockserver.Config{})
		defer srv.Close()
		_, err := srv.Inject(
			mockserver.Fault{Operation: "createList", Action: mockserver.FaultHang, Times: 1},
			mockserver.Fault{Operation: "createList", Action: mockserver.FaultDelay, Delay: time.Hour},
		)
		assert.NoError(t, err)
		statuses := make(chan int, 2)
		for range 2 {
			conn := l.dial()
			go func() {
				_, _ = io.WriteString(conn, slowpeers.Post("/lists", srv.Token(), `{"name":"News"}`))
				response, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					statuses <- 0
					return
				}
				statuses <- response.StatusCode
				_ = response.Body.Close()
			}()
			synctest.Wait()
		}
		began := time.Now()
		assert.NoError(t, srv.Shutdown(t.Context()))
		if took := time.Since(began); took >= time.Second {
			t.Errorf("it took %v", took)
		}
		assert.ElementsMatch(t, []int{0, http.StatusCreated}, []int{<-statuses, <-statuses})
	})
}
