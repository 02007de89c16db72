package simulation

import (
	"flag"
	"fmt"
	"go/parser"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	seeds    = flag.Int("seeds", 60, "how many seeds to run")
	from     = flag.Uint64("from", 1, "the first seed")
	every    = flag.Bool("every", false, "go on after a violation, and tell each in a line")
	shrink   = flag.Bool("shrink", true, "shrink the plan of the first violation")
	without  = flag.String("without", "", "leave out steps whose Go text matches this `regexp`")
	traces   = flag.Bool("trace", false, "print the trace of each seed")
	progress = flag.Bool("progress", false, "tell on standard error how far the seeds are")
)

// Every invariant holds in every run.
func TestSeeds(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(800)) // a run leaves nothing that is worth looking for
	var sum Stats
	began, told, n := time.Now(), time.Now(), 0
	rate := func() string { return fmt.Sprintf("%.0f a minute", float64(n)/time.Since(began).Minutes()) }
	for seed := *from; seed < *from+uint64(*seeds) && !t.Failed(); seed++ {
		sum.Add(carryOut(t, plan(seed)))
		n++
		if *progress && time.Since(told) > 10*time.Second {
			told = time.Now()
			fmt.Fprintf(os.Stderr, "\n  seed %d of %d, %s …", seed, *from+uint64(*seeds)-1, rate())
		}
	}
	t.Logf("%d seeds in %v, %s: %+v", n, time.Since(began).Round(time.Millisecond), rate(), sum)
}

// plan is that of a seed, without what is to be left out.
func plan(seed uint64) Plan {
	p := Generate(seed)
	if *without != "" {
		left := regexp.MustCompile(*without)
		p.Steps = slices.DeleteFunc(p.Steps, func(s Step) bool { return left.MatchString(goText(s.Do)) })
	}
	return p
}

// carryOut carries one plan out, and tells what does not hold as the flags want it.
func carryOut(t *testing.T, p Plan) Stats {
	t.Helper()
	if *shrink && !*every && !*traces {
		return Explore(t, p)
	}
	run := Simulate(t, p)
	if *traces {
		fmt.Printf("seed %d\n%s", p.Seed, run.Trace)
	}
	for _, v := range run.Violations {
		t.Logf("seed %d: %s: %s", p.Seed, v.Invariant.Name, v.What)
	}
	if len(run.Violations) > 0 && !*every {
		t.Fail()
	}
	return run.Stats
}

// The same plan gives the same trace, byte for byte.
func TestSameSeedSameTrace(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector has goroutines run in a random order")
	}
	for seed := *from; seed < *from+uint64(*seeds)/10; seed++ {
		want := Simulate(t, Generate(seed)).Trace
		for range 2 {
			if got := Simulate(t, Generate(seed)).Trace; got != want {
				t.Fatalf("seed %d:\n%s\nand then:\n%s", seed, want, got)
			}
		}
	}
}

// Every invariant quotes a sentence that is there.
func TestInvariantsAreQuoted(t *testing.T) {
	names := map[string]bool{}
	for _, i := range Invariants() {
		text, err := os.ReadFile("../../../" + i.Source)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(words(string(text)), words(i.Sentence)) {
			t.Errorf("%s: %s does not say %q", i.Name, i.Source, i.Sentence)
		}
		if names[i.Name] {
			t.Errorf("%q is the name of two", i.Name)
		}
		names[i.Name] = true
	}
}

// words returns a text without comment marks and line ends.
func words(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, "//", " ")), " ")
}

// A failing plan is shrunk to the steps that make it fail. The failure is made here:
// a store that forgets what it promises to remember.
func TestShrink(t *testing.T) {
	plan := Generate(3)
	plan.Store = "forgetful"
	at := plan.Steps[len(plan.Steps)-1].At
	plan.Steps = append(plan.Steps,
		Step{at + time.Minute, Send{}},
		Step{at + 2*time.Minute, Cut{On: "replica1"}}, // the answer is lost, and the event comes again
		Step{at + 3*time.Minute, React{Bounces}},
	)
	plan.Replicas, plan.HTTP2, plan.Clients = 1, false, plan.Clients[:1]
	plan.Steps = slices.DeleteFunc(plan.Steps, func(s Step) bool { return !fits(Plan{Replicas: 1, Clients: plan.Clients, Steps: []Step{s}}) })
	run := Simulate(t, plan)
	if len(run.Violations) == 0 {
		t.Fatalf("the forgetful store is not noticed:\n%s", run.Trace)
	}
	short := Shrink(t, run)
	if n := len(short.Plan.Steps); n > 3 || short.Violations[0].Invariant != run.Violations[0].Invariant {
		t.Errorf("%d steps are left: %s\n%s", n, told(short.Violations), short.Plan.Test())
	}
	if _, err := parser.ParseExpr("func() {" + strings.ReplaceAll(short.Plan.Test(), "func TestFound(t *testing.T) {", "{") + "}"); err != nil {
		t.Errorf("the test does not parse: %v\n%s", err, short.Plan.Test())
	}
}

// Values of an answer are found, and replaced by those of another kind.
func TestReshape(t *testing.T) {
	const body = ` {"id": 7, "a" : ["x\"", true], "b": {}} `
	for _, row := range []struct {
		name string
		nth  int
		put  string
		want string
	}{
		{"the whole", 0, "[]", ` [] `},
		{"the whole is not taken out", 0, "", ` null `},
		{"the first member", 1, "", ` { "a" : ["x\"", true], "b": {}} `},
		{"another member", 2, "", ` {"id": 7, "b": {}} `},
		{"an element", 3, "1", ` {"id": 7, "a" : [1, true], "b": {}} `},
		{"no element is taken out", 4, "", ` {"id": 7, "a" : ["x\"", null], "b": {}} `},
		{"the same kind", 4, "true", ` {"id": 7, "a" : ["x\"", null], "b": {}} `},
		{"an id is a string or a number", 1, `"x"`, ` {"id": null, "a" : ["x\"", true], "b": {}} `},
		{"beyond the end", 6, "7", ` 7 `},
	} {
		if got := string(reshape([]byte(body), row.nth, row.put)); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}
