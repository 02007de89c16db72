package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestMain is also the other process of the comparison of iterators.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "-serve-pages") {
		if err := servePages(context.Background()); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestContests lets every contender do its work, and prints the result.
func TestContests(t *testing.T) {
	for _, c := range contests() {
		t.Run(c.name, func(t *testing.T) {
			e, err := enter(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			defer e.close()
			var out bytes.Buffer
			e.print(&out)
			for _, r := range e.runners {
				if !strings.Contains(out.String(), r.name) {
					t.Errorf("%s is not in the table:\n%s", r.name, &out)
				}
			}
		})
	}
}

// A comparison of decoders is fair if what they decode is equally long.
func TestBodiesAreEquallyLong(t *testing.T) {
	if err := equallyLong(); err != nil {
		t.Error(err)
	}
	for _, format := range []func(int) ([]byte, error){stripeBody, githubBody} {
		body, err := format(700)
		if err != nil || len(body) != 700 || valid(body) != nil {
			t.Errorf("%d bytes, %v: %s", len(body), err, body)
		}
	}
}

// A contender that accepted anything would have an easy time.
func TestContendersVerify(t *testing.T) {
	good, bad := []byte("what was signed"), []byte("what was forged")
	body := bytes.Clone(good)
	all, err := newSchemes([][]byte{body})
	if err != nil {
		t.Fatal(err)
	}
	verify := map[string]func() error{"this SDK": all.ours}
	for _, s := range all.others {
		verify[s.name] = func() error { return s.verify(0) }
	}
	for name, verify := range verify {
		copy(body, good)
		if err := verify(); err != nil {
			t.Errorf("%s refuses: %v", name, err)
		}
		copy(body, bad)
		if verify() == nil {
			t.Errorf("%s accepts a forgery", name)
		}
	}
}

// Four runs of five make it met, each beside ours of the same run.
func TestTargetOfRuns(t *testing.T) {
	us := &runner{turns: []time.Duration{1, 1, 1, 1, 3}, starts: []int{0, 1, 2, 3, 4}}
	peer := &runner{contender: contender{want: 2}, turns: []time.Duration{2, 2, 3, 2, 3}, starts: us.starts}
	if got, _ := peer.target(1, us); got.verdict() != "≥ 2.00 met 4/5" {
		t.Errorf("%+v: %s", got, got.verdict())
	}
	peer.turns[0] = 1
	if got, _ := peer.target(1, us); got.verdict() != "≥ 2.00 MISSED 3/5" {
		t.Errorf("%+v: %s", got, got.verdict())
	}
	us.most = 2
	if got, _ := us.target(0, us); got.verdict() != "≤ 2ns met 4/5" {
		t.Errorf("%+v: %s", got, got.verdict())
	}
	if new(target).met() {
		t.Error("met in no run")
	}
}

// A run is its turns: the fastest, or the mean of those of new processes.
func TestResultsOfRuns(t *testing.T) {
	r := &runner{turns: []time.Duration{9, 2, 4, 3, 5}, starts: []int{1, 3}} // the first turn was before all runs
	if got := r.results(); !slices.Equal(got, []time.Duration{2, 3}) || r.result() != 2 {
		t.Error(got, r.result())
	}
	r.begin = func() error { return nil }
	if got := r.results(); !slices.Equal(got, []time.Duration{3, 4}) {
		t.Error(got)
	}
}

// TestScale runs the operations of BenchmarkScale once with the fewest records.
func TestScale(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$", "-test.bench=Scale", "-test.benchtime=1x", "-test.short")
	if out, err := cmd.CombinedOutput(); err != nil || bytes.Count(out, []byte("ns/op")) < 50 {
		t.Errorf("%v\n%s", err, out)
	}
}
