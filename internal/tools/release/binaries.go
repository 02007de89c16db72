package main

import (
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// goreleaser makes the binaries, here and in the workflow, which names it too.
const goreleaser = "v2.18.2"

// binaries builds the binaries of the release with goreleaser, without publishing them, and checks each.
func (s *stage) binaries(ctx context.Context) error {
	origin := []string{"remote", "add", "origin", "https://" + root}
	if err := errors.Join(s.git(ctx, origin...), s.git(ctx, "checkout", "--quiet", s.next)); err != nil {
		return err
	}
	skip := "--skip=publish,announce"
	if _, err := exec.LookPath("syft"); err != nil {
		fmt.Println("MISSING: syft, needed for the lists of what is in the binaries (SBOM): they were not made")
		skip += ",sbom"
	}
	env := []string{"GORELEASER_CURRENT_TAG=" + s.next} // not s.alone: it asks git where the origin is
	args := []string{"run", "github.com/goreleaser/goreleaser/v2@" + goreleaser, "release", "--clean", "--parallelism=2", skip}
	if _, err := command(ctx, s.repo, env, "go", args...); err != nil {
		return err
	}
	for _, m := range published() {
		if m.command == "" {
			continue
		}
		if err := s.targets(ctx, m); err != nil {
			return err
		}
	}
	return packReleased(ctx, s.repo, s.next)
}

// targets are the systems that the binaries of a command are for.
func (s *stage) targets(ctx context.Context, m module) error {
	name := path.Base(m.command)
	files, err := filepath.Glob(filepath.Join(s.repo, "dist", name+"_*", name+"*"))
	if err != nil {
		return err
	}
	var got []string
	for _, f := range files {
		target, err := s.builtFor(f)
		if err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		if got = append(got, target); target == runtime.GOOS+"/"+runtime.GOARCH {
			if err := s.says(ctx, f); err != nil {
				return err
			}
		}
	}
	slices.Sort(got)
	want := []string{"darwin/amd64", "darwin/arm64", "linux/amd64", "linux/arm64", "windows/amd64", "windows/arm64"}
	if !slices.Equal(got, want) {
		return fmt.Errorf("%s is built for %q, want %q", name, got, want)
	}
	fmt.Println(name, "is built for", strings.Join(got, ", "))
	return nil
}

// builtFor reads what is in a binary of any system: of this release, from a
// clean checkout, without the paths of who built it.
func (s *stage) builtFor(file string) (target string, err error) {
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return "", err
	}
	built := map[string]string{}
	for _, setting := range info.Settings {
		built[setting.Key] = setting.Value
	}
	if info.Main.Version != s.next || built["vcs.modified"] != "false" || built["-trimpath"] != "true" || built["CGO_ENABLED"] != "0" {
		return "", fmt.Errorf("it is %s, built with %v", info.Main.Version, built)
	}
	return built["GOOS"] + "/" + built["GOARCH"], nil
}
