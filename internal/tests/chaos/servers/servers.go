// Package servers starts real servers for tests and measurements: Redis, PostgreSQL and PgBouncer. Each server uses a
// free port of 127.0.0.1 and its own directory, which Close removes.
//
// The programs must be installed, for example from the Debian packages redis-server, postgresql and
// pgbouncer. PostgreSQL and PgBouncer refuse to run as root, so a test that runs as root on Linux
// starts all servers as another user, such as postgres. Close ends a server. On Linux, a server
// also ends when the process that started it ends, even by kill -9.
//
// The servers require no password, so every user of the machine can connect to them.
package servers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"example.com/emailplatform/internal/tools/must"
)

// startTimeout is the time limit for a start, which after a kill includes the recovery of PostgreSQL.
const startTimeout = time.Minute

// Server is a program that listens on a port. It is not safe for concurrent use.
type Server struct {
	Addr string // 127.0.0.1:port, the same after each start
	URL  string // connection string for pgx; empty for Redis

	program string
	args    []string
	dir     string
	as      *account                    // nil means the current user
	ready   func(context.Context) error // returns nil if the server responds
	cmd     *exec.Cmd
	exited  chan struct{}
}

// Start starts the server if it is not running, and returns when it responds. After
// Kill, it uses the same port and the same data.
func (s *Server) Start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for {
		if !s.running() {
			if err := s.launch(); err != nil {
				return err
			}
		}
		err := s.ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond): // check the server or start it again
		case <-ctx.Done():
			printed, _ := os.ReadFile(s.log())
			return fmt.Errorf("%s does not start: %w\n%s", s.program, err, printed[max(0, len(printed)-4096):])
		}
	}
}

func (s *Server) launch() error {
	log, err := os.Create(s.log())
	if err != nil {
		return err
	}
	// With a writer that is not a file, Wait waits up to WaitDelay for the server's children too. This is necessary
	// because PostgreSQL's children may write to its directory after the server has ended.
	output := struct{ io.Writer }{log}
	cmd := exec.Command(s.program, s.args...) //nolint:gosec,noctx // our own programs, which Close ends
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = s.dir, output, output, startTimeout
	runAs(cmd, s.as)
	if err := cmd.Start(); err != nil {
		return errors.Join(err, log.Close())
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		_ = log.Close()
		close(exited)
	}()
	s.cmd, s.exited = cmd, exited
	return nil
}

// log returns the path of the server's output since its last start.
func (s *Server) log() string { return filepath.Join(s.dir, "log") }

func (s *Server) running() bool {
	select {
	case <-s.exited:
		return false
	default:
		return s.cmd != nil
	}
}

// Kill ends the server with SIGKILL, so it cannot write anything, and returns when the process has ended.
func (s *Server) Kill() error {
	if s.cmd == nil {
		return nil
	}
	if err := s.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%s: %w", s.program, err)
	}
	<-s.exited
	return nil
}

// Close ends the server and removes its data.
func (s *Server) Close() error { return errors.Join(s.Kill(), os.RemoveAll(s.dir)) }

// newServer creates a directory and finds a free port. Until the server starts, another process could use the port,
// but this is unlikely.
func newServer(name string) *Server {
	program, as := must.Get(find(name)), unprivileged()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	defer func() { _ = l.Close() }()
	s := &Server{Addr: l.Addr().String(), program: program, as: as, dir: must.Get(os.MkdirTemp("", name+"-"))}
	s.try(changeOwner(s.dir, as))
	return s
}

// try does nothing if err is nil. Otherwise, it closes the server and panics.
func (s *Server) try(err error) {
	if err != nil {
		must.OK(errors.Join(err, s.Close()))
	}
}

func (s *Server) port() string {
	_, port, _ := net.SplitHostPort(s.Addr)
	return port
}

// find searches the path, /usr/sbin and Debian's PostgreSQL directories, with the newest version first.
func find(program string) (string, error) {
	versions, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + program)
	slices.Reverse(versions)
	for _, path := range append([]string{program, filepath.Join("/usr/sbin", program)}, versions...) {
		if found, err := exec.LookPath(path); err == nil {
			return found, nil
		}
	}
	return "", fmt.Errorf("%s is not installed; on Debian: apt-get install redis-server postgresql pgbouncer", program)
}
