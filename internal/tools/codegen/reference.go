package main

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"example.com/emailplatform/internal/tools/markdown"
	"example.com/emailplatform/internal/tools/must"
)

// tagged is a tag with its endpoints.
type tagged struct {
	Name, Description string
	Endpoints         []endpoint
}

type endpoint struct {
	Title, Summary, Description string
	Repeatable, Deprecated      bool
	RejectUnknown               bool
	Methods                     []string // methods of package client
	Decision                    string
	Parameters                  []row
	Body                        string
	Responses, Errors           []string
}

// Own returns the parameters that only this endpoint documents.
func (e endpoint) Own() []row { return slices.DeleteFunc(slices.Clone(e.Parameters), row.Shared) }

// section is a schema with its fields. If the Go type of the schema has another name, the field Go contains this name.
type section struct {
	Name, Description, Go string
	Members               []row
}

// problem is an error, with the endpoints that return it.
type problem struct{ Status, Description, Type, Endpoints string }

// referenceFile returns docs/reference.md.
func referenceFile(root string, doc *document) map[string][]byte {
	methods := clientMethods(filepath.Join(root, "client"))
	must.OK(everyOneCalled(doc.operations, methods))
	w := writer{doc: doc, methods: methods, names: goNames()}
	text := regexp.MustCompile(`\n{3,}`).ReplaceAll(fill("reference.tmpl", w), []byte("\n\n"))
	text = regexp.MustCompile(`(?m)(?:^\|.*\n)+`).ReplaceAllFunc(text, withoutEmptyColumns)
	return map[string][]byte{"docs/reference.md": text}
}

// withoutEmptyColumns removes the columns of a table that have only a heading. If nearly all rows have the same
// decision, it replaces the column of decisions with a sentence before the table. A table of
// fields or parameters becomes a list.
func withoutEmptyColumns(table []byte) []byte {
	var rows [][]string
	used := map[int]bool{}
	for n, line := range strings.Split(strings.TrimSpace(string(table)), "\n") {
		row := strings.Split(strings.ReplaceAll(line, `\|`, "\x00"), "|")
		for i, c := range row {
			used[i] = used[i] || n > 1 && strings.TrimSpace(c) != ""
		}
		rows = append(rows, row)
	}
	var out strings.Builder
	if i := slices.Index(rows[0], " decision "); i > 0 && len(rows) > 4 {
		if text, exceptions := commonInColumn(rows[2:], i); text != "" {
			fmt.Fprintf(&out, "Decision%s: %s.\n\n", exceptions, text)
			used[i] = false
		}
	}
	if len(rows[0]) > 2 && rows[0][2] == " type " {
		for _, row := range rows[2:] {
			kind := strings.TrimSpace(row[2])
			if decision := strings.TrimSpace(row[3]); decision != "" && used[3] {
				kind += ", decision " + decision
			}
			out.WriteString(markdown.Item(strings.TrimSpace(row[1]), kind, strings.TrimSpace(row[4])))
		}
		return []byte(strings.ReplaceAll(out.String(), "\x00", "|"))
	}
	for _, row := range rows {
		for i, c := range row {
			if used[i] {
				out.WriteString("|" + c)
			}
		}
		out.WriteString("|\n")
	}
	return []byte(strings.ReplaceAll(out.String(), "\x00", `\|`))
}

// commonInColumn returns the only text in a column, and the names of the rows without it. The text is empty if the
// column has several texts, if more than two of its cells are empty, or if more than a third of them are empty.
func commonInColumn(rows [][]string, column int) (text, exceptions string) {
	var empty []string
	for _, row := range rows {
		switch cell := strings.TrimSpace(row[column]); {
		case cell == "":
			empty = append(empty, strings.TrimSuffix(strings.TrimSpace(row[1]), "?"))
		case text == "" || text == cell:
			text = cell
		default:
			return "", ""
		}
	}
	if len(empty) > 2 || 3*len(empty) > len(rows) {
		return "", ""
	}
	if len(empty) > 0 {
		exceptions = " (except " + strings.Join(empty, " and ") + ")"
	}
	return text, exceptions
}

// everyOneCalled returns an error that names the operations without a method in package client.
func everyOneCalled(operations []operation, methods map[string][]string) error {
	var errs []error
	for _, op := range operations {
		if len(methods[op.id]) == 0 {
			errs = append(errs, fmt.Errorf("package client: no exported method calls %sRequest: %s %s has none: write its comment in client.methods.yaml", op.id, op.method, op.path))
		}
	}
	return errors.Join(errs...)
}

// writer describes the document in Markdown. Its exported methods are called by the template.
type writer struct {
	doc     *document
	methods map[string][]string // methods of package client, by operation
	names   map[string]string   // Go types with other names, by schema
}

