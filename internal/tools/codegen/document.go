package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	yaml "github.com/oasdiff/yaml3"
)

// document is openapi.yaml with its operations and events, in document order.
type document struct {
	*openapi3.T

	operations []operation
	events     []event
	values     map[position]*yaml.Node // see json
}

// position is a line and a column of openapi.yaml.
type position [2]int

// operation is an endpoint.
type operation struct {
	*openapi3.Operation

	id, method, path string
	repeatable       bool
	parameters       openapi3.Parameters // including the parameters of its path
}

// Func is the name of the unexported method that implements the operation.
func (op operation) Func() string { return op.id }

// Method is the name of the operation in the generated interface.
func (op operation) Method() string { return strings.ToUpper(op.id[:1]) + op.id[1:] }

// body returns the JSON that the operation expects, or nil.
func (op operation) body() *openapi3.MediaType {
	if op.RequestBody == nil {
		return nil
	}
	return op.RequestBody.Value.Content["application/json"]
}

// rejectUnknown reports whether unknown fields and parameters are errors.
func (op operation) rejectUnknown() bool { return op.Extensions["x-reject-unknown"] == true }

// Reads reports whether the operation changes nothing.
func (op operation) Reads() bool { return op.method == "GET" }

// event is an event that webhooks can subscribe to.
type event struct {
	Name     string  // such as Email.Bounced
	General  bool    // uses the general envelope, which has no id
	Shapes   []shape // schemas of its data
	Examples []example
	Delivery *openapi3.Operation
}

// Const is the event's name as a part of Go names.
func (e event) Const() string { return strings.ReplaceAll(e.Name, ".", "") }

// schema returns the schema of the event's deliveries.
func (e event) schema() *openapi3.SchemaRef {
	return e.Delivery.RequestBody.Value.Content["application/json"].Schema
}

// shape is a schema of an event's data.
type shape struct {
	Name string
	*openapi3.Schema
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
	doc, err := parseDocument(text)
	if err != nil {
		return nil, err
	}
	return doc, doc.checkErrorResponses()
}

// checkErrorResponses returns an error for each error response that is missing in an operation. An operation with a
// body must have more error responses than an operation without a body.
func (doc *document) checkErrorResponses() error {
	var errs []error
	for _, op := range doc.operations {
		statuses := []string{"401", "403", "422", "429", "5XX"}
		if op.body() != nil {
			statuses = append(statuses, "400", "413", "415")
		}
		for _, status := range statuses {
			if op.Responses.Value(status) == nil {
				errs = append(errs, fmt.Errorf("openapi.yaml: %s %s: the response %s is missing", strings.ToLower(op.method), op.path, status))
			}
		}
	}
	return errors.Join(errs...)
}

func parseDocument(text []byte) (*document, error) {
	loader := openapi3.NewLoader()
	loader.IncludeOrigin = true
	spec, err := loader.LoadFromData(text)
	if err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	if spec.Components == nil {
		spec.Components = &openapi3.Components{}
	}
	doc := &document{T: spec, values: map[position]*yaml.Node{}}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	doc.findValues(&root)
	return doc, errors.Join(doc.readOperations(), doc.readEvents(), doc.checkPartial(), doc.checkIntegers(), doc.checkEventSchemas())
}

func (doc *document) findValues(n *yaml.Node) {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			doc.values[position{n.Content[i-1].Line, n.Content[i-1].Column}] = child
		}
		doc.findValues(child)
	}
}

// json returns a field of an element as JSON in one line. The JSON keeps the document order. Therefore json does not use
// openapi3, which does not keep the order of fields in examples.
func (doc *document) json(element *openapi3.Origin, field string) string {
	for name, value := range pairs(doc.values[position{element.Key.Line, element.Key.Column}]) {
		if name == field {
			return string(appendJSON(nil, value))
		}
	}
	return ""
}

func (doc *document) readOperations() error {
	var errs []error
	for path, item := range inOrder(doc.Paths.Map()) {
		for method, of := range inOrder(item.Operations()) {
			repeatable, decided := of.Extensions["x-repeatable"].(bool)
			for name, missing := range map[string]bool{"operationId": of.OperationID == "", "x-repeatable": !decided} {
				if missing {
					errs = append(errs, fmt.Errorf("openapi.yaml: %s %s: %s is missing", strings.ToLower(method), path, name))
				}
			}
			op := operation{of, of.OperationID, method, path, repeatable, slices.Concat(item.Parameters, of.Parameters)}
			doc.operations = append(doc.operations, op)
			if body := op.body(); body != nil && !hasExample(body) {
				errs = append(errs, fmt.Errorf("openapi.yaml: %s %s: the body has no example", strings.ToLower(method), path))
			}
			for status, response := range inOrder(of.Responses.Map()) {
				if body := response.Value.Content["application/json"]; body != nil && !hasExample(body) {
					errs = append(errs, fmt.Errorf("openapi.yaml: %s %s: the response %s has no example", strings.ToLower(method), path, status))
				}
			}
		}
	}
	return errors.Join(errs...)
}

