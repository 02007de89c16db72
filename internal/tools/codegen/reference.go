package main

import (
	"errors"
	"fmt"
	"go/ast"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"example.com/emailplatform/internal/tools/try"
)

// reference is the content of docs/reference.md.
type reference struct {
	Tags                      []tagged
	Schemas, Envelopes, Parts []section
	Errors                    []problem
	Events                    []eventSection
}

// tagged is a tag with its endpoints.
type tagged struct {
	Name, Description string
	Endpoints         []endpoint
}

type endpoint struct {
	Title, Summary, Description string
	Repeatable, Deprecated      bool
	Methods                     []string // methods of package client
	Parameters                  []row
	Body                        string
	Answers                     []string
	Errors                      string
}

// section is a schema with its fields.
type section struct {
	Name, Description, Go string
	Members               []row
}

type problem struct{ Status, Description, Type string }

// referenceFile returns docs/reference.md.
func referenceFile(root string, doc *document) map[string][]byte {
	methods := clientMethods(filepath.Join(root, "client"))
	try.OK(everyOneCalled(doc.operations, methods))
	w := writer{kinds: kinds{doc.root}, doc: doc, methods: methods, names: goNames(root)}
	text := fill("reference.tmpl", reference{
		Tags:      w.tags(),
		Schemas:   w.sections("paths"),
		Errors:    w.problems(),
		Envelopes: []section{w.section("ComplianceEvent"), w.section("GeneralEvent")},
		Events:    w.events(),
		Parts:     w.sections("webhooks"),
	})
	text = regexp.MustCompile(`\n{3,}`).ReplaceAll(text, []byte("\n\n"))
	return map[string][]byte{"docs/reference.md": text}
}

// everyOneCalled returns an error that names the operations without a method in package client.
func everyOneCalled(operations []operation, methods map[string][]string) error {
	var errs []error
	for _, op := range operations {
		if len(methods[op.id]) == 0 {
			errs = append(errs, fmt.Errorf("package client: no exported method calls %sRequest: %s %s has none", op.id, op.method, op.path))
		}
	}
	return errors.Join(errs...)
}

// writer collects the content of the reference.
type writer struct {
	kinds
	doc     *document
	methods map[string][]string // methods of package client, by operation
	names   map[string]string   // Go types, by schema
}

func (w writer) tags() (out []tagged) {
	for _, tag := range w.root.at("tags").items() {
		t := tagged{Name: tag.text("name"), Description: tag.text("description")}
		for _, op := range w.doc.operations {
			if slices.Contains(op.words("tags"), t.Name) {
				t.Endpoints = append(t.Endpoints, w.endpoint(op))
			}
		}
		if t.Endpoints != nil {
			out = append(out, t)
		}
	}
	return out
}

func (w writer) endpoint(op operation) endpoint {
	e := endpoint{
		Title:       code(op.method + " " + op.path),
		Summary:     cell(op.text("summary")),
		Description: strings.TrimSpace(op.text("description")),
		Repeatable:  op.repeatable,
		Deprecated:  op.text("deprecated") == "true",
		Methods:     w.methods[op.id],
	}
	for _, p := range op.parameters {
		e.Parameters = append(e.Parameters, row{
			Name: p.text("name"), In: p.text("in"), Kind: cell(w.kind(p.at("schema"))),
			Description: cell(p.text("description")), Optional: p.text("required") != "true",
		})
	}
	if body := op.at("requestBody", "content", "application/json", "schema"); body.Node != nil {
		e.Body = w.kind(body)
	}
	var refused []string
	for status, answer := range op.at("responses").all() {
		if status[0] != '2' {
			refused = append(refused, status)
			continue
		}
		e.Answers = append(e.Answers, w.answer(status, answer))
	}
	e.Errors = strings.Join(refused, " ")
	return e
}

func (w writer) answer(status string, answer tree) string {
	answer = answer.resolve(w.root)
	for media, content := range answer.at("content").all() {
		kind := w.kind(content.at("schema"))
		if media != "application/json" {
			kind = media
		}
		return status + ", " + kind + ". " + cell(answer.text("description"))
	}
	return status + ". " + cell(answer.text("description"))
}

