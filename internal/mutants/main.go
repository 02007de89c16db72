// Command mutants makes one small mistake after the other in a package, and tells
// which of them no test notices:
//
//	go run ./internal/mutants                        # all packages, at the root of the repository
//	go run ./internal/mutants -only events           # those whose names hold a text
//	go run ./internal/mutants -sample 10             # a tenth of the mistakes
//	go run ./internal/mutants -write                 # and writes the table of docs/mutation.md
//
// It fails if less than 95 % are noticed in a package, and if one survives that
// docs/mutation.md does not name with its reason, or names though it is noticed.
//
// A mistake is a condition turned round, or left out of && and ||, a boundary moved,
// another operator, a step in the other direction, break for continue; [findMutants]
// has the list. All mistakes of a package are built into one binary, each asleep
// until its number stands in the environment, so that nothing is compiled twice.
// Nothing in the tree changes: the mutated files are laid over the real ones.
//
// First each test runs alone and notes which mutants it reaches. A mutant then meets
// only those that do, the quickest first. It is killed when they fail twice: a test
// that fails by chance kills nobody. One that does not end counts as killed when it
// does not end in twice the time either.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
)

// share is how many percent of its mutants every package must kill.
const share = 95

// subject is a package to make mistakes in.
type subject struct {
	dir   string
	tests []string // folders of the tests that must notice
}

func subjects() []subject {
	own := func(dir string) subject { return subject{dir, []string{dir}} }
	inside := func(dir string) subject {
		return subject{dir, []string{dir, "mockserver", "internal/tests/conformance", "internal/tests/simulation"}}
	}
	return []subject{
		own("internal/json/jsonscan"), own("events"), own("webhook"), own("client"),
		inside("mockserver/internal/delivery"), inside("mockserver/internal/platform"),
	}
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	only := flag.String("only", "", "mutate only packages whose folders hold this `text`")
	file := flag.String("file", "", "mutate only files whose names hold this `text`")
	pick := sample{}
	flag.IntVar(&pick.written, "sample", 100, "how many `percent` of the mutants of written code to try")
	flag.IntVar(&pick.generated, "generated", 20, "how many `percent` of the mutants of generated code to try")
	flag.Uint64Var(&pick.seed, "seed", 1, "which ones, if not all")
	skip := flag.String("skip", "^$", "leave out tests that match this `pattern`, for a first look without the slow ones")
	write := flag.Bool("write", false, "write the table of "+manual)
	verbose := flag.Bool("v", false, "tell of each mutant who killed it")
	flag.Parse()
	if *write && (*file != "" || *skip != "^$") {
		return errors.New("-write wants whole packages and all of their tests")
	}
	skipped, err := regexp.Compile(*skip)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(manual)
	if err != nil {
		return fmt.Errorf("this runs at the root of the repository: %w", err)
	}
	dir, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	rep := report{excuses: readExcuses(string(text))}
	for i, s := range subjects() {
		if !strings.Contains(s.dir, *only) {
			continue
		}
		b, err := build(ctx, s, filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			return fmt.Errorf("%s: %w", s.dir, err)
		}
		sampled := pick.of(b.mutants)
		b.keep(func(m mutant) bool { return strings.Contains(m.file, *file) && pick.has(m) })
		if err := b.try(ctx, skipped, *verbose); err != nil {
			return fmt.Errorf("%s: %w", s.dir, err)
		}
		rep.add(s.dir, sampled, b.mutants)
	}
	fmt.Print(rep.table())
	if *write {
		if err := os.WriteFile(manual, []byte(rep.into(string(text))), 0o600); err != nil {
			return err
		}
	}
	return rep.complaint(*file == "" && pick.written == 100)
}
