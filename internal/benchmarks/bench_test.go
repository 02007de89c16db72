package benchmarks

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestBenchmarks runs each benchmark once and checks that the results named in targets.txt exist.
func TestBenchmarks(t *testing.T) {
	out, err := exec.Command(must(os.Executable()), "-test.run=^$", "-test.bench=.", "-test.benchtime=1x", "-test.short").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(must(os.ReadFile("targets.txt")))) {
		fields := strings.Fields(line)
		found := len(fields) != 6 || regexp.MustCompile(`(?m)^Benchmark`+regexp.QuoteMeta(fields[0])+`(-\d+)?\s.* `+fields[1]+`(\s|$)`).Match(out)
		if !found && runtime.GOOS == "linux" { // other systems do not report the processor time of processes
			t.Errorf("targets.txt: no benchmark has the result %q in\n%s", line, out)
		}
	}
}

// compare measures one contender of a comparison. If impl is sdk, this is our SDK.
func compare(b *testing.B, impl string, op func()) {
	b.Run("impl="+impl, func(b *testing.B) {
		b.ReportAllocs()
		op() // initializes lazily and opens connections
		for b.Loop() {
			op()
		}
	})
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

// expect panics if a contender processed a different number of items.
func expect(what string, got, want int) {
	if got != want {
		panic(fmt.Sprintf("%d %s, want %d", got, what, want))
	}
}

const connections = 8

func newPool() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
}

// serve listens on a loopback port until the benchmark ends.
func serve(b *testing.B, h http.Handler) (url string) {
	srv := httptest.NewServer(h)
	b.Cleanup(srv.Close)
	return srv.URL
}

// slow delays each response to simulate a platform on another machine.
func slow(pause time.Duration, h http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(pause)
		h.ServeHTTP(w, r)
	}
}

func newRequest(method, url, token, contentType string, body io.Reader) *http.Request {
	req := must(http.NewRequest(method, url, body))
	req.Header.Set("Authorization", "Bearer "+token)
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return req
}

// send sends a request and discards the response.
func send(c *http.Client, req *http.Request) error {
	resp, err := c.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("%s %s: %s", req.Method, req.URL, resp.Status)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// parallel calls do for each i from 0 to n-1. The calls of one worker are sequential.
func parallel(workers, n int, do func(worker, i int)) {
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			for i := worker; i < n; i += workers {
				do(worker, i)
			}
		})
	}
	group.Wait()
}