func hasExample(body *openapi3.MediaType) bool { return body.Example != nil || len(body.Examples) > 0 }

// timeName matches the names of fields that are times if their type is integer.
var timeName = regexp.MustCompile(`(_on|_at|_for|_time|^timestamp)$`)

// checkIntegers returns an error for each integer without a mark that determines its Go type or tag. If the name
// of a field belongs to a time, such as created_on, the field must have x-unix-time: true. Any other optional
// integer must have x-never-zero, except in events and partial updates. If x-never-zero is true, the value is
// never 0, so Go code can omit 0.
func (doc *document) checkIntegers() error {
	var errs []error
	for schema, of := range doc.Components.Schemas {
		optional := of.Value.Extensions["x-events"] != true && of.Value.Extensions["x-partial"] != true
		for name, field := range of.Value.Properties {
			fail := func(text string) { errs = append(errs, fmt.Errorf("openapi.yaml: %s.%s must %s", schema, name, text)) }
			integer, time := field.Value.Type.Includes("integer"), field.Value.Extensions["x-unix-time"] == true
			_, decided := field.Value.Extensions["x-never-zero"].(bool)
			switch {
			case time && !integer:
				fail("be an integer, because it has x-unix-time: true")
			case integer && !time && timeName.MatchString(name):
				fail("have x-unix-time: true, because its name is the name of a time")
			case integer && !time && !decided && optional && !slices.Contains(of.Value.Required, name):
				fail("have x-never-zero: true if 0 is not a value, or x-never-zero: false if it is")
			}
		}
	}
	return errors.Join(errs...)
}

// checkEventSchemas returns an error for each schema of a delivery that does not have x-events: true. This mark selects
// the schemas of package events.
func (doc *document) checkEventSchemas() error {
	var errs []error
	checked := map[string]bool{}
	var check func(of *openapi3.SchemaRef)
	check = func(of *openapi3.SchemaRef) {
		if of == nil || of.Value == nil || checked[of.Ref] {
			return
		}
		if of.Ref != "" {
			checked[of.Ref] = true
			if of.Value.Extensions["x-events"] != true {
				errs = append(errs, fmt.Errorf("openapi.yaml: the schema %s must have x-events: true, because it is part of an event", path.Base(of.Ref)))
			}
		}
		for _, property := range inOrder(of.Value.Properties) {
			check(property)
		}
		for _, part := range slices.Concat(of.Value.OneOf, of.Value.AllOf) {
			check(part)
		}
		check(of.Value.Items)
	}
	check(doc.Components.Schemas["Event"])
	return errors.Join(errs...)
}

// checkPartial checks the schemas of the bodies of PATCH requests, and of the objects in them. Each schema must specify
// whether the body or object is a partial update. A partial update keeps omitted fields, so its fields become pointers
// in Go.
func (doc *document) checkPartial() error {
	var errs []error
	checked := map[string]bool{}
	var check func(of *openapi3.SchemaRef, place string)
	check = func(of *openapi3.SchemaRef, place string) {
		if of == nil || of.Value == nil || len(of.Value.Properties) == 0 {
			return
		}
		if of.Ref != "" {
			place = "the schema " + path.Base(of.Ref)
		}
		if checked[place] {
			return
		}
		checked[place] = true
		partial, ok := of.Value.Extensions["x-partial"].(bool)
		if !ok {
			errs = append(errs, fmt.Errorf("openapi.yaml: %s must have x-partial: true if omitted fields are kept, or x-partial: false if not", place))
		}
		if partial {
			for _, name := range slices.Sorted(maps.Keys(of.Value.Properties)) {
				check(of.Value.Properties[name], place+", field "+name)
			}
		}
	}
	for _, op := range doc.operations {
		if body := op.body(); op.method == "PATCH" && body != nil {
			check(body.Schema, "the body of "+op.id)
		}
	}
	return errors.Join(errs...)
}

// readEvents reads the events that the schema EventName lists.
func (doc *document) readEvents() error {
	var errs []error
	listed, shown := map[string]bool{}, map[string]bool{}
	for _, name := range doc.eventNames() {
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
			if shown[x.Name] { // the names of examples are keys in testdata
				errs = append(errs, fmt.Errorf("openapi.yaml: event %s: example %s: another has this name", name, x.Name))
			}
			shown[x.Name] = true
		}
	}
	for name := range doc.Webhooks {
		if !listed[name] {
			errs = append(errs, fmt.Errorf("openapi.yaml: %s is under webhooks, but not in the enum of the schema EventName", name))
		}
	}
	return errors.Join(errs...)
}

func (doc *document) eventNames() []string { return values(doc.schema("EventName")) }

