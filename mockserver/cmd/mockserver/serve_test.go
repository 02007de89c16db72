package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/rawhttp"
	"example.com/emailplatform/mockserver"
)

// asCommand is an environment variable that makes the test binary run as the command.
const asCommand = "MOCKSERVER_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// output is a buffer that is safe for concurrent use.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// running is a command that runs in this process.
type running struct {
	t     *testing.T
	base  string
	out   *output
	ended chan error
	stop  func() error
}

// start starts the command and waits until it is ready.
func start(t *testing.T, args ...string) running {
	t.Helper()
	r := launch(t, args...)
	r.until(func() bool { return baseIn(r.out.String()) != "" })
	r.base = baseIn(r.out.String())
	return r
}

func launch(t *testing.T, args ...string) running {
	ctx, cancel := context.WithCancel(t.Context())
	r := running{t: t, out: &output{}, ended: make(chan error, 1)}
	go func() { r.ended <- run(ctx, append([]string{"-addr", "127.0.0.1:0"}, args...), nil, r.out) }()
	r.stop = func() error { cancel(); return <-r.ended }
	t.Cleanup(cancel)
	return r
}

// until waits for a condition, and ends the test if the command ends.
func (r running) until(done func() bool) {
	r.t.Helper()
	for !done() {
		select {
		case err := <-r.ended:
			r.t.Fatalf("the command ended: %v\n%s", err, r.out)
		case <-time.After(time.Millisecond):
		}
	}
}

// baseIn returns the base URL from the startup output, or "" if the output is incomplete.
func baseIn(said string) string {
	if !strings.Contains(said, "Try:") {
		return ""
	}
	_, base, _ := strings.Cut(said, "Email API           ")
	base, _, _ = strings.Cut(base, "\n")
	return base
}

func (r running) ask(method, path, token, body string) (int, string) {
	r.t.Helper()
	status, text, err := ask(r.t, method, r.base+path, token, body)
	require.NoError(r.t, err)
	return status, text
}

// ask returns the status 0 if the connection is closed before the response.
func ask(t testing.TB, method, url, token, body string) (int, string, error) {
	t.Helper()
	req := rawhttp.NewRequest(t, method, url, token, body)
	req.Close = true // an idle connection would delay the end of the command
	res, text, err := rawhttp.Do(http.DefaultClient, req)
	if res == nil {
		return 0, "", err
	}
	return res.StatusCode, text, err
}

func TestServe(t *testing.T) {
	r := start(t, "-token", "key", "-fault-seed", "42")
	if status, text := r.ask("POST", "/lists", "key", `{"name":"News"}`); status != 201 {
		t.Errorf("the API: %d %s", status, text)
	}
	r.ask("GET", "/lists%7F?page=1", "key", "")
	r.ask("GET", "/lists", "another", "")
	r.ask("POST", "/_mock/faults", "", `{"action":"reset","path":"/lists"}`)
	if _, _, err := ask(t, "POST", r.base+"/lists", "key", `{"name":"Lost"}`); err == nil {
		t.Error("the connection was not lost")
	}
	require.NoError(t, r.stop())
	said := r.out.String()
	for _, want := range []string{
		"access token        key\n", "fault seed          42\n", "curl -H 'Authorization: Bearer key' " + r.base + "/lists\n",
		"  201  POST   /lists ", "  createList  ", "  404  GET    /lists%7F?page=1 ", "  401  GET    /lists ",
		`"type":"unauthorized"`,
		"  lost POST   /lists ", "  by fault-1\n",
	} {
		assert.Contains(t, said, want, "the output")
	}
	assert.NotContains(t, said, "another", "the output contains a wrong token")
}

// The state file overrides the seed, until a reset returns to the seed. The tokens of the seed are valid in both
// cases.
func TestServeStateAndSeed(t *testing.T) {
	dir := t.TempDir()
	seed, state := filepath.Join(dir, "seed.json"), filepath.Join(dir, "state.json")
	const text = "\ufeff" + `{"tokens":[{"token":"ci"}],"lists":[{"name":"Seeded","list_id":7}]}` // an editor adds the mark
	require.NoError(t, os.WriteFile(seed, []byte(text), 0o600))
	for i, want := range []int{1, 2} { // the second start finds a state file
		r := start(t, "-seed", seed, "-state", state)
		r.ask("POST", "/lists", "ci", `{"name":"Added"}`)
		if _, lists := r.ask("GET", "/lists", "ci", ""); strings.Count(lists, "Added") != want {
			t.Errorf("start %d: the lists are %s", i+1, lists)
		}
		if want == 2 {
			status, _ := r.ask("POST", "/_mock/reset", "", "")
			_, lists := r.ask("GET", "/lists", "ci", "")
			assert.Equal(t, 204, status, "after a reset")
			assert.NotContains(t, lists, "Added", "after a reset")
			assert.Contains(t, lists, `"list_id":7,"name":"Seeded"`, "after a reset")
		}
		require.NoError(t, r.stop())
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, left, 2, "left in the folder")
	if info, err := os.Stat(state); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the state, which contains secrets, is %v %v", info.Mode(), err)
	}
}

