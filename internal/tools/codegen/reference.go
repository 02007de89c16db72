package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// reference is what docs/reference.md shows.
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
	Methods                     []string // of package client
	Parameters                  []row
	Body                        string
	Answers                     []string
	Errors                      string
}

// section is a schema with its members.
type section struct {
	Name, Description, Go string
	Members               []row
}

type problem struct{ Status, Description, Type string }

// referenceFile returns docs/reference.md.
func referenceFile(root string, doc *document) (map[string][]byte, error) {
	methods, err := clientMethods(filepath.Join(root, "client"))
	if err != nil {
		return nil, err
	}
	if err := everyOneCalled(doc.operations, methods); err != nil {
		return nil, err
	}
	names, err := goNames(root)
	if err != nil {
		return nil, err
	}
	w := writer{kinds: kinds{doc.root}, doc: doc, methods: methods, names: names}
	text, err := fill("reference.tmpl", reference{
		Tags:      w.tags(),
		Schemas:   w.sections("paths"),
		Errors:    w.problems(),
		Envelopes: []section{w.section("ComplianceEvent"), w.section("GeneralEvent")},
		Events:    w.events(),
		Parts:     w.sections("webhooks"),
	})
	text = regexp.MustCompile(`\n{3,}`).ReplaceAll(text, []byte("\n\n"))
	return map[string][]byte{"docs/reference.md": text}, errors.Join(err, checkLinks(string(text)))
}

// everyOneCalled names the operations that package client has no method for.
func everyOneCalled(operations []operation, methods map[string][]string) error {
	var errs []error
	for _, op := range operations {
		if len(methods[op.id]) == 0 {
			errs = append(errs, fmt.Errorf("package client: no exported method calls %sRequest: %s %s has none", op.id, op.method, op.path))
		}
	}
	return errors.Join(errs...)
}

// checkLinks refuses headings that the same link leads to, and links within the
// text that lead to none.
func checkLinks(text string) error {
	headings := map[string]string{}
	for line := range strings.Lines(text) {
		heading := strings.TrimSpace(strings.TrimLeft(line, "#"))
		if !strings.HasPrefix(line, "#") {
			continue
		}
		if other, ok := headings[anchor(heading)]; ok {
			return fmt.Errorf("docs/reference.md: #%s is %q and %q", anchor(heading), other, heading)
		}
		headings[anchor(heading)] = heading
	}
	for _, link := range strings.Split(text, "](#")[1:] {
		to, _, _ := strings.Cut(link, ")")
		if _, ok := headings[to]; !ok {
			return fmt.Errorf("docs/reference.md: no heading for #%s", to)
		}
	}
	return nil
}

// writer collects what the reference shows.
type writer struct {
	kinds
	doc     *document
	methods map[string][]string // of package client, by operation
	names   map[string]string   // of Go types, by schema
}

func (w writer) tags() (out []tagged) {
	for _, tag := range w.root.at("tags").items() {
		t := tagged{Name: tag.text("name"), Description: tag.text("description")}
		for _, op := range w.doc.operations {
			if of := w.root.at("paths", op.path, strings.ToLower(op.method)); slices.Contains(of.words("tags"), t.Name) {
				t.Endpoints = append(t.Endpoints, w.endpoint(op, of))
			}
		}
		if t.Endpoints != nil {
			out = append(out, t)
		}
	}
	return out
}

func (w writer) endpoint(op operation, of tree) endpoint {
	e := endpoint{
		Title:       code(op.method + " " + op.path),
		Summary:     cell(of.text("summary")),
		Description: strings.TrimSpace(of.text("description")),
		Repeatable:  op.repeatable,
		Deprecated:  of.text("deprecated") == "true",
		Methods:     w.methods[op.id],
	}
	for _, p := range append(w.root.at("paths", op.path, "parameters").items(), of.at("parameters").items()...) {
		p = p.resolve(w.root)
		e.Parameters = append(e.Parameters, row{
			Name: p.text("name"), In: p.text("in"), Kind: cell(w.kind(p.at("schema"))),
			Description: cell(p.text("description")), Optional: p.text("required") != "true",
		})
	}
	if body := of.at("requestBody", "content", "application/json", "schema"); body.Node != nil {
		e.Body = w.kind(body)
	}
	var refused []string
	for status, answer := range of.at("responses").all() {
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
		for status, answer := range w.root.at("paths", op.path, strings.ToLower(op.method), "responses").all() {
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

func (w writer) section(name string) section {
	t := w.root.at("components", "schemas", name)
	return section{name, strings.TrimSpace(t.text("description")), w.names[name], w.members(t)}
}

// sections returns the schemas with members that a part of the document reaches,
// in the document's order. Those that only webhooks reach are the second part; what
// stands in an event's own section is left out.
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

// reached returns the schemas that a part of the document refers to, directly or
// not. What webhooks deliver to an endpoint's caller counts as of the webhooks.
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

// goNames returns the types of the packages client and events that are made of
// schemas, by their names there.
func goNames(root string) (map[string]string, error) {
	out := map[string]string{}
	for _, name := range []string{"events", "client"} {
		renamed, err := renamedSchemas(name + ".overlay.yaml")
		if err != nil {
			return nil, err
		}
		g, err := newGenerator(filepath.Join(root, name, "types.gen.go"))
		if err != nil {
			return nil, err
		}
		for typ := range g.types {
			if schema, ok := renamed[typ]; ok {
				out[schema] = name + "." + typ
			} else if strings.ToUpper(typ[:1]) == typ[:1] {
				out[typ] = name + "." + typ
			}
		}
	}
	return out, nil
}