func (doc *document) event(name string) (event, error) {
	e := event{Name: name}
	hook := doc.Webhooks[name]
	if hook == nil {
		return e, errors.New("there is no webhook of this name")
	}
	e.Delivery = hook.Post
	all, delivery := doc.schema("Event"), e.schema()
	among := slices.ContainsFunc(all.OneOf, func(v *openapi3.SchemaRef) bool { return v.Ref == delivery.Ref })
	if !among || all.Discriminator.Mapping[name].Ref != delivery.Ref {
		return e, errors.New("it is not one of the schema Event, or not mapped there")
	}
	var data string
	for _, part := range delivery.Value.AllOf {
		switch schemaName(part) {
		case "GeneralEvent":
			e.General = true
		case "":
			data = schemaName(part.Value.Properties["data"])
		}
	}
	if data == "" {
		return e, errors.New("the schema of its delivery names no schema of its data")
	}
	e.Shapes = doc.shapes(data)
	for name, x := range inOrder(hook.Post.RequestBody.Value.Content["application/json"].Examples) {
		if x.Value.Value == nil {
			return e, fmt.Errorf("example %s: it has no value", name)
		}
		e.Examples = append(e.Examples, example{name, x.Value.Summary, doc.json(x.Origin, "value")})
	}
	if len(e.Examples) < len(e.Shapes) {
		return e, fmt.Errorf("%d examples for %d shapes", len(e.Examples), len(e.Shapes))
	}
	return e, nil
}

// elements returns the properties of the schemas of array elements, in document order.
func (doc *document) elements() map[string][]string {
	out := map[string][]string{}
	for _, schema := range doc.Components.Schemas {
		for _, property := range schema.Value.Properties {
			if name := schemaName(property.Value.Items); name != "" {
				out[name] = nil // it may be in several arrays
				for member := range inOrder(property.Value.Items.Value.Properties) {
					out[name] = append(out[name], member)
				}
			}
		}
	}
	return out
}

// shapes returns the schema called name, or its oneOf variants.
func (doc *document) shapes(name string) (out []shape) {
	of := doc.schema(name)
	if of.OneOf == nil {
		return []shape{{name, of}}
	}
	for _, variant := range of.OneOf {
		out = append(out, shape{schemaName(variant), variant.Value})
	}
	return out
}

// schema returns the schema with a name.
func (doc *document) schema(name string) *openapi3.Schema {
	if ref := doc.Components.Schemas[name]; ref != nil {
		return ref.Value
	}
	return &openapi3.Schema{}
}

// schemaName is the name of the schema that ref refers to, or "".
func schemaName(ref *openapi3.SchemaRef) string {
	if ref == nil {
		return ""
	}
	return strings.TrimPrefix(ref.Ref, "#/components/schemas/")
}

// values returns the values of an enumeration.
func values(s *openapi3.Schema) (out []string) {
	for _, v := range s.Enum {
		out = append(out, fmt.Sprint(v))
	}
	return out
}

// inOrder iterates over elements of the document in document order.
func inOrder[M ~map[string]V, V any](all M) iter.Seq2[string, V] {
	at := func(name string) *openapi3.Location {
		return reflect.ValueOf(all[name]).Elem().FieldByName("Origin").Interface().(*openapi3.Origin).Key
	}
	return func(yield func(string, V) bool) {
		for _, name := range slices.SortedFunc(maps.Keys(all), func(a, b string) int {
			return cmp.Or(at(a).Line-at(b).Line, at(a).Column-at(b).Column)
		}) {
			if !yield(name, all[name]) {
				return
			}
		}
	}
}

// pairs iterates over the fields of a mapping.
func pairs(n *yaml.Node) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		for pair := range slices.Chunk(n.Content, 2) {
			if !yield(pair[0].Value, pair[1]) {
				return
			}
		}
	}
}

// appendJSON writes a value in one line, with its fields in document order.
func appendJSON(b []byte, n *yaml.Node) []byte {
	switch n.Kind {
	case yaml.MappingNode:
		b = append(b, '{')
		for name, value := range pairs(n) {
			b = append(appendText(b, name), ':')
			b = append(appendJSON(b, value), ',')
		}
		return append(bytes.TrimSuffix(b, []byte(",")), '}')
	case yaml.SequenceNode:
		b = append(b, '[')
		for _, item := range n.Content {
			b = append(appendJSON(b, item), ',')
		}
		return append(bytes.TrimSuffix(b, []byte(",")), ']')
	case yaml.AliasNode:
		return appendJSON(b, n.Alias)
	}
	switch n.ShortTag() {
	case "!!int", "!!float", "!!bool", "!!null":
		return append(b, n.Value...)
	}
	return appendText(b, n.Value)
}

// appendText writes a string as JSON without escaping <, > and &.
func appendText(b []byte, text string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string never fails
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}
