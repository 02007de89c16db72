package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"time"
)

// profileReceiver tells where the time of a receiver goes that is behind net/http.
func profileReceiver(ctx context.Context, out *report) error {
	const server = `net/http\.\(\*conn\)\.serve`
	parts := []struct{ what, function string }{ // those further in are parts of those before them
		{"net/http, from reading a request to its answer", server},
		{"our handler", `example\.com/emailplatform/webhook\.\(\*handler\)\.ServeHTTP`},
		{"verifying", `example\.com/emailplatform/webhook\.\(\*Verifier\)\.Verify`},
		{"decoding", `example\.com/emailplatform/events\.Parse`},
		{"remembering", `example\.com/emailplatform/webhook\.\(\*MemoryOnce\)\.\w+`},
	}
	a := newArena(ctx)
	defer a.close()
	contenders, err := receiverContests()[0].setup(a)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "receiver.pprof")
	if err := profile(path, 3*time.Second, contenders[0].op); err != nil {
		return err
	}
	top, err := exec.CommandContext(ctx, "go", "tool", "pprof", "-top", "-cum", "-nodefraction=0", "-nodecount=1000", //nolint:gosec // a file of our own
		"-focus", server, path).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go tool pprof: %w\n%s", err, top)
	}
	fmt.Fprintln(out, "profile of a receiver behind net/http: shares of the processor time (cumulative, without the senders)")
	all := seconds(top, server)
	for _, part := range parts {
		fmt.Fprintf(out, "  %-48s %3.0f %%\n", part.what, 100*seconds(top, part.function)/all)
	}
	fmt.Fprintln(out)
	return nil
}

// profile does op over and over, and writes a profile of that.
func profile(path string, length time.Duration, op func() error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := pprof.StartCPUProfile(file); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	for start := time.Now(); time.Since(start) < length; {
		if err := op(); err != nil {
			return err
		}
	}
	return nil
}

// seconds returns what a function took with all that it called: the most of those
// that the pattern matches.
func seconds(top []byte, function string) (most float64) {
	line := regexp.MustCompile(`(?m)^ *\S+ +\S+ +\S+ +(\S+) +\S+ +` + function + `(?: \(inline\))?$`)
	for _, m := range line.FindAllSubmatch(top, -1) {
		if d, err := time.ParseDuration(string(m[1])); err == nil {
			most = max(most, d.Seconds())
		}
	}
	return most
}
