package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fate is what became of a mutant.
type fate int

const (
	survived  fate = iota
	unreached      // no test runs its code
	killed
	endless // killed: the tests did not end
)

// patience is how long tests may take beyond twenty times what they take otherwise.
const patience = 5 * time.Second

// exitLimit is how a process ends that outlives its limit; the helpers know it too.
const exitLimit = 99

// test is a test function, an example, or the seeds of a fuzz target.
type test struct {
	program program
	name    string
	took    time.Duration
	reaches map[int]bool
}

// sample says which mutants are tried, in percent.
type sample struct {
	written, generated int
	seed               uint64
}

// has tells whether a mutant belongs to the sample: the same ones each time, however
// lines move.
func (s sample) has(m mutant) bool {
	percent := s.written
	if m.generated() {
		percent = min(percent, s.generated)
	}
	h := fnv.New64a()
	fmt.Fprint(h, s.seed, m.key())
	return int(h.Sum64()%100) < percent
}

// of says which of all the mutants of a package belong to the sample.
func (s sample) of(all []mutant) string {
	text := fmt.Sprintf("%d %%", s.written)
	if s.written == 100 {
		text = "all"
	}
	generated := slices.ContainsFunc(all, mutant.generated) && s.generated < 100
	if generated {
		text += fmt.Sprintf(", of generated code %d %%", min(s.written, s.generated))
	}
	if generated || s.written < 100 {
		text += fmt.Sprintf(", seed %d", s.seed)
	}
	return text
}

// keep forgets the mutants that are not wanted.
func (b *built) keep(wanted func(mutant) bool) {
	b.mutants = slices.DeleteFunc(b.mutants, func(m mutant) bool { return !wanted(m) })
}

// try finds out the fate of each mutant.
func (b *built) try(ctx context.Context, skip *regexp.Regexp, verbose bool) error {
	var tests []test
	for _, p := range b.programs {
		more, err := b.listTests(ctx, p, skip)
		if err != nil {
			return err
		}
		tests = append(tests, more...)
	}
	slices.SortStableFunc(tests, func(a, b test) int { return cmp.Compare(a.took, b.took) })
	fmt.Fprintf(os.Stderr, "%s: %d mutants, %d tests\n", b.subject.dir, len(b.mutants), len(tests))
	began := time.Now()
	for i := range b.mutants {
		m := &b.mutants[i]
		if err := b.judge(ctx, m, tests); err != nil {
			return err
		}
		switch {
		case m.fate == survived || m.fate == unreached:
			fmt.Fprintf(os.Stderr, "%s:%d: survived: %s\n", m.file, m.line, m.key())
		case verbose:
			fmt.Fprintf(os.Stderr, "%s:%d: killed by %s: %s\n", m.file, m.line, m.killer, m.key())
		}
		if (i+1)%100 == 0 {
			fmt.Fprintf(os.Stderr, "%s: %d of %d after %v\n", b.subject.dir, i+1, len(b.mutants), time.Since(began).Round(time.Second))
		}
	}
	return nil
}

// listTests runs each test of a program alone, without mistakes, and returns them
// with what they reach.
func (b *built) listTests(ctx context.Context, p program, skip *regexp.Regexp) ([]test, error) {
	out, err := exec.CommandContext(ctx, p.path, "-test.list=^(Test|Example|Fuzz)").Output() //nolint:gosec // built above
	if err != nil {
		return nil, err
	}
	var tests []test
	for name := range strings.FieldsSeq(string(out)) {
		if skip.MatchString(name) {
			continue
		}
		reached := filepath.Join(b.dir, "reached")
		t := test{program: p, name: name, reaches: map[int]bool{}}
		began := time.Now()
		o, err := b.run(ctx, p, []string{name}, 10*time.Minute, "MUTANT_REACHED="+reached)
		t.took = time.Since(began)
		if err != nil {
			return nil, err
		}
		numbers, err := os.ReadFile(reached)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		_ = os.Remove(reached)
		if o.failed {
			fmt.Fprintf(os.Stderr, "%s of %s fails alone, without a mistake, and is left out:\n%s\n", name, p.pkg, o.output)
			continue
		}
		for n := range strings.FieldsSeq(string(numbers)) {
			number, err := strconv.Atoi(n)
			if err != nil {
				return nil, err
			}
			t.reaches[number] = true
		}
		if len(t.reaches) > 0 {
			tests = append(tests, t)
		}
	}
	return tests, nil
}

