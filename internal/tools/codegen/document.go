package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"
)

// document is openapi.yaml with its operations and events, in document order.
type document struct {
	root       tree
	operations []operation
	events     []event
}

// operation is an endpoint.
type operation struct {
	tree
	id, method, path string
	repeatable       bool
	parameters       []tree // including the parameters of its path
}

// Func is the name of the unexported method that implements the operation.
func (op operation) Func() string { return op.id }

// Method is the name of the operation in the generated interface.
func (op operation) Method() string { return strings.ToUpper(op.id[:1]) + op.id[1:] }

// event is an event that webhooks can subscribe to.
type event struct {
	Name     string  // such as Email.Bounced
	General  bool    // uses the general envelope, which has no id
	Shapes   []shape // schemas of its data
	Examples []example
}

// Const is the event's name as a part of Go names.
func (e event) Const() string { return strings.ReplaceAll(e.Name, ".", "") }

// shape is a schema of an event's data.
type shape struct {
	Name string
	tree
}

// example is a delivery that openapi.yaml shows.
type example struct {
	Name, Summary string
	Body          string // JSON in one line, with the fields in document order
}

// readDocument reads openapi.yaml. The error lists everything that is missing in operations and events.
func readDocument(path string) (*document, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseDocument(text)
}

func parseDocument(text []byte) (*document, error) {
	root, err := parseTree(text)
	if err != nil {
		return nil, err
	}
	doc := &document{root: root}
	return doc, errors.Join(doc.readOperations(), doc.readEvents())
}

func (doc *document) readOperations() error {
	var errs []error
	for path, item := range doc.root.at("paths").all() {
		for method, t := range item.all() {
			if !slices.Contains([]string{"get", "put", "post", "patch", "delete"}, method) {
				continue
			}
			for _, name := range []string{"operationId", "x-repeatable"} {
				if t.text(name) == "" {
					errs = append(errs, fmt.Errorf("openapi.yaml: %s %s: %s is missing", method, path, name))
				}
			}
			op := operation{
				tree: t, id: t.text("operationId"), method: strings.ToUpper(method), path: path,
				repeatable: t.text("x-repeatable") == "true",
			}
			for _, p := range append(item.at("parameters").items(), t.at("parameters").items()...) {
				op.parameters = append(op.parameters, p.resolve(doc.root))
			}
			doc.operations = append(doc.operations, op)
		}
	}
	return errors.Join(errs...)
}

// readEvents reads the events that the schema EventName lists.
func (doc *document) readEvents() error {
	var errs []error
	listed, shown := map[string]bool{}, map[string]bool{}
	for _, name := range doc.root.schema("EventName").words("enum") {
		if listed[name] {
			errs = append(errs, fmt.Errorf("openapi.yaml: the schema EventName lists %s twice", name))
			continue
		}
		listed[name] = true
		e, err := doc.event(name)
		if err != nil {
			errs = append(errs, fmt.Errorf("openapi.yaml: event %s: %w", name, err))
		}
		doc.events = append(doc.events, e)
		for _, x := range e.Examples {
			if shown[x.Name] { // each example is a file in testdata
				errs = append(errs, fmt.Errorf("openapi.yaml: event %s: example %s: another has this name", name, x.Name))
			}
			shown[x.Name] = true
		}
	}
	for name := range doc.root.at("webhooks").all() {
		if !listed[name] {
			errs = append(errs, fmt.Errorf("openapi.yaml: %s is under webhooks, but not in the enum of the schema EventName", name))
		}
	}
	return errors.Join(errs...)
}

func (doc *document) event(name string) (event, error) {
	e := event{Name: name}
	body := doc.root.at("webhooks", name, "post", "requestBody")
	if body.Node == nil {
		return e, errors.New("there is no webhook of this name")
	}
	all, delivery := doc.root.schema("Event"), body.json()
	among := slices.ContainsFunc(all.at("oneOf").items(), func(v tree) bool { return v.text("$ref") == delivery.text("$ref") })
	if !among || all.at("discriminator", "mapping").text(name) != delivery.text("$ref") {
		return e, errors.New("it is not one of the schema Event, or not mapped there")
	}
	var data string
	for _, part := range delivery.resolve(doc.root).at("allOf").items() {
		switch part.schemaNamed() {
		case "GeneralEvent":
			e.General = true
		case "":
			data = part.at("properties", "data").schemaNamed()
		}
	}
	if data == "" {
		return e, errors.New("the schema of its delivery names no schema of its data")
	}
	e.Shapes = doc.shapes(data)
	for name, x := range body.at("content", "application/json", "examples").all() {
		if x.at("value").Node == nil {
			return e, fmt.Errorf("example %s: it has no value", name)
		}
		e.Examples = append(e.Examples, example{name, x.text("summary"), string(appendJSON(nil, x.at("value")))})
	}
	if len(e.Examples) < len(e.Shapes) {
		return e, fmt.Errorf("%d examples for %d shapes", len(e.Examples), len(e.Shapes))
	}
	return e, nil
}

