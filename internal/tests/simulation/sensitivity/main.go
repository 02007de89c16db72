// Command sensitivity makes deliberate mistakes in the code, one after the other, and
// tells whether the simulation notices, and after how many seeds:
//
//	go run ./internal/tests/simulation/sensitivity             # at the root of the repository
//	go run ./internal/tests/simulation/sensitivity -only lock  # those whose names hold a text
//
// Nothing in the tree changes: the broken file is laid over the real one while the
// test is built. It fails if a mistake is not noticed, or does not fit the code any
// more.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"text/tabwriter"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "sensitivity:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	only := flag.String("only", "", "make only the mistakes whose names hold this `text`")
	seeds := flag.Int("seeds", 5000, "how many seeds to try for each")
	flag.Parse()
	dir, err := os.MkdirTemp("", "sensitivity")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "mistake\tnoticed by\tseeds\ttime")
	missed := 0
	for _, b := range breaks() {
		if !strings.Contains(b.name, *only) {
			continue
		}
		began := time.Now()
		by, tried, err := b.notice(ctx, dir, *seeds)
		if err != nil {
			by = "NOBODY: " + err.Error()
			missed++
		}
		took := time.Since(began).Round(time.Second)
		fmt.Fprintf(os.Stderr, "%s: %s (%s, %v)\n", b.name, by, tried, took)
		fmt.Fprintf(table, "%s\t%s\t%s\t%v\n", b.name, by, tried, took)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if missed > 0 {
		return fmt.Errorf("%d mistakes are not noticed", missed)
	}
	return nil
}

// notice makes the mistake, and returns who noticed it and after how many seeds.
func (b broken) notice(ctx context.Context, dir string, seeds int) (by, tried string, err error) {
	overlay, err := b.overlay(dir)
	if err != nil {
		return "", "", err
	}
	pkg, test, args := b.pkg, b.test, []string{}
	if test == "" {
		pkg, test = "./internal/tests/simulation", "^TestSeeds$"
		args = []string{fmt.Sprintf("-seeds=%d", seeds), "-shrink=false"}
	}
	program := filepath.Join(dir, "broken.test.exe")                                               // what Windows needs hurts nobody else
	build := exec.CommandContext(ctx, "go", "test", "-c", "-overlay", overlay, "-o", program, pkg) //nolint:gosec // constants of this program
	if out, err := build.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("it does not compile: %s", out)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute) // a broken run may hang
	defer cancel()
	cmd := exec.CommandContext(ctx, program, append([]string{"-test.run=" + test, "-test.v", "-test.failfast"}, args...)...) //nolint:gosec // the program built above
	cmd.Dir = pkg
	out, err := cmd.CombinedOutput()
	var failed *exec.ExitError
	switch {
	case err == nil:
		return "", fmt.Sprint(seeds), errors.New("all tests pass")
	case !errors.As(err, &failed) || ctx.Err() != nil:
		return "", "", err
	case b.test != "":
		first := regexp.MustCompile(`--- FAIL: (\S+)`).FindSubmatch(out)
		if first == nil {
			return pkg + ", which crashes", "–", nil
		}
		return fmt.Sprintf("%s of %s", first[1], pkg), "–", nil
	}
	found := regexp.MustCompile(`seed (\d+): ([^:]+):`).FindSubmatch(out)
	if found == nil {
		return "a crash", "", nil
	}
	return string(found[2]), string(found[1]), nil
}

// overlay writes the broken files, and what tells the go command about them.
func (b broken) overlay(dir string) (string, error) {
	replace := map[string]string{}
	for e := &b; e != nil; e = e.too {
		path, err := filepath.Abs(e.file)
		if err != nil {
			return "", err
		}
		text, err := os.ReadFile(cmp.Or(replace[path], path))
		if err != nil {
			return "", err
		}
		if n := strings.Count(string(text), e.old); n != 1 {
			return "", fmt.Errorf("%s holds what is to be broken %d times, want once", e.file, n)
		}
		replace[path] = filepath.Join(dir, fmt.Sprintf("broken%d.go", len(replace)))
		if err := os.WriteFile(replace[path], []byte(strings.Replace(string(text), e.old, e.new, 1)), 0o600); err != nil {
			return "", err
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, overlay, 0o600)
}