// Tags returns the tags that have endpoints.
func (w writer) Tags() (out []tagged) {
	for _, tag := range w.doc.Tags {
		t := tagged{Name: tag.Name, Description: tag.Description}
		for _, op := range w.doc.operations {
			if slices.Contains(op.Tags, t.Name) {
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
		Title:         code(op.method + " " + op.path),
		Summary:       cell(op.Summary),
		Description:   strings.TrimSpace(op.Description),
		Repeatable:    op.repeatable,
		Deprecated:    op.Deprecated,
		RejectUnknown: op.rejectUnknown(),
		Methods:       w.methods[op.id],
		Decision:      link(decision(op.Extensions)),
	}
	for _, p := range op.parameters {
		e.Parameters = append(e.Parameters, w.parameter(p))
	}
	body := op.body()
	if body != nil {
		e.Body = w.kind(body.Schema)
	}
	for status, response := range inOrder(op.Responses.Map()) {
		if status[0] != '2' {
			if !slices.ContainsFunc(kinds, func(k kind) bool { return k.matches(op) && w.implied(status, k) }) {
				e.Errors = append(e.Errors, status)
			}
			continue
		}
		for media, content := range response.Value.Content {
			if media == "application/json" {
				media = w.kind(content.Schema)
			}
			status += " " + media
		}
		e.Responses = append(e.Responses, status)
	}
	return e
}

// Parameters returns the parameters that one table documents for all endpoints.
func (w writer) Parameters() (rows []row) {
	for _, p := range inOrder(w.doc.Components.Parameters) {
		if r := w.parameter(p); r.Shared() {
			rows = append(rows, r)
		}
	}
	return rows
}

func (w writer) parameter(p *openapi3.ParameterRef) row {
	return row{
		Decision: link(cmp.Or(decision(p.Value.Extensions), decision(p.Extensions))),
		Name:     p.Value.Name, In: p.Value.In, Kind: cell(w.kind(p.Value.Schema)), Description: cell(p.Value.Description), Optional: !p.Value.Required,
	}
}

// kind is a set of endpoints, for example those with a body. If all endpoints of a kind return a status, only the table of
// errors shows this status.
type kind struct {
	name    string
	matches func(operation) bool
}

var kinds = []kind{
	{"all", func(op operation) bool { return op.RequestBody == nil }}, // no status is returned only without a body
	{"with a body", func(op operation) bool { return op.RequestBody != nil }},
	{"with an id in the path, and as listed", func(op operation) bool { return strings.Contains(op.path, "{") }},
}

// implied reports whether all endpoints of a kind return a status.
func (w writer) implied(status string, k kind) bool {
	return !slices.ContainsFunc(w.doc.operations, func(op operation) bool {
		return k.matches(op) && op.Responses.Value(status) == nil
	})
}

// Problems returns the errors that endpoints refer to, by their statuses.
func (w writer) Problems() (out []problem) {
	for _, op := range w.doc.operations {
		for status, response := range inOrder(op.Responses.Map()) {
			if status[0] == '2' || slices.ContainsFunc(out, func(p problem) bool { return p.Status == status }) {
				continue
			}
			p := problem{Status: status, Description: cell(*response.Value.Description), Endpoints: "as listed"}
			if i := slices.IndexFunc(kinds, func(k kind) bool { return w.implied(status, k) }); i >= 0 {
				p.Endpoints = kinds[i].name
			}
			example, _ := response.Value.Content["application/json"].Example.(map[string]any)
			details, _ := example["detail"].([]any)
			for _, detail := range details {
				p.Type, _ = detail.(map[string]any)["type"].(string)
			}
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b problem) int { return strings.Compare(a.Status, b.Status) })
	return out
}

// eventSection is an event, with the schemas of its data.
type eventSection struct {
	Name, Summary, Description, Envelope string
	Shapes                               []section
}

// shapesRow is a field with its type in each shape. Some fields that are in only one shape stand in a list instead of
// the table (see rowsOf). The row of such a field has the name of this shape in Only, and one type in Kinds.
type shapesRow struct {
	Name, Description, Decision string
	Kinds                       []string
	Only                        string
}

// Events returns the events with the schemas of their data.
func (w writer) Events() (out []eventSection) {
	for _, e := range w.doc.events {
		section := eventSection{
			Name: e.Name, Summary: cell(e.Delivery.Summary), Description: cell(e.Delivery.Description), Envelope: "ComplianceEvent",
		}
		if e.General {
			section.Envelope = "GeneralEvent"
		}
		if strings.EqualFold(section.Description, "Fires when "+section.Summary+".") {
			section.Description = ""
		}
		for _, s := range e.Shapes {
			data := w.section(s.Name)
			data.Description = strings.TrimPrefix(cell(data.Description), "The data of "+e.Name+" ")
			section.Shapes = append(section.Shapes, data)
		}
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
				rows = append(rows, shapesRow{m.Name, m.Description, m.Decision, slices.Repeat([]string{"–"}, len(shapes)), ""})
			}
			rows[at].Decision = cmp.Or(rows[at].Decision, m.Decision)
			switch known := rows[at].Description; {
			case strings.Contains(m.Description, known):
				rows[at].Description = m.Description
			case !strings.Contains(known, m.Description):
				rows[at].Description += " " + m.Description
			}
			rows[at].Kinds[i] = m.Kind
			if m.Optional {
				rows[at].Kinds[i] += "?"
			}
		}
	}
	for i, s := range shapes {
		var own []*shapesRow
		for at, row := range rows {
			others := strings.Count(strings.Join(row.Kinds, ""), "–")
			if others == len(shapes)-1 && row.Kinds[i] != "–" && row.Description != "" && row.Decision == "" {
				own = append(own, &rows[at])
			}
		}
		for _, row := range own {
			if len(own) > 3 { // a list is shorter than rows with dashes
				row.Only, row.Kinds = s.Name, row.Kinds[i:i+1]
			}
		}
	}
	return rows
}

