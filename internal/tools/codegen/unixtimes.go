package main

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The types that the overlay of package events gives to times that are Unix seconds in
// JSON. types.gen.go declares them as [time.Time] in the end.
const (
	unixTime     = "UnixTime"
	nullUnixTime = "Null[UnixTime]"
)

var unixTypes = regexp.MustCompile(`Null\[UnixTime\]|\bUnixTime\b`)

// writeUnixTimes writes times.gen.go and the readers of a package, and replaces the
// types of its times.
func writeUnixTimes(dir string) error {
	src, err := unixTimes(dir)
	if err != nil {
		return err
	}
	if err := write(filepath.Join(dir, "times.gen.go"), src); err != nil {
		return err
	}
	if err := writeReaders(dir, nil); err != nil {
		return err
	}
	return replaceTypes(filepath.Join(dir, "types.gen.go"), unixTypes, "time.Time")
}

// replaceTypes replaces types that are only for the generator.
func replaceTypes(path string, pattern *regexp.Regexp, by string) error {
	src, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	src, err = format.Source(comments(pattern.ReplaceAll(src, []byte(by))))
	if err != nil {
		return err
	}
	return write(path, src)
}

// unixTimes returns times.gen.go of a package: MarshalJSON and UnmarshalJSON of all types
// with times in Unix seconds, because encoding/json writes a [time.Time] as text.
func unixTimes(dir string) ([]byte, error) {
	const in = "types.gen.go"
	g, err := newGenerator(filepath.Join(dir, in))
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(g.types)) {
		if st, ok := g.types[name].(*ast.StructType); ok {
			g.unixTimes(name, st)
		}
	}
	return g.source(in, `import "encoding/json"`)
}

// unixTimes writes the methods of the type called name, if it has such times.
func (g *generator) unixTimes(name string, st *ast.StructType) {
	var times, values strings.Builder
	for _, f := range g.fields(name, st) {
		switch types.ExprString(f.typ) {
		case unixTime:
			fmt.Fprintf(&times, "%s int64 `json:%q`\n", f.name, f.member)
			fmt.Fprintf(&values, "unixSeconds(v.%s), ", f.name)
		case nullUnixTime:
			fmt.Fprintf(&times, "%s Null[int64] `json:%q`\n", f.name, f.member)
			fmt.Fprintf(&values, "nullUnixSeconds(v.%s), ", f.name)
		}
	}
	if times.Len() == 0 {
		return
	}
	g.printf(`
// MarshalJSON implements [json.Marshaler]. Times are Unix seconds.
func (v %[1]s) MarshalJSON() ([]byte, error) {
	type others %[1]s
	return json.Marshal(struct{
		%[2]sothers
	}{%[3]sothers(v)})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (v *%[1]s) UnmarshalJSON(b []byte) error { return unmarshal(b, v, read%[1]s) }`, name, times.String(), values.String())
}
