package servers

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// Redis is a redis-server.
type Redis struct{ *server }

// StartRedis starts a Redis that keeps nothing on disk: killed, it comes back empty. Further settings of redis.conf go
// into args, such as "--appendonly", "yes".
func StartRedis(ctx context.Context, args ...string) (*Redis, error) {
	s, err := newServer("redis-server", nil)
	if err != nil {
		return nil, err
	}
	s.args = append([]string{
		"--port", s.port(), "--bind", "127.0.0.1", "--dir", s.dir, "--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction",
	}, args...)
	s.ready = s.pongs
	if err := s.Start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Redis{s}, nil
}

// pongs waits also until what was on disk is loaded.
func (s *server) pongs(ctx context.Context) error {
	conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", s.addr)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return err
	}
	answer := make([]byte, 64)
	n, err := conn.Read(answer)
	if err != nil {
		return err
	}
	if got := string(answer[:n]); got != "+PONG\r\n" {
		return fmt.Errorf("PING is answered with %q", got)
	}
	return nil
}