// Requests wait until the seed is loaded.
func TestServeWaitsForSeed(t *testing.T) {
	seed := filepath.Join(t.TempDir(), "seed.json")
	var contacts []string
	for i := range 5000 {
		contacts = append(contacts, fmt.Sprintf(`{"email":"user%d@example.com"}`, i))
	}
	require.NoError(t, os.WriteFile(seed, []byte(`{"lists":[{"name":"Large","contacts":[`+strings.Join(contacts, ",")+`]}]}`), 0o600))
	free, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := free.Addr().String()
	_ = free.Close()
	r := launch(t, "-quiet", "-addr", address, "-seed", seed)
	var text string
	r.until(func() bool { // the command may not listen yet
		_, text, err = ask(t, "GET", "http://"+address+"/lists/1/contacts?with_count=true&per_page=1", "dev-token", "")
		return err == nil
	})
	assert.Contains(t, text, `"count":5000`, "the first response")
	require.NoError(t, r.stop())
}

// rejected runs the command and returns its error, or nil if it starts.
func rejected(t *testing.T, args ...string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // ends the command if it starts
	defer cancel()
	return run(ctx, append([]string{"-addr", "127.0.0.1:0"}, args...), nil, &output{})
}

// An error about the value of a flag names the flag and the value in one line.
func TestServeInvalid(t *testing.T) {
	dir := t.TempDir()
	broken := filepath.Join(dir, "broken.json")
	require.NoError(t, os.WriteFile(broken, []byte(`{"lists":[{}]}`), 0o600))
	for name, args := range map[string][]string{
		"an invalid address":               {"-addr", "nowhere:port"},
		"a missing seed":                   {"-seed", filepath.Join(dir, "none.json")},
		"an invalid seed":                  {"-seed", broken},
		"a file that is not a state":       {"-state", broken},
		"a folder as the state":            {"-state", dir},
		"a state in a missing folder":      {"-state", filepath.Join(dir, "none", "state.json")},
		"a ready file in a missing folder": {"-ready-file", filepath.Join(dir, "none", "ready.json")},
		"a folder as the ready file":       {"-ready-file", dir},
		"a ready file below a file":        {"-ready-file", filepath.Join(broken, "ready.json")},
	} {
		t.Run(name, func(t *testing.T) {
			err := rejected(t, args...)
			require.Error(t, err, "the command started")
			assert.Regexp(t, `^-(\S+)( or MOCKSERVER_[A-Z_]+)?: [^\n]+$`, err.Error())
			assert.Contains(t, err.Error(), args[1])
		})
	}
}

// If other machines can connect, the control routes require a token.
func TestServeOffLoopback(t *testing.T) {
	r := start(t, "-addr", "0.0.0.0:0", "-token", "key")
	if _, port, _ := strings.Cut(strings.TrimPrefix(r.base, "http://"), ":"); !strings.Contains(r.out.String(), "http://localhost:"+port+"/_mock/?token=key\n") {
		t.Errorf("the command does not print the link to the console:\n%s", r.out)
	}
	if status, _ := r.ask("GET", "/_mock/info", "dev-token", ""); status != 401 {
		t.Errorf("with the default token: %d", status)
	}
	if status, text := r.ask("GET", "/_mock/info", "key", ""); status != 200 {
		t.Errorf("with the configured token: %d %s", status, text)
	}
	require.NoError(t, r.stop())
}

func TestLogIsPrintable(t *testing.T) {
	var out bytes.Buffer
	log := textLog{&out}
	log.request(mockserver.Request{
		Method: "GET", Path: "/\x1b[2J", Query: "a=\r\nb", Status: 404, Response: mockserver.Text("\x1b]0;x\a"),
	})
	if line := out.String(); strings.ContainsAny(strings.TrimSuffix(line, "\n"), "\x1b\r\n\a") {
		t.Errorf("the line is %q", line)
	}
}

// command starts the command as a process and returns its base URL.
func command(tb testing.TB, args ...string) (*exec.Cmd, string) {
	tb.Helper()
	return commandWith(tb, func(*exec.Cmd) {}, args...)
}

func commandWith(tb testing.TB, prepare func(*exec.Cmd), args ...string) (*exec.Cmd, string) {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), os.Args[0], append(args, "-addr", "127.0.0.1:0")...)
	cmd.Env = append(os.Environ(), asCommand+"=1")
	prepare(cmd)
	out, err := cmd.StdoutPipe()
	require.NoError(tb, err)
	require.NoError(tb, cmd.Start())
	var said strings.Builder
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if base := baseIn(said.String()); base != "" {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return cmd, base
		}
	}
	tb.Fatalf("the command said %q", said.String())
	return nil, ""
}

