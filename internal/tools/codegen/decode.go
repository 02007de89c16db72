package main

import (
	"bytes"
	"go/ast"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"example.com/emailplatform/internal/tools/try"
)

// decoder writes readers of JSON.
type decoder struct {
	*generator

	named   map[string]bool // types with readers that handwritten code uses
	formats *formats        // alternative formats; nil means only the declared format
}

// decode returns decode.gen.go of a package: functions that decode the types in
// types.gen.go from JSON, in one pass and without reflection. They use a cursor of
// package jsonscan. For each type T, there is a function
//
//	func readT(c *jsonscan.Cursor) T
//
// It returns the same value as json.Unmarshal into a new T, with the exceptions in
// the documentation of jsonscan. It skips unknown fields. decode writes only
// functions that the package's other files use, and functions for the types of
// their fields.
//
// With formats, the types can come from another platform. jsonscan.Optional then
// reads each field with omitzero in its tag, and ignores a value of another type. A
// type can be in an envelope, unless it has a field with the same name or is
// always a part of another type. A field that is absent can have an alias, and
// an absent required field is an error of the cursor. If the required field is a list,
// which may be empty, readErrorField(c, name) reads the fields detail and error.
//
// The functions for elements of lists expect the fields in the order of openapi.yaml. To
// compare the next name with the expected name is faster than to read any name.
//
// The type of a field can be string, bool, int64, [json.RawMessage], a type in
// types.gen.go (a struct with json tags, or a named type of any of these), a string
// type in the handwritten files or in package events, and pointers to and slices of
// these. For every other type, the package must declare a
// function: readID for ID, readTime for [time.Time], and for a
// generic type N[T]
//
//	func readN[T any](c *jsonscan.Cursor, read func(*jsonscan.Cursor) T) N[T]
func decode(dir string, formats *formats) (src []byte, err error) {
	defer try.Catch(&err)
	const in, out = "types.gen.go", "decode.gen.go"
	g := &decoder{generator: newGenerator(filepath.Join(dir, in)), named: map[string]bool{}, formats: formats}
	g.findCalls(dir, in, out)
	for i := 0; i < len(g.need); i++ { // need grows
		g.function(g.need[i])
	}
	g.checkFormats()
	return g.source(in, g.imports()), nil
}

// imports returns the import declaration of the generated code.
func (g *decoder) imports() string {
	uses := func(s string) bool { return bytes.Contains(g.out.Bytes(), []byte(s)) }
	const module = "example.com/emailplatform/"
	paths := []string{strconv.Quote(module + "internal/json/jsonscan")}
	if uses("events.") {
		paths = slices.Insert(paths, 0, strconv.Quote(module+"events"))
	}
	var standard []string
	for _, name := range []string{"cmp", "time"} {
		if uses(name + ".") {
			standard = append(standard, strconv.Quote(name))
		}
	}
	if len(standard)+len(paths) == 1 {
		return "import " + paths[0]
	}
	return "import (\n" + strings.Join(standard, "\n") + "\n\n" + strings.Join(paths, "\n") + "\n)"
}

// checkFormats panics if formats contains a type without a reader, or does
// not contain the required field of a complete response.
func (g *decoder) checkFormats() {
	if g.formats == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(g.formats.Schemas)) {
		if !g.seen[name] {
			try.Failf("x-responses: type %s has no reader", name)
		}
	}
	for _, name := range g.need {
		if g.named[name] && g.formats.of(name).Promised == "" {
			try.Failf("x-responses: %s must have a required field", name)
		}
	}
}

// findCalls records the types with readers that other files of the package use.
func (g *decoder) findCalls(dir, in, out string) {
	for _, file := range parseFiles(dir, in, out) {
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && strings.HasPrefix(id.Name, "read") {
				g.needs(strings.TrimPrefix(id.Name, "read"))
				g.named[strings.TrimPrefix(id.Name, "read")] = true
			}
			return true
		})
	}
}

// function writes the reader of the type called name.
func (g *decoder) function(name string) {
	st, ok := g.types[name].(*ast.StructType)
	if !ok {
		g.printf("\nfunc read%s(c *jsonscan.Cursor) %[1]s { return %[1]s(%s) }", name, g.value(g.types[name]))
		return
	}
	r := reader{decoder: g, fields: g.fields(name, st), spelling: g.formats.of(name)}
	r.check(name)
	g.printf("\nfunc read%s(c *jsonscan.Cursor) (v %[1]s) {", name)
	r.declare()
	g.printf("for %s {\nswitch name {", r.loop(g.named[name]))
	hints := r.sort(name)
	for i, f := range r.fields {
		g.printf("case %q:\nv.%s = %s", f.member, f.name, r.read(f.member, f))
		if hints && i+1 < len(r.fields) {
			g.printf("if !c.Is(`,%q:`) {\ncontinue\n}\nfallthrough", r.fields[i+1].member)
		}
	}
	r.readAliases()
	r.readRefusals()
	g.printf("default:\nc.Skip()\n}\n}")
	r.finish()
	g.printf("return v\n}")
}

// cursorMethod returns the method of the cursor that reads a type, or "".
func cursorMethod(name string) string {
	return map[string]string{"string": "String", "bool": "Bool", "int64": "Int", "json.RawMessage": "Raw"}[name]
}

// value returns the expression that reads a value of type t.
func (g *decoder) value(t ast.Expr) string {
	name := types.ExprString(t)
	if method := cursorMethod(name); method != "" {
		return "c." + method + "()"
	}
	if name == nullUnixTime {
		return "readUnixTime(c)"
	}
	if g.isText(name) {
		return "jsonscan.Text[" + name + "](c)"
	}
	switch t := t.(type) {
	case *ast.StarExpr:
		return "jsonscan.Pointer(c, " + g.reader(t.X) + ")"
	case *ast.ArrayType:
		return "jsonscan.Slice(c, " + g.reader(t.Elt) + ")"
	case *ast.IndexExpr:
		return "read" + types.ExprString(t.X) + "(c, " + g.reader(t.Index) + ")"
	case *ast.Ident, *ast.SelectorExpr:
		return g.reader(t) + "(c)"
	}
	try.Failf("no reader for %s", name)
	return ""
}

// reader returns the function that reads a value of type t.
func (g *decoder) reader(t ast.Expr) string {
	name := types.ExprString(t)
	if method := cursorMethod(name); method != "" {
		return "(*jsonscan.Cursor)." + method
	}
	if g.isText(name) {
		return "jsonscan.Text[" + name + "]"
	}
	switch t := t.(type) {
	case *ast.Ident:
		g.needs(t.Name)
		return "read" + t.Name
	case *ast.SelectorExpr: // type of another package
		return "read" + t.Sel.Name
	}
	return "func(c *jsonscan.Cursor) " + name + " { return " + g.value(t) + " }"
}
