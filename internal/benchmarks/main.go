package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}

// settings are the flags.
type settings struct {
	rounds   int
	only     string
	write    bool
	decoders bool   // only the comparisons in which encoding/json decides
	results  string // where the targets go, if another run has started this one
}

func run(ctx context.Context) error {
	var s settings
	flag.IntVar(&s.rounds, "rounds", 4, "how many `rounds` the contenders take turns in each of the five runs; 1 for a first look only")
	flag.StringVar(&s.only, "only", "", "measure only the comparisons whose names hold this `text`")
	flag.BoolVar(&s.write, "write", false, "write what is measured into docs/performance.md")
	releases := flag.String("go", "go1.26.8,go1.27.4", "measure with these `releases` of Go, all comparisons with the last one")
	flag.BoolVar(&s.decoders, "decoders", false, "with the release at hand, only the comparisons in which encoding/json decides")
	flag.StringVar(&s.results, "results", "", "with the release at hand, and write the targets into a `file`")
	alone := flag.Bool("serve-pages", false, "serve the pages that iterators read, for another process")
	flag.Parse()

	switch {
	case *alone:
		return servePages(ctx)
	case s.write && s.only != "":
		return errors.New("-write writes all comparisons: not with -only")
	case s.results == "" && !s.decoders:
		return compareReleases(ctx, strings.Split(*releases, ","), s)
	}
	r := &report{Writer: os.Stdout}
	if err := measureAll(ctx, r, s); err != nil || s.results == "" {
		return err
	}
	return r.save(s.results)
}

// measureAll measures with the release of Go that this program was built with.
func measureAll(ctx context.Context, r *report, s settings) error {
	printMachine(r)
	var local, rest []contest
	for _, c := range contests() {
		if c.local {
			local = append(local, c)
		} else {
			rest = append(rest, c)
		}
	}
	for _, some := range [][]contest{local, rest} { // those first whose memory should be their own
		if err := measure(ctx, r, some, s); err != nil {
			return err
		}
	}
	if s.decoders {
		return nil
	}
	for _, extra := range []struct {
		name string
		run  func(context.Context, *report) error
	}{
		{"memory", compareMemory},
		{"command", compareCommands},
		{"profile of a receiver", profileReceiver},
		{"lookups", compareLookups},
	} {
		if !strings.Contains(extra.name, s.only) {
			continue
		}
		if err := extra.run(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", extra.name, err)
		}
	}
	return nil
}

// contests returns all comparisons that are races against the clock.
func contests() []contest {
	var all []contest
	for _, some := range [][]contest{verifyContests(), decodeContests(), receiverContests(), importContests(), pageContests(), clientContests(), mockContests()} {
		all = append(all, some...)
	}
	return all
}

func measure(ctx context.Context, out *report, all []contest, s settings) error {
	var chosen []*entered
	for _, c := range all {
		if !strings.Contains(c.name, s.only) || s.decoders && !c.decodes {
			continue
		}
		e, err := enter(ctx, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		defer e.close()
		chosen = append(chosen, e)
	}
	if len(chosen) == 0 {
		return nil
	}
	start := time.Now()
	for run := range runs {
		for _, e := range chosen {
			e.startRun()
		}
		for round := range s.rounds {
			for _, e := range chosen {
				if err := e.round(round); err != nil {
					return fmt.Errorf("%s: %w", e.name, err)
				}
			}
		}
		fmt.Fprintf(os.Stderr, "run %d of %d, %v\n", run+1, runs, time.Since(start).Round(time.Second))
	}
	for _, e := range chosen {
		e.print(out)
		out.Targets = append(out.Targets, e.targets()...)
	}
	return nil
}

// printMachine says what the figures belong to.
func printMachine(w io.Writer) {
	fmt.Fprintf(w, "this SDK beside others, with %s\n", runtime.Version())
	fmt.Fprintf(w, "%s/%s, %d processors, %s\n", runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), time.Now().Format(time.DateOnly))
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	for _, dep := range info.Deps {
		for _, peer := range []string{"stripe-", "svix", "standard-webhooks", "go-github", "mailgun-go", "x/time"} {
			if strings.Contains(dep.Path, peer) {
				fmt.Fprintf(w, "  %s %s\n", dep.Path, dep.Version)
			}
		}
	}
	fmt.Fprintln(w)
}
