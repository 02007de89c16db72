package main

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"example.com/emailplatform/internal/tools/try"
)

// attributeObject is the type that the overlay of package client gives to attributes that are a JSON object. The
// final types.gen.go declares them as Attributes.
const attributeObject = "AttributeObject"

// handWritten contains the handwritten functions that write other types.
var handWritten = map[string]string{
	attributeObject:    "writeAttributes",
	unixTime:           "writeUnixTime",
	nullUnixTime:       "writeNullUnixTime",
	"ID":               "writeID",
	"Null[string]":     "writeNullString",
	"Nullable[string]": "writeNullable",
}

// encoder writes writers of JSON.
type encoder struct{ *generator }

// encode returns encode.gen.go of a package: methods that encode request bodies as JSON without reflection. Each type
// T of a body in requests.gen.go, and each type of its fields, has a method
//
//	func (v *T) write(w *jsonwrite.Writer)
//
// Its output equals the output of an encoder of encoding/json that does not escape HTML.
//
// A type consists of string, bool, int64, types in types.gen.go, string types in handwritten files and in package
// events, pointers, slices except of bool, handwritten slice types, and types in handWritten. A nil slice without
// omitzero is an error.
func encode(dir string) (src []byte, err error) {
	defer try.Catch(&err)
	const in, requests = "types.gen.go", "requests.gen.go"
	g := encoder{newGenerator(filepath.Join(dir, in))}
	g.findBodies(filepath.Join(dir, requests))
	g.writeNeeded(g.function)
	return g.source(in + " and " + requests), nil
}

// findBodies records the types of the parameters named body.
func (g encoder) findBodies(path string) {
	ast.Inspect(parse(path), func(n ast.Node) bool {
		if f, ok := n.(*ast.Field); ok && len(f.Names) == 1 && f.Names[0].Name == "body" {
			g.needs(types.ExprString(f.Type))
		}
		return true
	})
}

// function writes the method of the type called name.
func (g encoder) function(name string) {
	st, ok := g.types[name].(*ast.StructType)
	if !ok {
		try.Failf("%s: a request body and its parts must be structs", name)
	}
	g.printf("\nfunc (v *%s) write(w *jsonwrite.Writer) {\nw.Open('{')", name)
	for _, f := range g.fields(name, st) {
		v := "v." + f.name
		write := fmt.Sprintf("w.Name(`%s:`)\n%s", strconv.Quote(f.member), g.value(f.typ, v))
		if _, pointer := f.typ.(*ast.StarExpr); pointer && !f.omitzero {
			try.Failf("%s: the pointer %s must have the option omitzero", name, f.name)
		}
		if f.omitzero {
			write = fmt.Sprintf("if %s {\n%s\n}", g.present(f.typ, v), write)
		}
		g.printf("%s", write)
	}
	g.printf("w.Close('}')\n}")
}

// basic returns the method that writes the type called name and the argument type of the method, or "".
func (g encoder) basic(name string) (method, argument string) {
	if method := basicMethod(name); method != "" {
		return method, name
	}
	if g.isText(name) {
		return "String", "string"
	}
	if named, ok := g.types[name].(*ast.Ident); ok {
		return g.basic(named.Name)
	}
	return "", ""
}

// value returns the statement that writes v, an expression of type t.
func (g encoder) value(t ast.Expr, v string) string {
	name := types.ExprString(t)
	if write := handWritten[name]; write != "" {
		return write + "(w, " + v + ")"
	}
	switch method, argument := g.basic(name); {
	case argument == name:
		return fmt.Sprintf("w.%s(%s)", method, v)
	case argument != "":
		return fmt.Sprintf("w.%s(%s(%s))", method, argument, v)
	case g.types[name] != nil:
		g.needs(name)
		return v + ".write(w)"
	}
	switch t := t.(type) {
	case *ast.StarExpr:
		if _, argument := g.basic(types.ExprString(t.X)); argument != "" {
			v = "*" + v // only struct methods accept the pointer
		}
		return g.value(t.X, v)
	case *ast.ArrayType:
		return g.slice(types.ExprString(t.Elt), v)
	}
	try.Failf("no writer for %s", name)
	return ""
}

// slice returns the statement that writes v, a slice of the type called name.
func (g encoder) slice(name, v string) string {
	switch method, _ := g.basic(name); {
	case method == "String", method == "Int":
		return fmt.Sprintf("jsonwrite.%ss(w, %s)", method, v)
	case method == "" && g.types[name] != nil:
		g.needs(name)
		return fmt.Sprintf("jsonwrite.Slice(w, %s, (*%s).write)", v, name)
	}
	try.Failf("no writer for a slice of %s", name)
	return ""
}

// present returns the expression that reports whether v, of type t, is not zero.
func (g encoder) present(t ast.Expr, v string) string {
	name := types.ExprString(t)
	switch t.(type) {
	case *ast.StarExpr, *ast.ArrayType:
		return v + " != nil"
	case *ast.IndexExpr:
		return "!" + v + ".IsZero()"
	}
	switch method, _ := g.basic(name); {
	case name == attributeObject:
		return v + " != nil"
	case method == "String":
		return v + ` != ""`
	case method == "Int":
		return v + " != 0"
	case method == "Bool":
		return v
	}
	return fmt.Sprintf("%s != (%s{})", v, name)
}

// The types that the overlay of package events gives to Unix seconds. The final types.gen.go declares them as
// [time.Time].
const (
	unixTime     = "UnixTime"
	nullUnixTime = "Null[UnixTime]"
)

var unixTypes = regexp.MustCompile(`Null\[UnixTime\]|\bUnixTime\b`)

// writeUnixTimes writes times.gen.go and the readers of a package, and replaces the
// types of its times.
func writeUnixTimes(dir string) {
	write(filepath.Join(dir, "times.gen.go"), unixTimes(dir))
	write(filepath.Join(dir, "decode.gen.go"), try.Get(decode(dir, formats{})))
	replaceTypes(filepath.Join(dir, "types.gen.go"), unixTypes, "time.Time")
}

// replaceTypes replaces types that are only for the generator.
func replaceTypes(path string, pattern *regexp.Regexp, by string) {
	rewrite(path, func(src []byte) []byte { return comments(pattern.ReplaceAll(src, []byte(by))) })
}

// unixTimes returns times.gen.go of a package: MarshalJSON and UnmarshalJSON of all types
// with times in Unix seconds, because encoding/json writes a [time.Time] as text.
func unixTimes(dir string) []byte {
	const in = "types.gen.go"
	g := encoder{newGenerator(filepath.Join(dir, in))}
	isUnixTime := func(f field) bool { return unixTypes.MatchString(types.ExprString(f.typ)) }
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
	g.writeNeeded(g.function)
	return g.source(in)
}

// containing is the data type with two fields that have MarshalJSON. encoding/json would check and copy the result
// of both, which is 8 % slower than a writer.
const containing = "ContactRemoved"
