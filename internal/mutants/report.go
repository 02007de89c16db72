package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// manual is where the table stands, and the survivors with their reasons.
const manual = "docs/mutation.md"

const tableStart, tableEnd = "<!-- table -->\n", "<!-- /table -->"

// report is what came of the packages.
type report struct {
	excuses map[string]bool // keys of the survivors that are named
	rows    []row
}

type row struct {
	dir, sample string
	mutants     []mutant
}

// readExcuses returns the survivors that the manual names.
func readExcuses(text string) map[string]bool {
	excuses := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^- (`[^`]+` \\S+: `.+` → `.+?`): .").FindAllStringSubmatch(text, -1) {
		excuses[m[1]] = true
	}
	return excuses
}

func (r *report) add(dir, sample string, mutants []mutant) {
	r.rows = append(r.rows, row{dir, sample, mutants})
}

func (r row) count(fates ...fate) (n int) {
	for _, m := range r.mutants {
		if slices.Contains(fates, m.fate) {
			n++
		}
	}
	return n
}

// percent is how many of the mutants are killed.
func (r row) percent() float64 {
	return 100 * float64(r.count(killed, endless)) / float64(max(1, len(r.mutants)))
}

func (r row) String() string {
	return fmt.Sprintf("| `%s` | %d | %d | %d | %d | %.1f %% | %s |\n", r.dir, len(r.mutants), r.count(killed, endless),
		r.count(endless), r.count(survived, unreached), r.percent(), r.sample)
}

const head = "| package | mutants | killed | of these by not ending | survived | share | sample |\n|---|--:|--:|--:|--:|--:|---|\n"

func (r *report) table() string {
	var text strings.Builder
	text.WriteString(head)
	for _, row := range r.rows {
		text.WriteString(row.String())
	}
	return text.String()
}

// into writes the rows into the table of the manual. Packages that did not run keep
// theirs.
func (r *report) into(text string) string {
	before, rest, _ := strings.Cut(text, tableStart)
	old, after, ok := strings.Cut(rest, tableEnd)
	if !ok {
		return text
	}
	var table strings.Builder
	table.WriteString(head)
	for _, s := range subjects() {
		start := "| `" + s.dir + "` |"
		for line := range strings.Lines(old) {
			if strings.HasPrefix(line, start) && !slices.ContainsFunc(r.rows, func(r row) bool { return r.dir == s.dir }) {
				table.WriteString(line)
			}
		}
		for _, row := range r.rows {
			if row.dir == s.dir {
				table.WriteString(row.String())
			}
		}
	}
	return before + tableStart + table.String() + tableEnd + after
}

// complaint says what is not as it should be. An excuse that nobody needs is wrong
// only if all mutants were tried.
func (r *report) complaint(all bool) error {
	var errs []error
	for _, row := range r.rows {
		if row.percent() < share {
			errs = append(errs, fmt.Errorf("%s: %.1f %% killed, want %d %%", row.dir, row.percent(), share))
		}
		alive := map[string]bool{}
		for _, m := range row.mutants {
			if m.fate != survived && m.fate != unreached {
				continue
			}
			alive[m.key()] = true
			if !r.excuses[m.key()] {
				errs = append(errs, fmt.Errorf("%s:%d: survives without a reason in %s: %s", m.file, m.line, manual, m.key()))
			}
		}
		for key := range r.excuses {
			if all && strings.HasPrefix(key, "`"+row.dir+"/") && !alive[key] && !strings.Contains(key, ".gen.go`") {
				errs = append(errs, fmt.Errorf("%s excuses what is killed, or is no mutant: %s", manual, key))
			}
		}
	}
	return errors.Join(errs...)
}
