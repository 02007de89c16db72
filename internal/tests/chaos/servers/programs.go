package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"example.com/emailplatform/internal/tools/must"
)

// StartPostgres creates an empty cluster and starts PostgreSQL on it with up to 200 connections and the default
// settings, including fsync.
func StartPostgres(ctx context.Context) (s *Server, err error) {
	defer must.Catch(&err)
	s = newServer("postgres")
	data := filepath.Join(s.dir, "data")
	s.args = []string{
		"-D", data, "-p", s.port(),
		"-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=", "-c", "max_connections=200",
	}
	s.URL, s.ready = s.url(), s.queries
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(s.program), "initdb"), //nolint:gosec // our own program
		"-D", data, "-U", "postgres", "-E", "UTF8", "--locale=C", "-A", "trust", "--no-sync")
	cmd.Dir = s.dir
	runAs(cmd, s.as)
	if output, err := cmd.CombinedOutput(); err != nil {
		s.try(fmt.Errorf("initdb: %w\n%s", err, output))
	}
	s.try(s.Start(ctx))
	return s, nil
}

func (s *Server) url() string { return "postgres://postgres@" + s.Addr + "/postgres?sslmode=disable" }

// queries returns an error until the server has recovered and executes queries.
func (s *Server) queries(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.url()+"&connect_timeout=2&default_query_exec_mode=simple_protocol")
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "SELECT 1")
	return errors.Join(err, conn.Close(ctx))
}

// StartBouncer starts a PgBouncer in transaction mode with up to 20 connections to db. The URL of the result
// disables prepared statements, because PgBouncer before 1.21 does not support them in this mode.
func StartBouncer(ctx context.Context, db *Server) (s *Server, err error) {
	defer must.Catch(&err)
	s = newServer("pgbouncer")
	file := filepath.Join(s.dir, "pgbouncer.ini")
	s.args, s.ready = []string{file}, s.queries
	s.URL = s.url() + "&default_query_exec_mode=exec"
	text := fmt.Sprintf(`[databases]
postgres = host=127.0.0.1 port=%s user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %s
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 500
default_pool_size = 20
`, db.port(), s.port())
	s.try(os.WriteFile(file, []byte(text), 0o644)) //nolint:gosec // the file contains no secret
	s.try(s.Start(ctx))
	return s, nil
}

// StartRedis starts a Redis without persistence, so it is empty after a kill. The parameter args contains
// further settings of redis.conf, such as "--appendonly", "yes".
func StartRedis(ctx context.Context, args ...string) (s *Server, err error) {
	defer must.Catch(&err)
	s = newServer("redis-server")
	s.args = append([]string{
		"--port", s.port(), "--bind", "127.0.0.1", "--dir", s.dir, "--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction",
	}, args...)
	s.ready = func(ctx context.Context) error {
		rdb := redis.NewClient(&redis.Options{Addr: s.Addr, MaxRetries: -1})
		defer func() { _ = rdb.Close() }()
		return rdb.Ping(ctx).Err()
	}
	s.try(s.Start(ctx))
	return s, nil
}
