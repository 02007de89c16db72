package main

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// path that the copy has.
const root = "github.com/acme/emailplatform"

// module is one that is published.
type module struct {
	dir     string   // its directory
	imports []string // packages of it that a program uses
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

// path of the module.
func (m module) path() string { return path.Join(root, m.dir) }

// tag of a version of the module.
func (m module) tag(version string) string { return path.Join(m.dir, version) }

// private reports whether the module in a directory serves this repository alone. Examples are to be read.
func private(dir string) bool {
	return slices.ContainsFunc([]string{"internal", "examples", "mockserver/console/e2e"}, func(p string) bool {
		return dir == p || strings.HasPrefix(dir, p+"/")
	})
}

// whole returns an error if a module is listed neither as published nor as private.
func (s *stage) whole() (err error) {
	known := published()
	for _, f := range s.files {
		dir := path.Dir(f)
		if path.Base(f) == "go.mod" && !private(dir) && !slices.ContainsFunc(known, func(m module) bool { return m.dir == dir }) {
			err = errors.Join(err, fmt.Errorf("%s is a module that is not in the list of internal/tools/release/modules.go", dir))
		}
	}
	return err
}
