package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
)

// repeated is a test of a package that is run with other numbers than go test
// would: the first argument list in the short form, the second in the long one.
type repeated struct {
	name, dir, tests string
	race             bool
	progress         bool // it tells on standard error how far it is
	short, long      []string
	tried            [2]string
}

// testTrials returns the trials that are tests of packages. The simulation runs so many
// seeds, or as many as the form says if that is 0.
func testTrials(seeds int) (trials []trial) {
	count := func(n int) []string { return []string{"-test.count=" + strconv.Itoa(n)} }
	flood := func(n int) []string { return append(count(n), "-flood.events=100000") }
	few, many := cmp.Or(seeds, 5_000), cmp.Or(seeds, 1_000_000)
	for _, r := range []repeated{
		{
			name: "simulation of the whole system", dir: "internal/tests/simulation", tests: "^TestSeeds$", progress: true,
			short: simulated(few), long: simulated(many), tried: [2]string{fmt.Sprintf("%d seeds", few), fmt.Sprintf("%d seeds", many)},
		},
		{
			name: "every operation against every fault", dir: "client", tests: "^(TestFaultMatrix|TestOverSockets|TestCancelledWhileUnderWay)$",
			short: count(1), long: count(50), tried: [2]string{"once", "50 times"},
		},
		{
			name: "retries under random faults", dir: "client", tests: "^TestSeeds$",
			short: []string{"-seeds=10000"}, long: []string{"-seeds=10000", "-test.count=10"}, tried: [2]string{"10,000 fault plans", "10,000 fault plans, 10 times"},
		},
		{
			name: "imports that crash and resume", dir: "client", tests: "^TestImport(Survives|Resumes|IsRetried|CancelledOnPlatform)$",
			short: count(2), long: count(500), tried: [2]string{"at each boundary of 25 batches, twice", "at each boundary of 25 batches, 500 times"},
		},
		{
			name: "deliveries to failing receivers", dir: "webhook", tests: "^TestFlood$",
			short: flood(1), long: flood(100), tried: [2]string{"100,000 events", "100,000 events, 100 times"},
		},
		{
			name: "deliveries of the platform to failing receivers", dir: "webhook", tests: "^TestFloodFromThePlatform$",
			short: flood(1), long: flood(100), tried: [2]string{"100,000 events", "100,000 events, 100 times"},
		},
		{
			name: "the mock killed while it writes its state", dir: "mockserver/cmd/mockserver", tests: "^TestKilled$",
			short: []string{"-kills=100"}, long: []string{"-kills=5000"}, tried: [2]string{"killed 100 times", "killed 5,000 times"},
		},
		{
			name: "the platform against a model of it", dir: "internal/tests/conformance", tests: "^TestModel$",
			short: []string{"-model.sequences=10000"}, long: []string{"-model.sequences=1000000"}, tried: [2]string{"10,000 sequences", "1,000,000 sequences"},
		},
		{
			name: "everything at once, with the race detector", dir: "internal/tests/conformance", tests: "^TestStress$", race: true,
			short: []string{"-stress=10s"}, long: []string{"-stress=30m"}, tried: [2]string{"64 goroutines for 10 s", "64 goroutines for 30 min"},
		},
	} {
		trials = append(trials, trial{r.name, r.run})
	}
	return trials
}

func simulated(seeds int) []string { return []string{"-seeds=" + strconv.Itoa(seeds), "-progress"} }

func (r repeated) run(ctx context.Context, long bool) (result, error) {
	args, tried := r.short, r.tried[0]
	if long {
		args, tried = r.long, r.tried[1]
	}
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		return result{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	program := filepath.Join(dir, "soak.test.exe") // what Windows needs hurts nobody else
	build := []string{"test", "-c", "-o", program, "./" + r.dir}
	if r.race {
		build = append(build, "-race")
	}
	if out, err := exec.CommandContext(ctx, "go", build...).CombinedOutput(); err != nil { //nolint:gosec // constants of this program
		return result{}, fmt.Errorf("%w\n%s", err, out)
	}
	// The test itself says when something is lost, so that each failure counts.
	test := exec.CommandContext(ctx, program, append([]string{"-test.run=" + r.tests, "-test.v", "-test.timeout=0"}, args...)...) //nolint:gosec // the program that was built above
	test.Dir = r.dir
	var all bytes.Buffer
	test.Stdout, test.Stderr = &all, &all
	if r.progress {
		test.Stderr = os.Stderr
	}
	err = test.Run()
	out := all.Bytes()
	if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) {
		return result{}, err
	}
	if passed := bytes.Count(out, []byte("--- PASS: ")); err == nil && passed == 0 {
		return result{}, fmt.Errorf("no test matches %s", r.tests)
	}
	return result{tried: tried, lost: failures(out, err), memory: peakMemory(test.ProcessState)}, nil
}

// failures returns what the failing tests said.
func failures(out []byte, err error) (lost []string) {
	if err == nil {
		return nil
	}
	for _, m := range regexp.MustCompile(`(?m)^ *(\S+_test\.go:\d+: .*)$`).FindAllSubmatch(out, -1) {
		lost = append(lost, string(m[1]))
	}
	if len(lost) == 0 { // a crash, a race
		lost = []string{string(out)}
	}
	return lost
}

// peakMemory is the most that a process held.
func peakMemory(p *os.ProcessState) string {
	if n := maxResident(p); n > 0 {
		return fmt.Sprintf("%d MiB at most", n>>20)
	}
	return ""
}
