// Command soak tries for a while to make the SDK lose something, and prints what
// it tried, how often, and what was lost, which must be nothing:
//
//	go run ./internal/soak        # some minutes
//	go run ./internal/soak -long  # some hours
//	go run ./internal/soak -only simulation -seeds 100000
//
// It fails if anything was lost. Most trials are tests of the packages with more
// repetitions than go test has; the others go over sockets and take real time.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	lost, err := run(ctx)
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(2)
	case lost:
		os.Exit(1)
	}
}

// trial is one way to make the SDK lose something.
type trial struct {
	name string
	run  func(ctx context.Context, long bool) (result, error)
}

// result is what came of a trial.
type result struct {
	tried  string   // what and how often
	lost   []string // each loss in words
	memory string   // what was in use
}

func run(ctx context.Context) (lost bool, err error) {
	long := flag.Bool("long", false, "try for hours instead of minutes")
	only := flag.String("only", "", "run only the trials whose names hold this `text`")
	seeds := flag.Int("seeds", 0, "how many seeds the simulation runs; 5,000 if 0, or a million with -long")
	flag.Parse()

	trials := append(testTrials(*seeds),
		trial{"lookups that are cancelled in the queue", cancelledLookups},
		trial{"import, deliver, iterate, close, again", lives})
	fuzzing, err := fuzzTrials(".")
	if err != nil {
		return false, err
	}
	if trials, err = holding(append(trials, fuzzing...), *only); err != nil {
		return false, err
	}

	var rows []string
	start := time.Now()
	for _, t := range trials {
		began := time.Now()
		fmt.Fprintf(os.Stderr, "%s …", t.name)
		r, err := t.run(ctx, *long)
		took := time.Since(began).Round(100 * time.Millisecond)
		fmt.Fprintf(os.Stderr, " %v\n", took)
		if err != nil {
			return false, fmt.Errorf("%s: %w", t.name, err)
		}
		for _, loss := range r.lost {
			lost = true
			fmt.Fprintf(os.Stderr, "LOST in %s: %s\n", t.name, loss)
		}
		rows = append(rows, fmt.Sprintf("%s\t%s\t%s\t%s\t%v", t.name, r.tried, nothing(len(r.lost)), r.memory, took))
	}
	printTable(os.Stdout, rows)
	fmt.Printf("\n%d trials in %v\n", len(rows), time.Since(start).Round(time.Second))
	return lost, nil
}

// holding returns the trials whose names hold a text. That there is none must not
// look like nothing was lost.
func holding(trials []trial, text string) ([]trial, error) {
	found := slices.DeleteFunc(trials, func(t trial) bool { return !strings.Contains(t.name, text) })
	if len(found) == 0 {
		return nil, fmt.Errorf("-only: no trial's name holds %q", text)
	}
	return found, nil
}

func nothing(n int) string {
	if n == 0 {
		return "nothing"
	}
	return fmt.Sprintf("%d LOST", n)
}

func printTable(w io.Writer, rows []string) {
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "trial\ttried\tlost\tmemory\ttime")
	for _, row := range rows {
		fmt.Fprintln(t, row)
	}
	_ = t.Flush() // to standard output
}
