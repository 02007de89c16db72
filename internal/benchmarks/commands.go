package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/mockserver"
)

const stripeToken = "sk_test_123"

// command is a mock that is a program.
type command struct {
	name  string
	pkg   string
	args  func(address string) []string
	path  string // of a request that it answers
	token string
}

func ourCommand() command {
	return command{
		name: "this SDK's platform", pkg: "example.com/emailplatform/mockserver/cmd/mockserver",
		args: func(address string) []string { return []string{"-addr", address, "-quiet"} },
		path: "/lists", token: mockserver.DefaultToken,
	}
}

func stripeCommand() command {
	return command{
		name: "stripe-mock", pkg: "github.com/stripe/stripe-mock",
		// Without an address for HTTPS it takes a fixed port, which only one of them can have.
		args: func(address string) []string {
			return []string{"-http-addr", address, "-https-addr", "127.0.0.1:0"}
		},
		path: "/v1/customers", token: stripeToken,
	}
}

// process is a command that runs.
type process struct {
	*exec.Cmd
	url string
}

// build returns the path of the program.
func (c command) build(a *arena) (string, error) {
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return "", err
	}
	a.cleanup = append(a.cleanup, func() { _ = os.RemoveAll(dir) })
	program := filepath.Join(dir, "command.exe")                                                 // what Windows needs hurts nobody else
	out, err := exec.CommandContext(a.ctx, "go", "build", "-o", program, c.pkg).CombinedOutput() //nolint:gosec // a constant of this program
	if err != nil {
		return "", fmt.Errorf("go build %s: %w\n%s", c.pkg, err, out)
	}
	return program, nil
}

// renewed is a command of which each turn has a process of its own, because no two
// starts are alike: stripe-mock tries its routes one after the other, in an order
// that chance decides when it starts.
type renewed struct {
	command
	program string
	*process
}

func (c command) renewed(a *arena) (*renewed, error) {
	program, err := c.build(a)
	r := &renewed{command: c, program: program}
	a.cleanup = append(a.cleanup, r.stop)
	return r, err
}

// begin replaces the process.
func (r *renewed) begin(a *arena) (err error) {
	r.stop()
	a.client.CloseIdleConnections()
	if r.process, err = r.start(a.ctx, r.program); err != nil {
		return err
	}
	return r.awaitAnswer(a.ctx, r.process)
}

func (r *renewed) stop() {
	if r.process != nil {
		r.process.stop()
	}
}

// spent returns the processor time of the process.
func (r *renewed) spent() (time.Duration, error) { return cpuOf(r.Process.Pid)() }

func (c command) start(ctx context.Context, program string) (*process, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String() // free in a moment
	_ = listener.Close()
	cmd := exec.CommandContext(ctx, program, c.args(address)...) //nolint:gosec // the program that was built above
	return &process{cmd, "http://" + address}, cmd.Start()
}

func (p *process) stop() {
	_ = p.Process.Kill()
	_ = p.Wait()
}

// awaitAnswer asks until the answer is a success.
func (c command) awaitAnswer(ctx context.Context, p *process) error {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+c.path, http.NoBody)
		if err != nil {
			return err
		}
		req.Header.Set("Authorization", "Bearer "+c.token)
		if err = call(client, req); err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return fmt.Errorf("%s does not answer", c.name)
}

// compareCommands starts each command twice in each of the runs, in turns.
func compareCommands(ctx context.Context, out *report) error {
	a := newArena(ctx)
	defer a.close()
	commands := []command{ourCommand(), stripeCommand()}
	took, memory := make([][]float64, len(commands)), make([][]float64, len(commands)) // of each run
	programs := make([]string, len(commands))
	for i, c := range commands {
		var err error
		if programs[i], err = c.build(a); err != nil {
			return err
		}
	}
	for start := range 2 * runs {
		for i, c := range commands {
			ms, mib, err := c.firstAnswer(ctx, programs[i])
			if err != nil {
				return err
			}
			if start%2 == 0 {
				took[i], memory[i] = append(took[i], ms), append(memory[i], mib)
			} else {
				last := len(took[i]) - 1
				took[i][last], memory[i][last] = min(took[i][last], ms), mib
			}
		}
	}
	fmt.Fprintln(out, "command: first answer after its start, and memory then")
	fmt.Fprintf(out, "  %-20s %s  %s\n", commands[0].name,
		out.atMost("command: first answer after its start", "%.0f ms", 15, took[0]...),
		out.atMost("command: memory then", "%.0f MiB", 16, memory[0]...))
	fmt.Fprintf(out, "  %-20s %.0f ms  %.0f MiB\n\n", commands[1].name, slices.Min(took[1]), slices.Min(memory[1]))
	return nil
}

// firstAnswer returns the milliseconds until the program answers, and the MiB of
// memory that it holds then.
func (c command) firstAnswer(ctx context.Context, program string) (ms, mib float64, err error) {
	start := time.Now()
	p, err := c.start(ctx, program)
	if err != nil {
		return 0, 0, err
	}
	defer p.stop()
	if err := c.awaitAnswer(ctx, p); err != nil {
		return 0, 0, err
	}
	ms = milliseconds(time.Since(start))
	bytes, err := resident(ctx, p.Process.Pid)
	return ms, float64(bytes) / (1 << 20), err
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// resident returns the bytes of memory that a process holds.
func resident(ctx context.Context, pid int) (int64, error) {
	out, err := exec.CommandContext(ctx, "ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output() //nolint:gosec // a number
	if err != nil {
		return 0, fmt.Errorf("ps: %w", err)
	}
	kib, err := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	return kib << 10, err
}
