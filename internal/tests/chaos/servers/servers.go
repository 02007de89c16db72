// Package servers starts real servers for tests and measurements: Redis, PostgreSQL and PgBouncer. Each uses a free port
// of 127.0.0.1 and its own directory, which Close removes.
//
// The programs must be installed. The Debian packages are redis-server, postgresql and pgbouncer. PostgreSQL and
// PgBouncer do not run as root. A process that runs as root starts them as another
// user, such as postgres. A server ends with the process that started it, on Linux even after kill -9.
//
// The servers require no password, so every user of the machine can connect to them.
package servers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

// patience is how long a server may take to start. After a kill PostgreSQL first recovers.
const patience = time.Minute

// server is a program that listens on a port.
type server struct {
	name    string
	program string
	args    []string
	addr    string // 127.0.0.1:port, the same after each start
	dir     string
	as      *account                    // nil is the user who runs this
	ready   func(context.Context) error // nil if it responds

	mu      sync.Mutex
	cmd     *exec.Cmd
	exited  chan struct{}
	printed *tail
}

// tail keeps the end of what a server prints.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	t.text = t.text[max(0, len(t.text)-4096):]
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(bytes.TrimSpace(t.text))
}

// Addr returns host and port.
func (s *server) Addr() string { return s.addr }

// Start starts the server if it is not running, and returns when it responds. After
// Kill, it uses the same port and the same data.
func (s *server) Start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
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
		case <-time.After(20 * time.Millisecond): // then it is asked again, or started again
		case <-ctx.Done():
			return fmt.Errorf("%s does not start: %w\n%s", s.name, err, s.printed)
		}
	}
}

func (s *server) launch() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.printed = &tail{}
	cmd := exec.Command(s.program, s.args...) //nolint:gosec,noctx // our own programs, which Close ends
	cmd.Dir, cmd.Stdout, cmd.Stderr = s.dir, s.printed, s.printed
	own(cmd, s.as)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	exited := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(exited)
	}()
	s.cmd, s.exited = cmd, exited
	return nil
}

func (s *server) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.exited == nil {
		return false
	}
	select {
	case <-s.exited:
		return false
	default:
		return true
	}
}

// Kill ends the server as a loss of power would, without a chance to write
// anything (SIGKILL), and returns when it is gone.
func (s *server) Kill() error { return s.end(os.Kill) }

func (s *server) end(signal os.Signal) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cmd == nil {
		return nil
	}
	if err := s.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	<-s.exited
	return nil
}

// Close ends the server and removes its data.
func (s *server) Close() error { return errors.Join(s.Kill(), os.RemoveAll(s.dir)) }

// Pid returns the server's process id.
func (s *server) Pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cmd.Process.Pid
}

// newServer creates a directory and finds a free port. Another process is unlikely to use the port before the server starts.
func newServer(name string, as *account) (*server, error) {
	program, err := find(name)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", name+"-")
	if err != nil {
		return nil, err
	}
	if err := give(dir, as); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	defer func() { _ = l.Close() }()
	return &server{name: name, program: program, addr: l.Addr().String(), dir: dir, as: as}, nil
}

func (s *server) port() string {
	_, port, _ := net.SplitHostPort(s.addr)
	return port
}

// find looks where Debian puts what is not in the path, the newest version first.
func find(program string) (string, error) {
	if path, err := exec.LookPath(program); err == nil {
		return path, nil
	}
	if path := filepath.Join("/usr/sbin", program); runnable(path) {
		return path, nil
	}
	versions, _ := filepath.Glob("/usr/lib/postgresql/*/bin/" + program)
	slices.SortFunc(versions, func(a, b string) int { return version(b) - version(a) })
	if len(versions) > 0 {
		return versions[0], nil
	}
	return "", fmt.Errorf("%s is not installed; on Debian: apt-get install redis-server postgresql pgbouncer", program)
}

func version(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path))))
	return n
}

func runnable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
