package main

import (
	"go/ast"
	"go/format"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	shared, err := newGenerator(filepath.Join(dir, in))
	if err != nil {
		return nil, err
	}
	g := encoder{shared}
	for _, name := range slices.Sorted(maps.Keys(g.types)) {
		if st, ok := g.types[name].(*ast.StructType); ok && slices.ContainsFunc(g.fields(name, st), isUnixTime) {
			g.needs(name)
			g.printf(`
// MarshalJSON implements [json.Marshaler]. Times are Unix seconds.
func (v %[1]s) MarshalJSON() ([]byte, error) { return marshal(&v) }

// UnmarshalJSON implements [json.Unmarshaler].
func (v *%[1]s) UnmarshalJSON(b []byte) error { return unmarshal(b, v, read%[1]s) }`, name)
		}
	}
	if g.types[containing] != nil {
		g.needs(containing)
	}
	for i := 0; i < len(g.need); i++ { // need grows
		g.function(g.need[i])
	}
	return g.source(in, `import "example.com/emailplatform/internal/json/jsonwrite"`)
}

// containing is the data type with two fields that have MarshalJSON. encoding/json would
// check and copy the result of both, which takes 8 % longer than a writer.
const containing = "ContactRemoved"

func isUnixTime(f field) bool {
	name := types.ExprString(f.typ)
	return name == unixTime || name == nullUnixTime
}