// problems returns the errors that endpoints refer to, by their statuses.
func (w writer) problems() (out []problem) {
	seen := map[string]bool{}
	for _, op := range w.doc.operations {
		for status, answer := range op.at("responses").all() {
			if seen[status] || status[0] == '2' {
				continue
			}
			seen[status] = true
			answer = answer.resolve(w.root)
			details := answer.at("content", "application/json", "example", "detail").items()
			p := problem{Status: status, Description: cell(answer.text("description"))}
			if len(details) > 0 {
				p.Type = details[0].text("type")
			}
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b problem) int { return strings.Compare(a.Status, b.Status) })
	return out
}

// eventSection is an event. Rows has a line for each field of its shapes.
type eventSection struct {
	Name, Summary, Description, Envelope string
	Types                                []string // Go types
	Shapes                               []section
	Rows                                 []shapesRow
}

// shapesRow is a field with its type in each shape.
type shapesRow struct {
	Name, Description string
	Kinds             []string
}

func (w writer) events() (out []eventSection) {
	for _, e := range w.doc.events {
		of := w.root.at("webhooks", e.Name, "post")
		envelope := "ComplianceEvent"
		if e.General {
			envelope = "GeneralEvent"
		}
		section := eventSection{
			Name:        e.Name,
			Summary:     cell(of.text("summary")),
			Description: strings.TrimSpace(of.text("description")),
			Envelope:    fmt.Sprintf("[%s](#%s)", envelope, anchor(envelope)),
		}
		for _, s := range e.Shapes {
			data := w.section(s.Name)
			data.Description = cell(data.Description)
			section.Types = append(section.Types, data.Go)
			section.Shapes = append(section.Shapes, data)
		}
		section.Rows = rowsOf(section.Shapes)
		out = append(out, section)
	}
	return out
}

// rowsOf combines the fields of shapes into rows.
func rowsOf(shapes []section) (rows []shapesRow) {
	for i, s := range shapes {
		for _, m := range s.Members {
			at := slices.IndexFunc(rows, func(r shapesRow) bool { return r.Name == m.Name })
			if at < 0 {
				at = len(rows)
				rows = append(rows, shapesRow{m.Name, m.Description, slices.Repeat([]string{"no"}, len(shapes))})
			}
			if !strings.Contains(rows[at].Description, m.Description) {
				rows[at].Description += " " + m.Description
			}
			rows[at].Kinds[i] = m.Kind
			if m.Optional {
				rows[at].Kinds[i] += ", optional"
			}
		}
	}
	return rows
}

func (w writer) section(name string) section {
	t := w.root.at("components", "schemas", name)
	return section{name, strings.TrimSpace(t.text("description")), w.names[name], w.members(t)}
}

// sections returns the schemas with properties that a part of the document refers to, in document order. For
// webhooks, it omits schemas of paths and schemas in the section of an event.
func (w writer) sections(part string) (out []section) {
	shown, inEvents := w.reached("paths"), w.reached("webhooks")
	for name, t := range w.root.at("components", "schemas").all() {
		switch {
		case t.at("properties").Node == nil, part == "paths" && !shown[name]:
		case part == "webhooks" && (shown[name] || !inEvents[name] || w.hasOwnPlace(name)):
		default:
			out = append(out, w.section(name))
		}
	}
	return out
}

// hasOwnPlace reports whether a schema is an envelope, or the data of an event.
func (w writer) hasOwnPlace(name string) bool {
	return name == "ComplianceEvent" || name == "GeneralEvent" || slices.ContainsFunc(w.doc.events, func(e event) bool {
		return slices.ContainsFunc(e.Shapes, func(s shape) bool { return s.Name == name })
	})
}

