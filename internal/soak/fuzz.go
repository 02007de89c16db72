package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
)

// fuzzTrials returns a trial for each fuzz target below root.
func fuzzTrials(root string) (trials []trial, err error) {
	target := regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
	repository := os.DirFS(root)
	err = fs.WalkDir(repository, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(repository, name)
		for _, m := range target.FindAllSubmatch(text, -1) {
			f := fuzzing{path.Dir(name), string(m[1])}
			trials = append(trials, trial{"fuzz " + f.dir + " " + f.target, f.run})
		}
		return err
	})
	if err == nil && len(trials) == 0 {
		err = errors.New("no fuzz targets: run this at the root of the repository")
	}
	return trials, err
}

type fuzzing struct{ dir, target string }

// executions returns how often to try. What decodes the text of strangers has
// the most, and is the fastest.
func (f fuzzing) executions(long bool) int {
	n := 2_000
	if f.dir == "events" || f.dir == "internal/json/jsonscan" {
		n = 50_000
	}
	if long {
		n *= 200
	}
	return n
}

func (f fuzzing) run(ctx context.Context, long bool) (result, error) {
	args := []string{"test", "-run=^$", "-fuzz=^" + f.target + "$", fmt.Sprintf("-fuzztime=%dx", f.executions(long)), "-fuzzminimizetime=100x", "."}
	test := exec.CommandContext(ctx, "go", args...) //nolint:gosec // a name in this repository
	test.Dir = f.dir
	out, err := test.CombinedOutput()
	if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) {
		return result{}, err
	}
	r := result{tried: executed(out) + " executions"}
	if err != nil {
		r.lost = []string{string(out)}
	}
	return r, nil
}

// executed returns how often go test says that it has tried.
func executed(out []byte) string {
	counts := regexp.MustCompile(`execs: (\d+)`).FindAllSubmatch(out, -1)
	if len(counts) == 0 {
		return "0"
	}
	n := counts[len(counts)-1][1]
	for i := len(n) - 3; i > 0; i -= 3 {
		n = bytes.Join([][]byte{n[:i], n[i:]}, []byte(","))
	}
	return string(n)
}