// Table returns a table with one schema.
func (w writer) Table(name string) []section { return []section{w.section(name)} }

func (w writer) section(name string) section {
	of := w.doc.schema(name)
	s := section{name, strings.TrimSpace(of.Description), w.names[name], w.members(of)}
	if slices.ContainsFunc(w.Tags(), func(t tagged) bool { return strings.TrimSpace(t.Description) == s.Description }) {
		s.Description = "" // the section of the endpoints contains it
	}
	for i, m := range s.Members {
		if strings.HasPrefix(m.Kind, "[") { // a link to the schema with this description
			m.Description = ""
		}
		m.Kind = strings.ReplaceAll(m.Kind, codes(w.doc.eventNames()), "[event](#events-webhook-payloads)")
		m.Description = brief(m.Description, name+m.Name)
		s.Members[i] = m
	}
	return s
}

// Tables returns the schemas of endpoints or of events, in document order. Similar schemas are in the same table.
func (w writer) Tables(events bool) (out [][]section) {
	for name, t := range inOrder(w.doc.Components.Schemas) {
		base := home(name)
		at := slices.IndexFunc(out, func(table []section) bool { return home(table[0].Name) == base })
		switch {
		case t.Value.Properties == nil, w.hasOwnPlace(name), events != (w.doc.schema(base).Extensions["x-events"] == true):
		case at < 0:
			out = append(out, w.Table(name))
		default:
			out[at] = append(out[at], w.section(name))
		}
	}
	return out
}

// hasOwnPlace reports whether a schema is a page, an envelope, or the data of an event.
func (w writer) hasOwnPlace(name string) bool {
	return regexp.MustCompile(`Page$|^(Pagination|ComplianceEvent|GeneralEvent)$`).MatchString(name) || slices.ContainsFunc(w.doc.events, func(e event) bool {
		return slices.ContainsFunc(e.Shapes, func(s shape) bool { return s.Name == name })
	})
}

// goNames returns the Go types of schemas with other names.
func goNames() map[string]string {
	names := map[string]string{
		"Problem": "`client.Error`", "ProblemDetail": "`client.ErrorDetail`",
		"CampaignSchedule": "an argument of `Campaigns.Schedule`",
	}
	renamed := regexp.MustCompile(`schemas\.(\w+)\n +update: \{x-go-name: ([A-Z]\w*)`)
	for _, pkg := range []string{"events", "client"} {
		for _, m := range renamed.FindAllStringSubmatch(string(must.Get(os.ReadFile(pkg+".overlay.yaml"))), -1) {
			names[m[1]] = code(pkg + "." + m[2])
		}
	}
	return names
}

// clientMethods returns, for each operation, the exported methods of package client that send its requests, directly
// or through other methods of the same service. A name is Service.Method.
func clientMethods(dir string) map[string][]string {
	var methods []string
	calls := map[string][]string{} // by method: operations and other methods of the service
	for _, file := range parseFiles(dir, "types.gen.go", "requests.gen.go", "encode.gen.go", "decode.gen.go") {
		for _, decl := range file.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv != nil {
				service := strings.TrimPrefix(types.ExprString(fn.Recv.List[0].Type), "*") + "."
				methods = append(methods, service+fn.Name.Name)
				calls[service+fn.Name.Name] = callsIn(fn, service)
			}
		}
	}
	out := map[string][]string{}
	for _, name := range methods {
		reached := []string{name}
		for i := 0; i < len(reached); i++ { // reached grows
			for _, call := range calls[reached[i]] {
				if !slices.Contains(reached, call) {
					reached = append(reached, call)
				}
			}
		}
		if _, method, _ := strings.Cut(name, "."); ast.IsExported(method) {
			for _, op := range reached {
				out[op] = append(out[op], name)
			}
		}
	}
	return out
}

// callsIn returns the operations whose requests a method builds, and the methods of its service that it uses.
func callsIn(fn *ast.FuncDecl, service string) (names []string) {
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if op, ok := strings.CutSuffix(types.ExprString(n.Fun), "Request"); ok {
				names = append(names, op)
			}
		case *ast.SelectorExpr:
			if receiver := fn.Recv.List[0].Names; len(receiver) == 1 && receiver[0].Name == types.ExprString(n.X) {
				names = append(names, service+n.Sel.Name)
			}
		}
		return true
	})
	return names
}
