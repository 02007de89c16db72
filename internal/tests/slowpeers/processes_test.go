//go:build linux

package slowpeers_test

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/slowpeers"
	"example.com/emailplatform/mockserver"
)

var processes = flag.Bool("processes", false, "run TestProcesses, which takes two minutes and needs Python and Node.js")

const connections = 2000

// program is a command with slow clients.
type program struct {
	dir     string
	command []string
	env     []string
	request string        // of the slow clients and of the other client
	files   int           // limit of open files
	within  time.Duration // the time until the command has closed the connections of slow clients
	left    int           // connections that may be open afterwards
}

// TestProcesses: real commands with a limit of open files serve another client while 2,000 slow clients are connected.
// Afterwards the commands close these connections, and end after a signal.
func TestProcesses(t *testing.T) {
	if !*processes {
		t.Skip("runs with -processes")
	}
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	dir := t.TempDir()
	build(t, root, filepath.Join(dir, "mockserver"), "./mockserver/cmd/mockserver")
	build(t, filepath.Join(root, "mcp"), filepath.Join(dir, "mcp"), "./cmd/emailplatform-mcp")
	build(t, root, filepath.Join(dir, "standby"), "./examples/standby")
	platform := mockserver.Start(mockserver.Config{})
	t.Cleanup(func() { platform.Close() })
	require.NoError(t, platform.Seed(strings.NewReader(`{"lists": [{"name": "Newsletter", "policy_accepted": true}]}`)))
	application := func() []string {
		address := free(t)
		return []string{
			"PLATFORM_URL=" + platform.URL(), "PLATFORM_TOKEN=" + platform.Token(), "LISTEN=" + address, "HOOK_URL=http://" + address + "/hook",
		}
	}
	call := slowpeers.Post("/mcp", "made-up", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	for name, p := range map[string]program{
		"mockserver": { // it keeps 1,000 connections without a request
			command: []string{filepath.Join(dir, "mockserver"), "-addr", "127.0.0.1:0", "-quiet"},
			request: slowpeers.Post("/lists", mockserver.DefaultToken, `{"name":"News"}`), files: 2500, within: time.Minute, left: 1000,
		},
		"emailplatform-mcp": {
			command: []string{filepath.Join(dir, "mcp"), "-http", "127.0.0.1:0", "-base-url", platform.URL()},
			request: call, files: 2500, within: 150 * time.Second,
		},
		"standby": {
			command: []string{filepath.Join(dir, "standby"), "-addr", "127.0.0.1:0", "-store", filepath.Join(dir, "deliveries")},
			env:     []string{"WEBHOOK_SECRETS=secret"},
			request: slowpeers.Post("/hook", "", `{"event":"Email.Bounced"}`), files: 2500, within: time.Minute,
		},
		"signup.py": {
			dir: filepath.Join(root, "examples", "python"), command: []string{"python3", "signup.py"}, env: application(),
			request: slowpeers.Post("/signups", "", `{"email":"ada@example.org"}`), files: 512, within: time.Minute,
		},
		"newsletter.js": {
			dir: filepath.Join(root, "examples", "node"), command: []string{"node", "newsletter.js"}, env: application(),
			request: slowpeers.Post("/readers", "", `{"email":"ada@example.org"}`), files: 512, within: time.Minute,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p.test(t)
		})
	}
}

func build(t *testing.T, module, output, command string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", output, command)
	cmd.Dir = module
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, string(text))
}

// free returns an address that no process uses.
func free(t *testing.T) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

func (p program) test(t *testing.T) {
	if _, err := exec.LookPath(p.command[0]); err != nil {
		t.Skip("SKIPPED, nothing was tested:", err)
	}
	address, process := p.start(t)
	ask := func(when string) {
		if err := p.ask(address); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	ask("before")
	files, memory := used(t, process.Pid)
	maxFiles, maxMemory := files, memory
	sample := func() (now int) {
		now, memory := used(t, process.Pid)
		maxFiles, maxMemory = max(maxFiles, now), max(maxMemory, memory)
		return now
	}
	for i := range connections {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		defer conn.Close()
		go p.slow(i, conn)
		if i%100 == 0 {
			ask(fmt.Sprintf("with %d slow clients", i))
			sample()
		}
	}
	full, served := time.Now(), 0
	for sample() > files+p.left && time.Since(full) < p.within {
		ask("while others are slow")
		served++
		time.Sleep(100 * time.Millisecond)
	}
	took := time.Since(full)
	after := sample()
	t.Logf("memory: %d MiB before, at most %d MiB; open files: %d before, at most %d, %d after %v; other requests: %d",
		memory>>10, maxMemory>>10, files, maxFiles, after, took.Round(time.Second), served+connections/100)
	if after > files+p.left {
		t.Errorf("%d files are open after %v, want at most %d", after, p.within, files+p.left)
	}
	if perClient := (maxMemory - memory) << 10 / connections; perClient > 128<<10 {
		t.Errorf("%d bytes per slow client", perClient)
	}
	ask("afterwards")
	require.NoError(t, process.Signal(syscall.SIGTERM))
	_, err := process.Wait()
	require.NoError(t, err)
}

var listening = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// start starts the command and waits until it prints its address.
func (p program) start(t *testing.T) (address string, process *os.Process) {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	shell := append([]string{"-c", `ulimit -n "$0" && exec "$@"`, strconv.Itoa(p.files)}, p.command...)
	cmd := exec.CommandContext(t.Context(), "sh", shell...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.dir, append(os.Environ(), p.env...), w, w
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	require.NoError(t, w.Close())
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if address := listening.FindString(lines.Text()); address != "" {
			go func() { _, _ = io.Copy(io.Discard, r) }()
			return address, cmd.Process
		}
	}
	t.Fatal("the command printed no address")
	return "", nil
}

// slow sends nothing, a part of the header, all except the last byte of a request, or requests whose responses it does
// not read. Then it leaves the connection open.
func (p program) slow(i int, conn net.Conn) {
	part := []string{"", p.request[:10], p.request[:len(p.request)-1], strings.Repeat(p.request, 20)}[i%4]
	_, _ = io.WriteString(conn, part)
}

// ask sends a request on a new connection. Any response is a success, even with a 4xx status.
func (p program) ask(address string) error {
	conn, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(conn, p.request); err != nil {
		return err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	if response.StatusCode >= http.StatusInternalServerError {
		return errors.New(response.Status)
	}
	return nil
}

// used returns the number of open files of a process and its memory in KiB.
func used(t *testing.T, pid int) (files, memory int) {
	t.Helper()
	dir := fmt.Sprintf("/proc/%d", pid)
	entries, err := os.ReadDir(dir + "/fd")
	require.NoError(t, err)
	status, err := os.ReadFile(dir + "/status")
	require.NoError(t, err)
	fields := strings.Fields(string(status))
	memory, err = strconv.Atoi(fields[slices.Index(fields, "VmRSS:")+1])
	require.NoError(t, err)
	return len(entries), memory
}
