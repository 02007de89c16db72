package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"example.com/emailplatform/internal/tools/try"
)

// root is the module path of the copy.
const root = "github.com/acme/emailplatform"

// module is a published module.
type module struct {
	dir     string   // its directory
	imports []string // packages that a program imports
	command string   // the package of its command, if it has one
}

// published returns the published modules in the order of their releases.
func published() []module {
	return []module{
		{dir: ".", imports: []string{"client", "events", "webhook"}, command: "mockserver/cmd/mockserver"},
		{dir: "mcp", imports: []string{"."}, command: "cmd/emailplatform-mcp"},
		{dir: "contrib/redisstore", imports: []string{"."}},
		{dir: "contrib/pgstore", imports: []string{".", "sqlonce"}},
		{dir: "contrib/riverjobs", imports: []string{"."}},
		{dir: "contrib/emailotel", imports: []string{"."}},
	}
}

// commands returns the published modules that have a command.
func commands() []module {
	return slices.DeleteFunc(published(), func(m module) bool { return m.command == "" })
}

// path returns the path of the module.
func (m module) path() string { return path.Join(root, m.dir) }

// tag returns the tag of a version of the module.
func (m module) tag(version string) string { return path.Join(m.dir, version) }

// unlisted returns an error if the module of a go.mod is listed neither as published nor as private.
func unlisted(goMods []string) (err error) {
	known := published()
	private := []string{"internal", "examples", "mockserver/console/e2e"} // only this repository uses them
	for _, f := range goMods {
		dir := path.Dir(f)
		own := slices.ContainsFunc(private, func(p string) bool { return dir == p || strings.HasPrefix(dir, p+"/") })
		if !own && !slices.ContainsFunc(known, func(m module) bool { return m.dir == dir }) {
			err = errors.Join(err, fmt.Errorf("%s is a module that is not in the list of internal/tools/release/modules.go", dir))
		}
	}
	return err
}

// push tags the commit of the checkout in dir as a version of all modules, and pushes the tags to origin one at a time,
// because GitHub starts no workflow for more than three tags that are pushed together. The tag of the root starts the
// workflow, which requires the other tags, so it comes last. After a failure the same call continues.
func push(ctx context.Context, dir, next string) (err error) {
	defer try.Catch(&err)
	checkVersion(next)
	if changes := command(ctx, dir, nil, "git", "status", "--porcelain"); changes != "" {
		return fmt.Errorf("the checkout has changes that are not committed:\n%s", changes)
	}
	try.OK(required(ctx, dir, next))
	modules, there := published(), tags(ctx, dir)
	for _, m := range modules {
		if tag := m.tag(next); !slices.Contains(there, tag) {
			command(ctx, dir, nil, "git", "tag", "--annotate", "--message", next, tag)
		}
	}
	for _, m := range slices.Concat(modules[1:], modules[:1]) {
		command(ctx, dir, nil, "git", "push", "origin", "refs/tags/"+m.tag(next))
		fmt.Println("pushed", m.tag(next))
	}
	return nil
}

// tags returns the tags of the commit of the checkout in dir.
func tags(ctx context.Context, dir string) []string {
	return strings.Split(command(ctx, dir, nil, "git", "tag", "--points-at", "HEAD"), "\n")
}

// tagged checks that the commit of the checkout in dir has the tags of a version for all modules.
func tagged(ctx context.Context, dir, version string) {
	err, there := required(ctx, dir, version), tags(ctx, dir)
	for _, m := range published() {
		if !slices.Contains(there, m.tag(version)) {
			err = errors.Join(err, fmt.Errorf("the commit has no tag %s", m.tag(version)))
		}
	}
	try.OK(err)
}

// required returns an error unless all other modules require a version of the root.
func required(ctx context.Context, dir, version string) (err error) {
	path := command(ctx, dir, nil, "go", "list", "-m")
	for _, m := range published()[1:] {
		text := try.Get(os.ReadFile(filepath.Join(dir, m.dir, "go.mod")))
		if !strings.Contains(string(text), path+" "+version+"\n") {
			err = errors.Join(err, fmt.Errorf("%s does not require %s of the root: go run ./internal/tools/release -prepare %s", m.dir, version, version))
		}
	}
	return err
}