// judge runs the tests that reach the mutant, in growing batches, until one fails.
func (b *built) judge(ctx context.Context, m *mutant, tests []test) error {
	m.fate = unreached
	for batch := range batches(m.number, tests) {
		m.fate = survived
		var names []string
		limit := patience
		for _, t := range batch {
			names = append(names, t.name)
			limit += 20 * t.took
		}
		awake := "MUTANT=" + strconv.Itoa(m.number)
		first, err := b.run(ctx, batch[0].program, names, limit, awake)
		if err != nil {
			return err
		}
		if !first.failed {
			continue
		}
		if failed := first.failures(); len(failed) > 0 {
			names = failed
		}
		second, err := b.run(ctx, batch[0].program, names, 2*limit, awake)
		if err != nil {
			return err
		}
		if second.failed {
			m.fate, m.killer = killed, strings.Join(names, ", ")
			if second.endless {
				m.fate = endless
			}
			return nil
		}
	}
	return nil
}

// batches cuts the tests that reach a mutant into such of one program that take
// longer and longer.
func batches(number int, tests []test) func(yield func([]test) bool) {
	return func(yield func([]test) bool) {
		var batch []test
		var took time.Duration
		budget := 100 * time.Millisecond
		for _, t := range tests {
			if !t.reaches[number] {
				continue
			}
			if len(batch) > 0 && (t.program != batch[0].program || took+t.took > budget) {
				if !yield(batch) {
					return
				}
				if took+t.took > budget {
					budget *= 2
				}
				batch, took = nil, 0
			}
			batch, took = append(batch, t), took+t.took
		}
		if len(batch) > 0 {
			yield(batch)
		}
	}
}

// outcome is what came of running tests.
type outcome struct {
	failed, endless bool
	output          []byte
}

func (o outcome) failures() (names []string) {
	for _, m := range regexp.MustCompile(`(?m)^--- FAIL: (\S+)`).FindAllSubmatch(o.output, -1) {
		names = append(names, string(m[1]))
	}
	return names
}

// run runs tests of a program, in the folder of its package.
func (b *built) run(ctx context.Context, p program, names []string, limit time.Duration, env ...string) (outcome, error) {
	scratch := filepath.Join(b.dir, "scratch")
	if err := os.MkdirAll(scratch, 0o700); err != nil {
		return outcome{}, err
	}
	defer func() { _ = os.RemoveAll(scratch) }() // what tests leave that were stopped
	within, cancel := context.WithTimeout(ctx, limit+10*time.Second)
	defer cancel()
	args := []string{"-test.failfast", "-test.timeout=0", "-test.run=^(" + strings.Join(names, "|") + ")$"}
	cmd := exec.CommandContext(within, p.path, args...) //nolint:gosec // built above
	cmd.Dir, cmd.WaitDelay = filepath.FromSlash(p.pkg), time.Second
	cmd.Env = append(os.Environ(), "TMPDIR="+scratch, "TMP="+scratch, "GOMEMLIMIT=1GiB", "MUTANT_LIMIT="+limit.String())
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return outcome{}, ctx.Err()
	case err == nil:
		return outcome{output: out}, nil
	case errors.As(err, &exit):
		return outcome{true, exit.ExitCode() == exitLimit || within.Err() != nil, out}, nil
	case errors.Is(err, exec.ErrWaitDelay):
		return outcome{failed: true, output: out}, nil
	}
	return outcome{}, err
}
