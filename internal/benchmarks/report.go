package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// target is what was to be reached, and what was, in how many runs.
type target struct {
	What, Got, Want string
	Met, Runs       int
}

// count counts a run.
func (t *target) count(met bool) {
	t.Runs++
	if met {
		t.Met++
	}
}

// met tells whether enough runs met the target: of five, four; of one, that one.
func (t target) met() bool { return t.Runs > 0 && t.Met*runs >= t.Runs*most }

func (t target) verdict() string {
	word := "MISSED"
	if t.met() {
		word = "met"
	}
	return fmt.Sprintf("%s %s %d/%d", t.Want, word, t.Met, t.Runs)
}

// report is what a run measured: the tables go to w, the targets are kept.
type report struct {
	io.Writer
	Targets []target
}

// save keeps the targets for the run that started this one.
func (r *report) save(path string) error {
	data, err := json.Marshal(r.Targets)
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o600)
}

func readTargets(path string) (all []target, err error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return all, json.Unmarshal(data, &all)
}

// atMost notes a target that the number of each run has not to exceed, and
// returns how it went.
func (r *report) atMost(what, format string, want float64, got ...float64) string {
	t := target{What: what, Got: fmt.Sprintf(format, slices.Min(got)), Want: "≤ " + fmt.Sprintf(format, want)}
	for _, n := range got {
		t.count(n <= want)
	}
	r.Targets = append(r.Targets, t)
	return fmt.Sprintf("%s (%s)", t.Got, t.verdict())
}

// outcome is what one release of Go came to.
type outcome struct {
	release string
	text    string // all tables
	targets []target
}

// summary is the table of all targets, a column for each release, in Markdown.
func summary(all []outcome) string {
	var b strings.Builder
	b.WriteString("| target |")
	for _, o := range all {
		fmt.Fprintf(&b, " %s |", o.release)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(all)) + "\n")
	for _, what := range whats(all) {
		fmt.Fprintf(&b, "| %s |", what)
		for _, o := range all {
			fmt.Fprintf(&b, " %s |", cell(o.targets, what))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// whats returns what there are targets for, in the order in which they were measured.
func whats(all []outcome) (names []string) {
	for _, o := range all {
		for _, t := range o.targets {
			if !slices.Contains(names, t.What) {
				names = append(names, t.What)
			}
		}
	}
	return names
}

func cell(targets []target, what string) string {
	i := slices.IndexFunc(targets, func(t target) bool { return t.What == what })
	if i < 0 {
		return ""
	}
	t := targets[i]
	text := fmt.Sprintf("%s, %s: %d/%d", t.Got, t.Want, t.Met, t.Runs)
	if !t.met() {
		return "**" + text + ", missed**"
	}
	return text
}

// document is where -write puts what was measured.
const document = "../../docs/performance.md"

// write puts the summary and the tables between their marks in the document.
func write(path string, all []outcome) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var tables strings.Builder
	for _, o := range all {
		fmt.Fprintf(&tables, "### %s\n\n```text\n%s\n```\n\n", o.release, strings.TrimSpace(o.text))
	}
	out := string(text)
	for _, part := range []struct{ name, text string }{{"targets", summary(all)}, {"tables", strings.TrimSpace(tables.String()) + "\n"}} {
		if out, err = between(out, part.name, part.text); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return os.WriteFile(path, []byte(out), 0o600)
}

// between replaces what is between the marks of a part.
func between(text, name, part string) (string, error) {
	begin, end := fmt.Sprintf("<!-- %s: written by internal/benchmarks -write -->\n", name), fmt.Sprintf("<!-- end of %s -->", name)
	before, rest, ok := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("no part %q", name)
	}
	return before + begin + part + end + after, nil
}