// reached returns the schemas that a part of the document refers to, directly or indirectly. It ignores callbacks,
// because they belong to the webhooks.
func (w writer) reached(part string) map[string]bool {
	found := map[string]bool{}
	var walk func(t tree)
	walk = func(t tree) {
		if ref := t.text("$ref"); ref != "" {
			if name := t.schemaNamed(); name == "" || !found[name] {
				found[name] = true
				walk(t.resolve(w.root))
			}
			return
		}
		for name, member := range t.all() {
			if name != "callbacks" {
				walk(member)
			}
		}
		for _, item := range t.items() {
			walk(item)
		}
	}
	walk(w.root.at(part))
	return found
}

// goNames returns the Go types of the packages client and events by the names of their schemas.
func goNames(root string) map[string]string {
	out := map[string]string{}
	for _, name := range []string{"events", "client"} {
		renamed := renamedSchemas(name + ".overlay.yaml")
		for typ := range newGenerator(filepath.Join(root, name, "types.gen.go")).types {
			if schema, ok := renamed[typ]; ok {
				out[schema] = name + "." + typ
			} else if strings.ToUpper(typ[:1]) == typ[:1] {
				out[typ] = name + "." + typ
			}
		}
	}
	return out
}

// renamedSchemas returns the schemas that an overlay renames, by their Go names.
func renamedSchemas(path string) map[string]string {
	var overlay struct {
		Actions []struct {
			Target string `yaml:"target"`
			Update struct {
				Name string `yaml:"x-go-name"`
			} `yaml:"update"`
		} `yaml:"actions"`
	}
	readYAML(path, &overlay)
	out := map[string]string{}
	for _, action := range overlay.Actions {
		if name, ok := strings.CutPrefix(action.Target, "$.components.schemas."); ok && action.Update.Name != "" && !strings.Contains(name, ".") {
			out[action.Update.Name] = name
		}
	}
	return out
}

// clientMethods returns the exported methods of package client that send requests
// for an operation, directly or through other methods of the same service. The
// result maps each operation to names such as Service.Method.
func clientMethods(dir string) map[string][]string {
	var order []string
	methods := map[string]*ast.FuncDecl{}
	for _, file := range parseFiles(dir, ".gen.go") {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv != nil {
				name := receiver(fn) + "." + fn.Name.Name
				order, methods[name] = append(order, name), fn
			}
		}
	}
	out := map[string][]string{}
	for _, name := range order {
		if !methods[name].Name.IsExported() {
			continue
		}
		found := map[string]bool{}
		for fn := range reached(methods, name) {
			maps.Copy(found, requestsIn(fn))
		}
		for op := range found {
			out[op] = append(out[op], name)
		}
	}
	return out
}

// reached returns a method and the methods of the same service that it calls,
// directly or indirectly.
func reached(methods map[string]*ast.FuncDecl, name string) map[*ast.FuncDecl]bool {
	found := map[*ast.FuncDecl]bool{}
	var walk func(name string)
	walk = func(name string) {
		fn := methods[name]
		if fn == nil || found[fn] {
			return
		}
		found[fn] = true
		ast.Inspect(fn, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && isReceiver(fn, s.X) {
				walk(receiver(fn) + "." + s.Sel.Name)
			}
			return true
		})
	}
	walk(name)
	return found
}

// isReceiver reports whether an expression is the receiver of a method.
func isReceiver(fn *ast.FuncDecl, x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	names := fn.Recv.List[0].Names
	return ok && len(names) == 1 && id.Name == names[0].Name
}

// requestsIn returns the operations of the requests that a function builds.
func requestsIn(fn *ast.FuncDecl) map[string]bool {
	found := map[string]bool{}
	ast.Inspect(fn, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			if id, ok := call.Fun.(*ast.Ident); ok && strings.HasSuffix(id.Name, "Request") {
				found[strings.TrimSuffix(id.Name, "Request")] = true
			}
		}
		return true
	})
	return found
}

func receiver(fn *ast.FuncDecl) string {
	t := fn.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	id, _ := t.(*ast.Ident)
	if id == nil {
		return ""
	}
	return id.Name
}
