package servers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/jackc/pgx/v5"
)

// Postgres is a PostgreSQL with the defaults of its version: fsync is on.
type Postgres struct{ *server }

// StartPostgres makes an empty cluster and starts a PostgreSQL on it, for up to
// 200 connections. Further settings go into settings, such as "fsync=off".
func StartPostgres(ctx context.Context, settings ...string) (*Postgres, error) {
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	s, err := newServer("postgres", as)
	if err != nil {
		return nil, err
	}
	data := filepath.Join(s.dir, "data")
	s.args = []string{"-D", data, "-p", s.port()}
	for _, setting := range append([]string{"listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200"}, settings...) {
		s.args = append(s.args, "-c", setting)
	}
	s.ready = s.queries
	if err = s.initdb(ctx, data); err == nil {
		err = s.Start(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Postgres{s}, nil
}

func (s *server) initdb(ctx context.Context, data string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(filepath.Dir(s.program), "initdb"), //nolint:gosec // our own program
		"-D", data, "-U", "postgres", "-E", "UTF8", "--locale=C", "-A", "trust", "--no-sync")
	cmd.Dir = s.dir
	own(cmd, s.as)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, output)
	}
	return nil
}

// URL returns how pgx connects to it.
func (s *Postgres) URL() string { return s.url() }

func (s *server) url() string { return "postgres://postgres@" + s.addr + "/postgres?sslmode=disable" }

// queries waits also until it has recovered.
func (s *server) queries(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.url()+"&connect_timeout=2&default_query_exec_mode=simple_protocol")
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "SELECT 1")
	return errors.Join(err, conn.Close(ctx))
}

// Bouncer is a PgBouncer in transaction mode.
type Bouncer struct{ *server }

// StartBouncer starts a PgBouncer in front of db, with 20 connections to it.
func StartBouncer(ctx context.Context, db *Postgres) (*Bouncer, error) {
	as, err := unprivileged()
	if err != nil {
		return nil, err
	}
	s, err := newServer("pgbouncer", as)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(s.dir, "pgbouncer.ini")
	s.args, s.ready = []string{file}, s.queries
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
	if err = os.WriteFile(file, []byte(text), 0o644); err == nil { //nolint:gosec // nothing in it is secret
		err = s.Start(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Bouncer{s}, nil
}

// URL returns how pgx connects to it: prepared statements do not survive a change
// of connections, and PgBouncer before 1.21 does not help.
func (s *Bouncer) URL() string { return s.url() + "&default_query_exec_mode=exec" }