// elements returns the properties of the schemas of array elements, in document order.
func (doc *document) elements() map[string][]string {
	out := map[string][]string{}
	for _, schema := range doc.root.at("components", "schemas").all() {
		for _, property := range schema.at("properties").all() {
			name := property.at("items").schemaNamed()
			out[name] = nil // it may be in several arrays
			for member := range doc.root.schema(name).at("properties").all() {
				out[name] = append(out[name], member)
			}
		}
	}
	return out
}

// shapes returns the schema called name, or its oneOf variants.
func (doc *document) shapes(name string) (out []shape) {
	t := doc.root.schema(name)
	if t.at("oneOf").Node == nil {
		return []shape{{name, t}}
	}
	for _, variant := range t.at("oneOf").items() {
		out = append(out, shape{variant.schemaNamed(), variant.resolve(doc.root)})
	}
	return out
}

// appendJSON writes a value in one line, with its fields in document order.
func appendJSON(b []byte, t tree) []byte {
	switch t.Kind {
	case yaml.MappingNode:
		b = append(b, '{')
		for name, value := range t.all() {
			b = append(appendText(b, name), ':')
			b = append(appendJSON(b, value), ',')
		}
		return append(bytes.TrimSuffix(b, []byte(",")), '}')
	case yaml.SequenceNode:
		b = append(b, '[')
		for _, item := range t.items() {
			b = append(appendJSON(b, item), ',')
		}
		return append(bytes.TrimSuffix(b, []byte(",")), ']')
	case yaml.AliasNode:
		return appendJSON(b, tree{t.Alias})
	}
	switch t.ShortTag() {
	case "!!int", "!!float", "!!bool", "!!null":
		return append(b, t.Value...)
	}
	return appendText(b, t.Value)
}

// appendText writes a string as JSON without escaping <, > and &.
func appendText(b []byte, text string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string never fails
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}

// tree is a part of openapi.yaml, with its fields in order. The zero value is a
// part that does not exist.
type tree struct{ *yaml.Node }

func parseTree(text []byte) (tree, error) {
	var node yaml.Node
	if err := yaml.Unmarshal(text, &node); err != nil || len(node.Content) == 0 {
		return tree{}, fmt.Errorf("openapi.yaml: %w", cmp.Or(err, errors.New("it is empty")))
	}
	return tree{node.Content[0]}, nil
}

// all iterates over the fields of a mapping.
func (t tree) all() iter.Seq2[string, tree] {
	return func(yield func(string, tree) bool) {
		if t.Node == nil || t.Kind != yaml.MappingNode {
			return
		}
		for pair := range slices.Chunk(t.Content, 2) {
			if !yield(pair[0].Value, tree{pair[1]}) {
				return
			}
		}
	}
}

// items returns the elements of a sequence.
func (t tree) items() (out []tree) {
	if t.Node == nil || t.Kind != yaml.SequenceNode {
		return nil
	}
	for _, node := range t.Content {
		out = append(out, tree{node})
	}
	return out
}

// at returns the part at the end of a path of names.
func (t tree) at(names ...string) tree {
	for _, want := range names {
		var found tree
		for name, field := range t.all() {
			if name == want {
				found = field
			}
		}
		t = found
	}
	return t
}

// text returns a scalar field as it is written, or "".
func (t tree) text(name string) string {
	if field := t.at(name); field.Node != nil && field.Kind == yaml.ScalarNode {
		return field.Value
	}
	return ""
}

// words returns a field that is a text or a sequence of texts.
func (t tree) words(name string) (out []string) {
	if text := t.text(name); text != "" {
		return []string{text}
	}
	for _, item := range t.at(name).items() {
		out = append(out, item.Value)
	}
	return out
}

// schema returns the schema with a name; t is the whole document.
func (t tree) schema(name string) tree { return t.at("components", "schemas", name) }

// schemaNamed is the name of the schema that t refers to, or "".
func (t tree) schemaNamed() string {
	if name, ok := strings.CutPrefix(t.text("$ref"), "#/components/schemas/"); ok {
		return name
	}
	return ""
}

// resolve returns the target of the reference t, or t itself.
func (t tree) resolve(root tree) tree {
	ref, ok := strings.CutPrefix(t.text("$ref"), "#/")
	if !ok {
		return t
	}
	return root.at(strings.Split(ref, "/")...)
}

// json returns the schema of a JSON request, response or delivery.
func (t tree) json() tree { return t.at("content", "application/json", "schema") }

func (t tree) requires(field string) bool { return slices.Contains(t.words("required"), field) }
