package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// compare has gorelease look at each module, and holds incompatible changes
// since the last release against what CHANGELOG.md says.
func (s *stage) compare(ctx context.Context) error {
	if err := s.asSeen(ctx); err != nil {
		return err
	}
	notes, err := s.notes()
	if err != nil {
		return err
	}
	for _, m := range published() {
		report, err := s.gorelease(ctx, m, s.last, s.next+"-rc") // it takes no version that is published
		if err != nil {
			return err
		}
		if err := told(report, notes); err != nil {
			return fmt.Errorf("%s: %w", m.path(), err)
		}
		fmt.Println("gorelease:", report[strings.LastIndex(report, "\n")+1:])
	}
	return nil
}

// asSeen commits the modules as their users see them: what go.mod or go.work
// replaces in a checkout is not replaced, and go.sum knows the release.
func (s *stage) asSeen(ctx context.Context) error {
	for _, m := range published()[1:] {
		dir := filepath.Join(s.repo, m.dir)
		if err := s.golang(ctx, dir, []string{"mod", "edit", "-dropreplace=" + root}, []string{"mod", "tidy"}); err != nil {
			return err
		}
	}
	return s.git(ctx, "commit", "--quiet", "--all", "--message", "As others see it")
}

func (s *stage) notes() (string, error) {
	text, err := os.ReadFile(filepath.Join(s.repo, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	return section(string(text), s.next)
}

// gorelease reports on the module in the copy as a version, beside the one of an earlier release, if there is one.
func (s *stage) gorelease(ctx context.Context, m module, base, version string) (string, error) {
	_, err := os.Stat(filepath.Join(s.dir, "published", filepath.FromSlash(m.path())+"@"+base))
	if base == "" || errors.Is(err, os.ErrNotExist) {
		base = "none"
	}
	program, err := tool(ctx, "gorelease")
	if err != nil {
		return "", err
	}
	return command(ctx, filepath.Join(s.repo, m.dir), s.user(), program, "-base="+base, "-version="+version)
}

// tool is where one of internal/tools/pins/release is.
func tool(ctx context.Context, name string) (string, error) {
	return command(ctx, ".", nil, "go", "tool", "-n", "-modfile="+filepath.Join("internal", "tools", "pins", "release", "go.mod"), name)
}

// told finds the incompatible changes of a report that the notes of the release do not name under the heading Breaking.
// Before v1 gorelease allows them; after it, it does not, whatever the notes say.
func told(report, notes string) (err error) {
	_, breaking, _ := strings.Cut("\n"+notes, "\n### Breaking\n")
	breaking, _, _ = strings.Cut(breaking, "\n### ")
	for _, change := range incompatible(report) {
		name, _, _ := strings.Cut(change, ":")
		if !named(bare(name)).MatchString(breaking) {
			err = errors.Join(err, fmt.Errorf("CHANGELOG.md does not name it under Breaking: %s", change))
		}
	}
	return err
}

// named finds a name, but neither a longer one nor a member of what it names: a type is not told by one of its fields.
func named(name string) *regexp.Regexp {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b(?:$|[^.]|\.(?:$|\W))`)
}

// incompatible are the lines of a report on such changes, behind their package.
func incompatible(report string) (changes []string) {
	var pkg string
	var within bool
	for line := range strings.SplitSeq(report, "\n") {
		switch {
		case strings.HasPrefix(line, "# "):
			pkg, within = line[strings.LastIndexAny(line, "/ ")+1:], false
		case strings.HasPrefix(line, "## "):
			within = line == "## incompatible changes"
		case within && line != "":
			changes = append(changes, pkg+"."+line)
		}
	}
	return changes
}

// bare is how a document names what a report names: client.Contacts.Find for client.(*Contacts).Find.
func bare(name string) string { return strings.NewReplacer("(*", "", "(", "", ")", "").Replace(name) }
