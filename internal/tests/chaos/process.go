package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"time"

	"example.com/emailplatform/internal/tests/chaos/servers"
)

// process is one that this program started of itself.
type process struct {
	cmd   *exec.Cmd
	stdin io.WriteCloser
	lines *bufio.Scanner
	once  sync.Once
}

func spawn(args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, args...) //nolint:gosec,noctx // it is this program, which ends it
	cmd.Stderr = os.Stderr
	servers.Bind(cmd)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return &process{cmd: cmd, stdin: stdin, lines: bufio.NewScanner(stdout)}, nil
}

// line returns the next line that the process prints.
func (p *process) line() (string, error) {
	if !p.lines.Scan() {
		return "", fmt.Errorf("a process ended: %w", errors.Join(p.lines.Err(), io.ErrUnexpectedEOF))
	}
	return p.lines.Text(), nil
}

// kill ends it by SIGKILL.
func (p *process) kill() {
	p.once.Do(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
}

// freeAddr returns a free address.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// listening waits until a process listens on the address.
func listening(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("nobody listens on %s: %w", addr, err)
		}
	}
}
