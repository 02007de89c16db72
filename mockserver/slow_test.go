package mockserver_test

import (
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