// inProgress sends a request that a fault rule delays by an hour, and waits until the command has received it. It returns
// a channel for the status.
func inProgress(t *testing.T, base string) chan int {
	t.Helper()
	_, _, err := ask(t, "POST", base+"/_mock/faults", "", `{"action":"delay","delay_ms":3600000}`)
	require.NoError(t, err)
	statuses := make(chan int, 1)
	go func() {
		status, _, _ := ask(t, "POST", base+"/lists", "dev-token", `{"name":"In progress"}`)
		statuses <- status
	}()
	for applied := false; !applied; {
		_, text, err := ask(t, "GET", base+"/_mock/faults", "", "")
		require.NoError(t, err)
		applied = strings.Contains(text, `"applied":1`)
	}
	return statuses
}

// On SIGTERM, and on SIGHUP when its terminal is closed, the command ends the delays of requests in progress, processes them and saves the state.
func TestSignal(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGTERM")
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // commands ignore the signals that their parent ignores, for example below nohup
	t.Cleanup(func() { signal.Stop(hangups) })
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) { testSignal(t, s) })
	}
}

func testSignal(t *testing.T, s syscall.Signal) {
	state := filepath.Join(t.TempDir(), "state.json")
	cmd, base := command(t, "-state", state, "-quiet")
	statuses := inProgress(t, base)
	require.NoError(t, cmd.Process.Signal(s))
	if s == syscall.SIGHUP { // a closed terminal sends it two times
		assert.NoError(t, cmd.Process.Signal(s))
	}
	assert.Equal(t, http.StatusCreated, <-statuses, "the request in progress")
	assert.NoError(t, cmd.Wait(), "the command")
	saved, err := os.ReadFile(state)
	require.NoError(t, err)
	assert.Contains(t, string(saved), "In progress")
}

func TestExitOnStdinClose(t *testing.T) {
	t.Parallel()
	var stdin io.Closer
	cmd, base := commandWith(t, func(c *exec.Cmd) { stdin, _ = c.StdinPipe() }, "-exit-on-stdin-close")
	if status, _, err := ask(t, "GET", base+"/_mock/health", "", ""); status != http.StatusOK {
		t.Fatalf("status %d, error %v with an open standard input, want 200", status, err)
	}
	require.NoError(t, stdin.Close())
	if err := cmd.Wait(); err != nil {
		t.Errorf("the command ended with %v, want no error", err)
	}
}

func TestHealth(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", ":0", "0.0.0.0:0"} {
		r := start(t, "-addr", address, "-token", "key")
		port := r.base[strings.LastIndex(r.base, ":"):]
		listens := strings.TrimSuffix(address, ":0") + port
		var out strings.Builder
		err := run(t.Context(), []string{"health", "-addr", listens}, nil, &out)
		require.NoError(t, err, address)
		assert.Equal(t, "http://127.0.0.1"+port+" is healthy\n", out.String(), address)
		t.Setenv("MOCKSERVER_ADDR", listens)
		assert.NoError(t, run(t.Context(), []string{"health"}, nil, &out), "%s, by the environment", address)
		require.NoError(t, r.stop())
		assert.Error(t, run(t.Context(), []string{"health"}, nil, &out), "%s: healthy after the server has ended", address)
	}
}

func TestUnhealthy(t *testing.T) {
	hangs := make(chan struct{})
	for name, row := range map[string]struct {
		response http.HandlerFunc
		timeout  string
		want     string // part of the error
	}{
		"an error":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, "1h", "is not healthy: 500"},
		"redirect":    {http.RedirectHandler("/elsewhere", http.StatusFound).ServeHTTP, "1h", "is not healthy: 302"},
		"no response": {func(http.ResponseWriter, *http.Request) { <-hangs }, "50ms", "did not respond within 50ms"},
		"another":     {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello\x1b")) }, "1h", "200 OK hello?"},
	} {
		server := httptest.NewServer(row.response)
		addr := strings.TrimPrefix(server.URL, "http://")
		err := run(t.Context(), []string{"health", "-addr", addr, "-timeout", row.timeout}, nil, &output{})
		assert.ErrorContains(t, err, row.want, name)
		if name == "no response" {
			close(hangs)
		}
		server.Close()
	}
}

// TestGCPercent: the GC percentage is 400 for a small heap and 100 for a large heap, unless GOGC is set.
func TestGCPercent(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	percent := func() uint64 {
		now := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(now)
		return now[0].Value.Uint64()
	}
	t.Setenv("GOGC", "50")
	if raiseGCPercent(); percent() != 100 {
		t.Errorf("with GOGC: %d, want no change", percent())
	}
	t.Setenv("GOGC", "")
	runtime.GC() // frees the heap of earlier tests
	raiseGCPercent()
	if runtime.GC(); percent() != 400 {
		t.Errorf("with a small heap: %d, want 400", percent())
	}
	records := make([]byte, 2*smallHeap)
	for percent() != 100 { // the check runs soon after a collection
		runtime.GC()
	}
	runtime.KeepAlive(records)
}
