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
	answers *answers        // how they may be spelled; nil is as they are declared
}

// decode returns decode.gen.go of a package: the functions that read the types of
// types.gen.go from JSON, in one pass and without reflection, with a cursor of
// package jsonscan. For each type T that is needed, that is a function
//
//	func readT(c *jsonscan.Cursor) T
//
// which agrees with json.Unmarshal into a new T, but for what the documentation
// of jsonscan names. Members that T does not know are skipped. Needed are the
// types whose readers the package's other files name, and the types that their
// fields have; nothing else is written.
//
// If there are answers, the types are what another platform may have answered. A
// member whose tag says omitzero is then read by jsonscan.Optional: a value of
// another kind is as good as none. A type may stand in the envelope, unless it
// has such a member itself or is only ever a part of others. Members go by their
// aliases as well, where they are not there by their own name, and without the
// promised one the cursor has a mistake. Where that is a list, which may be empty,
// the members detail and error are read by readErrorField(c, name).
//
// The readers of elements of lists expect the members in the order of openapi.yaml and
// compare the next name with the expected one, which is faster than to read any name.
//
// Fields may be of type string, bool, int64, [json.RawMessage], a type of
// types.gen.go (a struct with json tags, or a named type of any of these), a string
// type of the hand-written files or of package events, and pointers to and slices of
// these. For every other type the package declares the
// reader itself: readID for ID, readTime for [time.Time], and
// for a generic type N[T]
//
//	func readN[T any](c *jsonscan.Cursor, read func(*jsonscan.Cursor) T) N[T]
func decode(dir string, answers *answers) ([]byte, error) {
	const in, out = "types.gen.go", "decode.gen.go"
	shared, err := newGenerator(filepath.Join(dir, in))
	if err != nil {
		return nil, err
	}
	g := &decoder{generator: shared, named: map[string]bool{}, answers: answers}
	if err := g.findCalls(dir, in, out); err != nil {
		return nil, err
	}
	for i := 0; i < len(g.need); i++ { // need grows
		g.function(g.need[i])
	}
	g.checkAnswers()
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

// checkAnswers fails if the answers name a type that nothing reads, or do not say
// what one promises that is a whole answer.
func (g *decoder) checkAnswers() {
	if g.answers == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(g.answers.Schemas)) {
		if !g.seen[name] {
			g.fail("x-responses: nothing reads a %s", name)
		}
	}
	for _, name := range g.need {
		if g.named[name] && g.answers.of(name).Promised == "" {
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
	r := reader{decoder: g, fields: g.fields(name, st), spelling: g.answers.of(name)}
	r.check(name)
	g.printf("\nfunc read%s(c *jsonscan.Cursor) (v %[1]s) {", name)
	r.declare()
	g.printf("for %s {\nswitch name {", r.loop(g.named[name]))
	hints := r.sort(g.answers.orderOf(name))
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
