package main

import (
	"context"
	"flag"
	"fmt"
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

func run(ctx context.Context) error {
	rounds := flag.Int("rounds", 20, "how many `rounds` the contenders take turns; under 10 for a first look only")
	only := flag.String("only", "", "measure only the comparisons whose names hold this `text`")
	flag.Parse()

	printMachine()
	if err := measure(ctx, contests(), *rounds, *only); err != nil {
		return err
	}
	for _, extra := range []struct {
		name string
		run  func(context.Context) error
	}{
		{"memory", compareMemory},
		{"command", compareCommands},
		{"lookups", compareLookups},
	} {
		if !strings.Contains(extra.name, *only) {
			continue
		}
		if err := extra.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", extra.name, err)
		}
	}
	return nil
}

// contests returns all comparisons that are races against the clock.
func contests() []contest {
	var all []contest
	for _, some := range [][]contest{verifyContests(), decodeContests(), receiverContests(), importContests(), pageContests(), mockContests()} {
		all = append(all, some...)
	}
	return all
}

func measure(ctx context.Context, all []contest, rounds int, only string) error {
	var chosen []*entered
	for _, c := range all {
		if !strings.Contains(c.name, only) {
			continue
		}
		e, err := enter(ctx, c)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		defer e.close()
		chosen = append(chosen, e)
	}
	start := time.Now()
	for round := range rounds {
		for _, e := range chosen {
			if err := e.round(round); err != nil {
				return fmt.Errorf("%s: %w", e.name, err)
			}
		}
		fmt.Fprintf(os.Stderr, "round %d of %d, %v\n", round+1, rounds, time.Since(start).Round(time.Second))
	}
	for _, e := range chosen {
		e.print(os.Stdout)
	}
	return nil
}

// printMachine says what the figures belong to.
func printMachine() {
	fmt.Printf("%s %s/%s, %d processors, %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), time.Now().Format(time.DateOnly))
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	for _, dep := range info.Deps {
		for _, peer := range []string{"stripe-", "svix", "standard-webhooks", "go-github", "mailgun-go", "x/time"} {
			if strings.Contains(dep.Path, peer) {
				fmt.Printf("  %s %s\n", dep.Path, dep.Version)
			}
		}
	}
	fmt.Println()
}
