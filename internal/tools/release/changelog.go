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
)

// prepare writes a version into the checkout in dir: what CHANGELOG.md has as unreleased gets its heading, our modules
// require it of one another, and the client names it in its User-Agent.
func prepare(ctx context.Context, dir, next string) error {
	if !version.MatchString(next) {
		return fmt.Errorf("%q is not a version like v0.2.0", next)
	}
	name := filepath.Join(dir, "CHANGELOG.md")
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	released, err := headed(string(text), next, time.Now())
	if err != nil {
		return err
	}
	if err := os.WriteFile(name, []byte(released), 0o600); err != nil {
		return err
	}
	if err := nameInClient(filepath.Join(dir, "client", "config.go"), next); err != nil {
		return err
	}
	return requireEverywhere(ctx, dir, next)
}

var clientVersion = regexp.MustCompile(`(?m)^const version = "[^"]*"$`)

func nameInClient(file, next string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if len(clientVersion.FindAll(text, -1)) != 1 {
		return fmt.Errorf("%s: want one constant version", file)
	}
	named := clientVersion.ReplaceAllLiteral(text, fmt.Appendf(nil, `const version = "%s"`, strings.TrimPrefix(next, "v")))
	return os.WriteFile(file, named, 0o600)
}

const unreleased = "## [Unreleased]\n"

// headed gives what is unreleased the heading of a version.
func headed(changelog, next string, now time.Time) (string, error) {
	changelog = strings.ReplaceAll(changelog, "\r\n", "\n")
	if strings.Contains(changelog, heading(next)) {
		return "", fmt.Errorf("CHANGELOG.md has %s already", next)
	}
	before, after, ok := strings.Cut(changelog, unreleased)
	if !ok {
		return "", errors.New("CHANGELOG.md has no heading Unreleased")
	}
	return before + unreleased + "\n" + heading(next) + " - " + now.UTC().Format(time.DateOnly) + "\n" + after, nil
}

func heading(version string) string { return "## [" + strings.TrimPrefix(version, "v") + "]" }

// requireEverywhere changes the version that our modules require of one another.
func requireEverywhere(ctx context.Context, dir, next string) error {
	path, err := command(ctx, dir, nil, "go", "list", "-m")
	if err != nil {
		return err
	}
	ours := regexp.MustCompile(`(?m)^(\s*(?:require )?` + regexp.QuoteMeta(path) + `(?:/\S+)?) v\S+`)
	names, err := command(ctx, dir, nil, "git", "ls-files", "--cached", "--others", "--exclude-standard", "go.mod", "*/go.mod")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(names, "\n") {
		name = filepath.Join(dir, filepath.FromSlash(name))
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, ours.ReplaceAll(text, []byte("${1} "+next)), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// section is what CHANGELOG.md says of a version.
func section(changelog, version string) (string, error) {
	_, after, ok := strings.Cut(strings.ReplaceAll(changelog, "\r\n", "\n"), heading(version))
	if !ok {
		return "", fmt.Errorf("CHANGELOG.md does not have %s", version)
	}
	_, after, _ = strings.Cut(after, "\n")
	text, _, _ := strings.Cut(after, "\n## ")
	if strings.TrimSpace(text) == "" {
		return "", fmt.Errorf("CHANGELOG.md says nothing of %s", version)
	}
	return strings.TrimSpace(text), nil
}

func printNotes(version string) error {
	text, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return err
	}
	notes, err := section(string(text), version)
	if err != nil {
		return err
	}
	fmt.Println(notes)
	return nil
}
