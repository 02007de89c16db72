package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// code has something of everything that is mutated, and of what is not.
const code = `package small

const limit = 2 * 5

type set map[string]int

func grade(n int, known bool) string {
	switch {
	case n < 0, !known:
		return "none"
	case n >= limit && known:
		return "high"
	}
	return "low"
}

func (s set) sum(names []string, factor float64) (total int) {
	for i := 0; i < len(names); i++ {
		if names[i] == "" {
			continue
		}
		if names[i] == "end" {
			break
		}
		total += s[names[i]] << 1
	}
	s["calls"]++
	return -total * int(factor) % 100
}

func text(a, b string) string { return a + b }

func never(a, b, c bool) bool { return a || b || c }
`

const tests = `package small

import "testing"

func TestGrade(t *testing.T) {
	for n, want := range map[int]string{-1: "none", 0: "low", 9: "low", 10: "high"} {
		if got := grade(n, true); got != want {
			t.Errorf("%d is %s", n, got)
		}
	}
	if got := grade(5, false); got != "none" {
		t.Error(got)
	}
}

func TestSum(t *testing.T) {
	s := set{"a": 1, "b": 2, "c": 70}
	if got := s.sum([]string{"a", "", "b", "end", "c"}, 3); got != -18 || s["calls"] != 1 || text("a", "b") != "ab" {
		t.Error(got)
	}
	if got := s.sum([]string{"c"}, 3); got != -20 {
		t.Error(got)
	}
}
`

// TestWhole finds, builds and judges all mutants of a small package.
func TestWhole(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{
		"go.mod": "module example.com/module\n\ngo 1.26.0\n", "small/code.go": code, "small/code_test.go": tests,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b, err := build(t.Context(), subject{"small", []string{"small"}}, filepath.Join(dir, "out"))
	if err != nil {
		t.Fatal(err)
	}
	if err := b.try(t.Context(), regexp.MustCompile("^$"), false); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range b.mutants {
		fate := map[fate]string{survived: "survived", unreached: "unreached", killed: "killed", endless: "killed"}[m.fate]
		got = append(got, fmt.Sprintf("%s: %s → %s %s", m.function, m.old, m.new, fate))
	}
	want := strings.Split(strings.TrimSpace(wanted), "\n")
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), wanted)
	}
}

const wanted = `
grade: n < 0 → n >= 0 killed
grade: n < 0 → n <= 0 killed
grade: known → !known killed
grade: n >= limit && known → known killed
grade: n >= limit → n < limit killed
grade: n >= limit → n > limit killed
grade: n >= limit && known → n >= limit unreached
grade: known → !known killed
set.sum: i < len(names) → i >= len(names) killed
set.sum: i < len(names) → i <= len(names) killed
set.sum: i++ → i-- killed
set.sum: names[i] == "" → names[i] != "" killed
set.sum: continue → break killed
set.sum: names[i] == "end" → names[i] != "end" killed
set.sum: break → continue killed
set.sum: total += s[names[i]] << 1 → total -= s[names[i]] << 1 killed
set.sum: s[names[i]] << 1 → s[names[i]] >> 1 killed
set.sum: s["calls"]++ → s["calls"]-- killed
set.sum: -total * int(factor) % 100 → -total * int(factor) * 100 killed
set.sum: -total * int(factor) → -total / int(factor) killed
set.sum: -total → total killed
never: a || b || c → c unreached
never: a || b → b unreached
never: a → !a unreached
never: a || b → a unreached
never: b → !b unreached
never: a || b || c → a || b unreached
never: c → !c unreached
`

// A report is wrong when too few are killed, when a survivor is not named, and when
// one is named that is killed.
func TestComplaint(t *testing.T) {
	excused := mutant{file: "small/code.go", function: "set.sum", old: "a[`x`] < b", new: "a[`x`] <= b"}
	unknown := mutant{file: "small/code.go", function: "grade", old: "a", new: "!a", fate: unreached}
	dead := mutant{fate: killed}
	text := "# Survivors\n\n- " + excused.key() + ": the same either way\n- not one\n" + tableStart + tableEnd
	for _, row := range []struct {
		name    string
		mutants []mutant
		want    string
	}{
		{"all is well", append(slices.Repeat([]mutant{dead}, 19), excused), ""},
		{"too few", append(slices.Repeat([]mutant{dead}, 18), excused), "small: 94.7 % killed, want 95 %"},
		{"one without a reason", append(slices.Repeat([]mutant{dead}, 99), excused, unknown), "survives without a reason"},
		{"a reason that nobody needs", []mutant{dead}, "excuses what is killed"},
	} {
		r := report{excuses: readExcuses(text)}
		r.add("small", "all", row.mutants)
		got := ""
		if err := r.complaint(true); err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, row.want) || (got == "") != (row.want == "") || strings.Contains(got, "\n") {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

// The table keeps the rows of the packages that were not run.
func TestInto(t *testing.T) {
	text := "before\n" + tableStart + head + "| `events` | old |\n| `webhook` | old |\n" + tableEnd + "after\n"
	r := report{}
	r.add("events", "all", []mutant{{fate: killed}, {fate: endless}, {}, {fate: unreached}})
	want := "before\n" + tableStart + head + "| `events` | 4 | 2 | 1 | 2 | 50.0 % | all |\n| `webhook` | old |\n" + tableEnd + "after\n"
	if got := r.into(text); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A sample is about as large as asked for.
func TestSample(t *testing.T) {
	n, generated := 0, 0
	s, all := sample{written: 30, generated: 10, seed: 1}, sample{written: 100, generated: 100}
	for i := range 1000 {
		m := mutant{file: "a/b.go", old: fmt.Sprint(i)}
		if s.has(m) {
			n++
		}
		if !all.has(m) {
			t.Fatal("all are not all")
		}
		if m.file = "a/b.gen.go"; s.has(m) {
			generated++
		}
	}
	written := []mutant{{file: "a/b.go"}}
	both := append(written, mutant{file: "a/b.gen.go"})
	for _, got := range [][2]string{
		{all.of(both), "all"},
		{s.of(written), "30 %, seed 1"},
		{s.of(both), "30 %, of generated code 10 %, seed 1"},
		{sample{written: 100, generated: 20, seed: 1}.of(written), "all"},
	} {
		if got[0] != got[1] {
			t.Errorf("got %q, want %q", got[0], got[1])
		}
	}
	if n < 250 || n > 350 || generated < 70 || generated > 130 {
		t.Errorf("%d and %d of 1000, want 30 and 10 %%", n, generated)
	}
}
