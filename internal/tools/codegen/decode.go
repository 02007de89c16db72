package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// decoder writes readers of JSON.
type decoder struct {
	*generator

	named   map[string]bool // types whose readers hand-written code names
	formats *formats        // how they may be spelled; nil is as they are declared
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
func decode(dir string, formats *formats) ([]byte, error) {
	const in, out = "types.gen.go", "decode.gen.go"
	shared, err := newGenerator(filepath.Join(dir, in))
	if err != nil {
		return nil, err
	}
	g := &decoder{generator: shared, named: map[string]bool{}, formats: formats}
	if err := g.findCalls(dir, in, out); err != nil {
		return nil, err
	}
	for i := 0; i < len(g.need); i++ { // need grows
		g.function(g.need[i])
	}
	g.checkFormats()
	return g.source(in, g.imports())
}

// imports returns the import declaration of what was written.
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

// checkFormats returns an error if formats contains a type without a reader, or does
// not contain the required field of a complete response.
func (g *decoder) checkFormats() {
	if g.formats == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(g.formats.Schemas)) {
		if !g.seen[name] {
			g.fail("x-responses: nothing reads a %s", name)
		}
	}
	for _, name := range g.need {
		if g.named[name] && g.formats.of(name).Promised == "" {
			g.fail("x-responses: which member does a %s promise?", name)
		}
	}
}

// findCalls notes the types whose readers the hand-written files of the package name.
func (g *decoder) findCalls(dir, in, out string) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	for _, name := range names {
		if base := filepath.Base(name); base == in || base == out || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && strings.HasPrefix(id.Name, "read") {
				g.needs(strings.TrimPrefix(id.Name, "read"))
				g.named[strings.TrimPrefix(id.Name, "read")] = true
			}
			return true
		})
	}
	return nil
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
	hints := r.sort(g.formats.orderOf(name))
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

// basic returns the method of the cursor that reads a type, or "".
func basic(name string) string {
	switch name {
	case "string":
		return "String"
	case "bool":
		return "Bool"
	case "int64":
		return "Int"
	case "json.RawMessage":
		return "Raw"
	}
	return ""
}

// value returns the expression that reads a t.
func (g *decoder) value(t ast.Expr) string {
	name := types.ExprString(t)
	if method := basic(name); method != "" {
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
	g.fail("no reader for %s", name)
	return ""
}

// reader returns the function that reads a t.
func (g *decoder) reader(t ast.Expr) string {
	name := types.ExprString(t)
	if method := basic(name); method != "" {
		return "(*jsonscan.Cursor)." + method
	}
	if g.isText(name) {
		return "jsonscan.Text[" + name + "]"
	}
	switch t := t.(type) {
	case *ast.Ident:
		g.needs(t.Name)
		return "read" + t.Name
	case *ast.SelectorExpr: // of another package
		return "read" + t.Sel.Name
	}
	return "func(c *jsonscan.Cursor) " + name + " { return " + g.value(t) + " }"
}
