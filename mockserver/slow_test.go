package mockserver_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"example.com/emailplatform/internal/tests/slowpeers"
	"example.com/emailplatform/mockserver"
)

func TestSlowClients(t *testing.T) {
	slowpeers.Survive(t, 11*time.Minute, func(ctx context.Context, l net.Listener) error {
		srv := mockserver.StartOn(l, mockserver.Config{Console: http.NotFoundHandler()})
		defer srv.Close()
		<-ctx.Done()
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		return srv.Shutdown(grace)
	},
		slowpeers.Post("/lists", mockserver.DefaultToken, `{"name":"News"}`),
		slowpeers.Post("/lists", "wrong", `{"name":"News"}`), // rejected before the body is read
		slowpeers.Post("/_mock/seed", "", `{}`),
		slowpeers.Post("/_mock/wait", "", `{}`),
		slowpeers.Get("/_mock/"),
	)
}

// A client that does not read the stream of changes loses its connection.
func TestUnreadStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &pipes{incoming: make(chan net.Conn), closed: make(chan struct{})}
		srv := mockserver.StartOn(l, mockserver.Config{})
		defer srv.Close()
		conn := l.dial()
		_, err := io.WriteString(conn, slowpeers.Get("/_mock/stream"))
		assert.NoError(t, err)
		time.Sleep(time.Minute)
		_ = conn.SetReadDeadline(time.Now().Add(time.Second))
		if _, err := io.Copy(io.Discard, conn); err != nil {
			t.Errorf("the connection is open after a minute: %v", err)
		}
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
