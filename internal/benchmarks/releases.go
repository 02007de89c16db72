package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
)

// compareReleases measures with each release of Go, the last one all comparisons
// and the others those in which encoding/json decides, and prints how the targets
// stand.
func compareReleases(ctx context.Context, releases []string, s settings) error {
	dir, err := os.MkdirTemp("", "peers")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var all []outcome
	for i, release := range releases {
		s.decoders = i < len(releases)-1
		o, err := runRelease(ctx, dir, release, s)
		if err != nil {
			return fmt.Errorf("%s: %w", release, err)
		}
		all = append(all, o)
	}
	fmt.Println(summary(all))
	if s.write {
		return write(document, all)
	}
	return nil
}

// runRelease builds this program with a release, and lets that measure.
func runRelease(ctx context.Context, dir, release string, s settings) (outcome, error) {
	program, results := filepath.Join(dir, release+".exe"), filepath.Join(dir, release+".json")
	env := append(os.Environ(), "GOTOOLCHAIN="+release)
	build := exec.CommandContext(ctx, "go", "build", "-o", program, ".") //nolint:gosec // in a folder of our own
	build.Env, build.Stderr = env, os.Stderr
	if err := build.Run(); err != nil {
		return outcome{}, err
	}
	var text bytes.Buffer
	run := exec.CommandContext(ctx, program, "-results", results, //nolint:gosec // what was just built
		"-rounds", strconv.Itoa(s.rounds), "-only", s.only, "-decoders="+strconv.FormatBool(s.decoders))
	run.Env, run.Stdout, run.Stderr = env, io.MultiWriter(os.Stdout, &text), os.Stderr
	if err := run.Run(); err != nil {
		return outcome{}, err
	}
	targets, err := readTargets(results)
	return outcome{release, text.String(), targets}, err
}
