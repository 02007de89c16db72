package main

import (
	"errors"
	"strings"
	"testing"
)

// A soak that could not lose anything would prove nothing.
func TestLossesAreSeen(t *testing.T) {
	failed := errors.New("exit status 1")
	for name, row := range map[string]struct {
		lost []string
		want string
	}{
		"a failed test": {
			lost: failures([]byte("=== RUN   TestX\n    x_test.go:12: lost an event\n--- FAIL: TestX (0.1s)\n"), failed),
			want: "x_test.go:12: lost an event",
		},
		"a crash": {lost: failures([]byte("fatal error: all goroutines are asleep"), failed), want: "fatal error"},
		"a goroutine": {
			lost: footprint{goroutines: 4}.leaks(footprint{goroutines: 3}),
			want: "1 goroutines stay behind",
		},
		"memory":   {lost: footprint{heap: 9 << 20}.leaks(footprint{heap: 1 << 20}), want: "8 MiB"},
		"an event": {lost: (&receiver{handled: map[string]int{}}).losses(), want: "2000 of 2000 events"},
		"one twice": {
			lost: (&receiver{handled: map[string]int{"a@example.com": 2}}).losses(),
			want: "handled 2 times",
		},
	} {
		if !strings.Contains(strings.Join(row.lost, "\n"), row.want) {
			t.Errorf("%s: %q, want %q", name, row.lost, row.want)
		}
	}
	if lost := failures([]byte("--- PASS: TestX (0.1s)\n"), nil); lost != nil {
		t.Errorf("a test that passed lost %q", lost)
	}
}

// A trial whose test was renamed would find nothing to run.
func TestTrialsRun(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles and runs tests of other packages")
	}
	t.Chdir("../..")
	r := repeated{dir: "internal/json/jsonscan", tests: "^TestNoSuchTest$"}
	if _, err := r.run(t.Context(), false); err == nil || !strings.Contains(err.Error(), "no test matches") {
		t.Errorf("without a test: %v", err)
	}
}

func TestTrialsAreChosen(t *testing.T) {
	two := func() []trial { return []trial{{name: "import, close"}, {name: "lookups"}} }
	for text, want := range map[string]int{"": 2, "look": 1} {
		if got, err := holding(two(), text); err != nil || len(got) != want {
			t.Errorf("%q: %d trials, %v, want %d", text, len(got), err, want)
		}
	}
	if got, err := holding(two(), "typo"); err == nil {
		t.Errorf("a text that no name holds: %v", got)
	}
}

func TestFuzzTargetsAreFound(t *testing.T) {
	trials, err := fuzzTrials("../..")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, trial := range trials {
		names[trial.name] = true
	}
	for _, want := range []string{
		"fuzz events FuzzParse", "fuzz internal/json/jsonscan FuzzCursor", "fuzz mcp FuzzArguments",
		"fuzz webhook FuzzVerify",
	} {
		if !names[want] {
			t.Errorf("%s is missing", want)
		}
	}
	if _, err := fuzzTrials(t.TempDir()); err == nil {
		t.Error("no targets is no error")
	}
}

func TestExecuted(t *testing.T) {
	for out, want := range map[string]string{
		"":                      "0",
		"execs: 12 (4/sec)":     "12",
		"execs: 12\nexecs: 999": "999",
		"execs: 10000000 (1)":   "10,000,000",
	} {
		if got := executed([]byte(out)); got != want {
			t.Errorf("%q: %s, want %s", out, got, want)
		}
	}
}
