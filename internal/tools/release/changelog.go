package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"example.com/emailplatform/internal/tools/try"
)

// prepare writes a version into the checkout in dir. The section Unreleased of CHANGELOG.md gets its heading, the
// modules require it of one another, and the client has it in its User-Agent.
func prepare(ctx context.Context, dir, next string) (err error) {
	defer try.Catch(&err)
	checkVersion(next)
	edit(filepath.Join(dir, "CHANGELOG.md"), func(text string) string { return try.Get(headed(text, next, time.Now())) })
	try.OK(nameInClient(filepath.Join(dir, "client", "config.go"), next))
	requireEverywhere(ctx, dir, next)
	return nil
}

// edit replaces the text of a file.
func edit(file string, change func(text string) string) {
	try.OK(os.WriteFile(file, []byte(change(string(try.Get(os.ReadFile(file))))), 0o600))
}

var clientVersion = regexp.MustCompile(`(?m)^const version = "[^"]*"$`)

func nameInClient(file, next string) (err error) {
	defer try.Catch(&err)
	edit(file, func(text string) string {
		if len(clientVersion.FindAllString(text, -1)) != 1 {
			try.Failf("%s: want one constant version", file)
		}
		return clientVersion.ReplaceAllLiteralString(text, `const version = "`+strings.TrimPrefix(next, "v")+`"`)
	})
	return nil
}

const unreleased = "## [Unreleased]\n"

// headed gives the section Unreleased the heading of a version.
func headed(changelog, next string, now time.Time) (string, error) {
	changelog = strings.ReplaceAll(changelog, "\r\n", "\n")
	if strings.Contains(changelog, heading(next)) {
		return "", fmt.Errorf("CHANGELOG.md already has %s", next)
	}
	before, after, ok := strings.Cut(changelog, unreleased)
	if !ok {
		return "", errors.New("CHANGELOG.md has no heading Unreleased")
	}
	return before + unreleased + "\n" + heading(next) + " - " + now.UTC().Format(time.DateOnly) + "\n" + after, nil
}

func heading(version string) string { return "## [" + strings.TrimPrefix(version, "v") + "]" }

// requireEverywhere changes the version that our modules require of one another.
func requireEverywhere(ctx context.Context, dir, next string) {
	path := command(ctx, dir, nil, "go", "list", "-m")
	own := regexp.MustCompile(`(?m)^(\s*(?:require )?` + regexp.QuoteMeta(path) + `(?:/\S+)?) v\S+`)
	for _, name := range goMods(ctx, dir) {
		edit(filepath.Join(dir, filepath.FromSlash(name)), func(text string) string { return own.ReplaceAllString(text, "${1} "+next) })
	}
}

// goMods returns the go.mod files of the checkout in dir.
func goMods(ctx context.Context, dir string) []string {
	return strings.Split(command(ctx, dir, nil, "git", "ls-files", "--cached", "--others", "--exclude-standard", "go.mod", "*/go.mod"), "\n")
}

// notes returns the section of a version in CHANGELOG.md of the checkout in dir.
func notes(dir, version string) string {
	return try.Get(section(string(try.Get(os.ReadFile(filepath.Join(dir, "CHANGELOG.md")))), version))
}

// section returns the section of a version in a changelog.
func section(changelog, version string) (string, error) {
	_, after, ok := strings.Cut(strings.ReplaceAll(changelog, "\r\n", "\n"), heading(version))
	if !ok {
		return "", fmt.Errorf("CHANGELOG.md has no section for %s", version)
	}
	_, after, _ = strings.Cut(after, "\n")
	text, _, _ := strings.Cut(after, "\n## ")
	if strings.TrimSpace(text) == "" {
		return "", fmt.Errorf("the section of %s in CHANGELOG.md is empty", version)
	}
	return strings.TrimSpace(text), nil
}

// compare runs gorelease for each module and checks that CHANGELOG.md names the incompatible changes since the last
// release.
func (s *stage) compare(ctx context.Context) {
	for _, m := range published()[1:] { // users see the modules without replaced modules and with the sums of the release
		dir := filepath.Join(s.repo, m.dir)
		s.golang(ctx, dir, "mod", "edit", "-dropreplace="+root)
		s.golang(ctx, dir, "mod", "tidy")
	}
	s.git(ctx, "commit", "--quiet", "--all", "--message", "As others see it")
	pins := filepath.Join("internal", "tools", "pins", "release", "go.mod")
	gorelease, changes := command(ctx, ".", nil, "go", "tool", "-n", "-modfile="+pins, "gorelease"), notes(s.repo, s.next)
	for _, m := range published() {
		base := s.last
		_, err := os.Stat(filepath.Join(s.dir, "published", filepath.FromSlash(m.path())+"@"+base))
		if base == "" || errors.Is(err, os.ErrNotExist) {
			base = "none"
		}
		// The version has a suffix, because gorelease rejects published versions.
		report := command(ctx, filepath.Join(s.repo, m.dir), s.user(), gorelease, "-base="+base, "-version="+s.next+"-rc")
		if err := unannounced(report, changes); err != nil {
			try.Failf("%s: %w", m.path(), err)
		}
		fmt.Println("gorelease:", report[strings.LastIndex(report, "\n")+1:])
	}
}

// unannounced returns an error for incompatible changes in a report that the notes do not name under the heading Breaking.
// gorelease allows incompatible changes only before v1.
func unannounced(report, notes string) (err error) {
	_, breaking, _ := strings.Cut("\n"+notes, "\n### Breaking\n")
	breaking, _, _ = strings.Cut(breaking, "\n### ")
	for _, change := range incompatible(report) {
		name, _, _ := strings.Cut(change, ":")
		name = strings.NewReplacer("(*", "", "(", "", ")", "").Replace(name)                     // the form in the documents, for example client.Contacts.Find
		pattern := regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b(?:$|[^.]|\.(?:$|\W))`) // does not match a longer name, a field or a method
		if !pattern.MatchString(breaking) {
			err = errors.Join(err, fmt.Errorf("CHANGELOG.md must name this change under Breaking: %s", change))
		}
	}
	return err
}

// incompatible returns the incompatible changes in a report, with their packages.
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
