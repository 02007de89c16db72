package benchmarks

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/emailplatform/mockserver"
)

// BenchmarkIterateCPU reads 1,000 pages from a server in another process, and reports the client's processor time,
// including garbage collection. A block of 32 MiB represents the rest of the application. Without this block, the heap
// would have only 4 MiB and be collected two times for every 100 pages, which is more often than in an application.
func BenchmarkIterateCPU(b *testing.B) {
	rest := make([]byte, 32<<20)
	defer runtime.KeepAlive(rest)
	cmd := exec.Command(must(os.Executable()))
	cmd.Env = append(os.Environ(), servePages+"=1")
	out := must(cmd.StdoutPipe())
	defer start(cmd)()
	r := reader{b.Context(), newPool(), strings.TrimSpace(must(bufio.NewReader(out).ReadString('\n'))), 100}
	for _, c := range []struct {
		impl string
		op   func()
	}{{"sdk", r.sdk(0)}, {"net/http-discard", r.discard}, {"net/http+json", r.byHand}} {
		b.Run("impl="+c.impl, func(b *testing.B) {
			measureCPU(b, os.Getpid(), func() {
				for range 10 { // enough calls to include garbage collections
					c.op()
				}
			})
		})
	}
}

// measureCPU measures the time of op, and the processor time of a process during op.
func measureCPU(b *testing.B, pid int, op func()) {
	op()
	before := cpuOf(pid)
	for b.Loop() {
		op()
	}
	b.ReportMetric(float64(cpuOf(pid)-before)/float64(b.N), "cpu-ns/op")
}

// servePages is the environment variable that turns the test binary into a server of pages.
const servePages = "BENCHMARK_SERVE_PAGES"

func TestMain(m *testing.M) {
	if os.Getenv(servePages) == "" {
		os.Exit(m.Run())
	}
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	fmt.Println("http://" + listener.Addr().String())
	check(http.Serve(listener, newPages(100)))
}

// start starts a process and returns a function that ends it.
func start(cmd *exec.Cmd) (stop func()) {
	check(cmd.Start())
	return func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }
}

// command is a mock server in a separate process.
type command struct {
	impl, tool        string
	args              []string // the address comes last
	create, read      string   // paths
	token             string
	contentType, body string
}

func commands() []command {
	return []command{
		{"sdk", "mockserver", []string{"-quiet", "-addr"}, "/lists", "/lists/1", mockserver.DefaultToken, "application/json", `{"name":"Customers"}`},
		{
			"stripe-mock", "stripe-mock", []string{"-https-addr", "127.0.0.1:0", "-http-addr"}, // it has a fixed port by default
			"/v1/customers", "/v1/customers/cus_123", "sk_test_123", "application/x-www-form-urlencoded", "name=Customers",
		},
	}
}

// program returns the path of the command, and builds it if necessary.
func (c command) program() string {
	return strings.TrimSpace(string(must(exec.Command("go", "tool", "-n", c.tool).Output())))
}

// start starts the command and waits for its first response. The first request creates the resource that send reads.
func (c command) start(program string) (url string, pid int, stop func()) {
	listener := must(net.Listen("tcp", "127.0.0.1:0"))
	address := listener.Addr().String() // the listener is closed before the command starts
	listener.Close()
	cmd := exec.Command(program, append(c.args, address)...)
	stop = start(cmd)
	pool := newPool()
	defer pool.CloseIdleConnections()
	for begin := time.Now(); ; time.Sleep(time.Millisecond) {
		err := c.send(pool, http.MethodPost, "http://"+address)
		if err == nil {
			return "http://" + address, cmd.Process.Pid, stop
		}
		if time.Since(begin) > time.Minute {
			stop()
			panic(err)
		}
	}
}

func (c command) send(pool *http.Client, method, url string) error {
	if method == http.MethodGet {
		return send(pool, newRequest(method, url+c.read, c.token, "", http.NoBody))
	}
	return send(pool, newRequest(method, url+c.create, c.token, c.contentType, strings.NewReader(c.body)))
}

// BenchmarkMockStart reports the time from the start of a mock server to its first response, and its memory at that
// time.
func BenchmarkMockStart(b *testing.B) {
	for _, c := range commands() {
		program := c.program()
		b.Run("impl="+c.impl, func(b *testing.B) {
			for b.Loop() {
				_, pid, stop := c.start(program)
				b.StopTimer()
				b.ReportMetric(resident(pid), "MiB")
				stop()
				b.StartTimer()
			}
		})
	}
}

// BenchmarkMockCommand sends 2,000 requests over eight connections to a mock server with validation, and, for
// comparison, to stripe-mock. Before that, it sends 2,000 warm-up requests, which are enough for several garbage
// collections of the server. Each run starts a new process. Each stripe-mock process checks its routes in another
// random order, so its speed differs between runs. Therefore, compare the means of the runs, not the minima.
func BenchmarkMockCommand(b *testing.B) {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		for _, c := range commands() {
			program := c.program()
			b.Run(method+"/impl="+c.impl, func(b *testing.B) {
				url, pid, stop := c.start(program)
				defer stop()
				pool := newPool()
				measureCPU(b, pid, func() {
					parallel(connections, 2000, func(int, int) { check(c.send(pool, method, url)) })
				})
			})
		}
	}
}

// cpuOf returns the processor time of all threads of a process.
func cpuOf(pid int) (sum int64) {
	for _, file := range must(filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))) {
		if text, err := os.ReadFile(file); err == nil { // the thread may have ended
			var ns int64
			must(fmt.Sscan(string(text), &ns))
			sum += ns
		}
	}
	return sum
}

// resident returns the memory that a process holds.
func resident(pid int) (mib float64) {
	_, after, _ := strings.Cut(string(must(os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)))), "VmRSS:")
	var kib float64
	must(fmt.Sscan(after, &kib))
	return kib / 1024
}
