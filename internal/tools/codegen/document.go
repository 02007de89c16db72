package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"
)

// document is what openapi.yaml says of operations and events, in its order.
type document struct {
	text       []byte
	operations []operation
	events     []event
	root       node // all of it, in no order
}

// operation is an endpoint.
type operation struct {
	id, method, path string
	repeatable       bool
}

// event is what a webhook can subscribe to.
type event struct {
	Name     string  // such as Email.Bounced
	General  bool    // comes in the general envelope, which has no id
	Shapes   []shape // of its data
	examples []example
}

// Const is the event's name as a part of Go names.
func (e event) Const() string { return strings.ReplaceAll(e.Name, ".", "") }

// shape is a schema of an event's data.
type shape struct {
	Name string
	schema
}

// example is a delivery that the document shows.
type example struct {
	name string
	body []byte // JSON, its members in the document's order
}

// schema is as much of a schema as is needed here.
type schema struct {
	Ref        string            `yaml:"$ref"`
	Enum       []any             `yaml:"enum"`
	AllOf      []schema          `yaml:"allOf"`
	OneOf      []schema          `yaml:"oneOf"`
	Properties map[string]schema `yaml:"properties"`
	Required   []string          `yaml:"required"`

	Discriminator struct {
		Mapping map[string]string `yaml:"mapping"`
	} `yaml:"discriminator"`
}

// is returns the name of the schema that s refers to.
func (s schema) is() string { return strings.TrimPrefix(s.Ref, "#/components/schemas/") }

// has reports whether s is one of variant, which name stands for.
func (s schema) has(name string, variant schema) bool {
	among := slices.ContainsFunc(s.OneOf, func(v schema) bool { return v.Ref == variant.Ref })
	return among && s.Discriminator.Mapping[name] == variant.Ref
}

// source is openapi.yaml as it is written.
type source struct {
	Paths    yaml.Node `yaml:"paths"`
	Webhooks map[string]struct {
		Post struct {
			RequestBody struct {
				Content map[string]struct {
					Schema   schema    `yaml:"schema"`
					Examples yaml.Node `yaml:"examples"`
				} `yaml:"content"`
			} `yaml:"requestBody"`
		} `yaml:"post"`
	} `yaml:"webhooks"`
	Components struct {
		Schemas map[string]schema `yaml:"schemas"`
	} `yaml:"components"`
}

// readDocument reads openapi.yaml. The error names everything that an event
// lacks.
func readDocument(path string) (*document, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return parseDocument(text)
}

func parseDocument(text []byte) (*document, error) {
	var src source
	if err := yaml.Unmarshal(text, &src); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	var root map[string]any
	if err := yaml.Unmarshal(text, &root); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	doc := &document{text: text, root: root}
	for path, item := range members(&src.Paths) {
		for method, node := range members(item) {
			if !slices.Contains([]string{"get", "put", "post", "patch", "delete"}, method) {
				continue
			}
			var op struct {
				ID         string `yaml:"operationId"`
				Repeatable *bool  `yaml:"x-repeatable"`
			}
			if err := node.Decode(&op); err != nil {
				return nil, fmt.Errorf("openapi.yaml: %s %s: %w", method, path, err)
			}
			switch {
			case op.ID == "":
				return nil, fmt.Errorf("openapi.yaml: %s %s: operationId is missing", method, path)
			case op.Repeatable == nil:
				return nil, fmt.Errorf("openapi.yaml: %s %s: x-repeatable is missing", method, path)
			}
			doc.operations = append(doc.operations, operation{op.ID, strings.ToUpper(method), path, *op.Repeatable})
		}
	}
	var err error
	doc.events, err = src.events()
	return doc, err
}

// events returns the events that the schema EventName lists.
func (src *source) events() ([]event, error) {
	var out []event
	var errs []error
	listed, shown := map[string]bool{}, map[string]bool{}
	for _, value := range src.Components.Schemas["EventName"].Enum {
		name, _ := value.(string)
		if listed[name] {
			errs = append(errs, fmt.Errorf("openapi.yaml: the schema EventName lists %s twice", name))
			continue
		}
		listed[name] = true
		e, err := src.event(name)
		out, errs = append(out, e), append(errs, err)
		for _, x := range e.examples {
			if shown[x.name] { // each is a file of testdata
				errs = append(errs, fmt.Errorf("openapi.yaml: event %s: example %s: another has this name", name, x.name))
			}
			shown[x.name] = true
		}
	}
	for name := range src.Webhooks {
		if !listed[name] {
			errs = append(errs, fmt.Errorf("openapi.yaml: %s is under webhooks, but not in the enum of the schema EventName", name))
		}
	}
	return out, errors.Join(errs...)
}

func (src *source) event(name string) (event, error) {
	e := event{Name: name}
	missing := func(what string) (event, error) { return e, fmt.Errorf("openapi.yaml: event %s: %s", name, what) }
	if _, ok := src.Webhooks[name]; !ok {
		return missing("there is no webhook of this name")
	}
	media := src.Webhooks[name].Post.RequestBody.Content["application/json"]
	if !src.Components.Schemas["Event"].has(name, media.Schema) {
		return missing("it is not one of the schema Event, or not mapped there")
	}
	delivery := src.Components.Schemas[media.Schema.is()]
	var data string
	for _, part := range delivery.AllOf {
		switch part.is() {
		case "GeneralEvent":
			e.General = true
		case "":
			data = part.Properties["data"].is()
		}
	}
	if _, ok := src.Components.Schemas[data]; !ok {
		return missing("the schema of its delivery names no schema of its data")
	}
	e.Shapes = src.shapes(data)
	for name, node := range members(&media.Examples) {
		body, err := exampleJSON(node)
		if err != nil {
			return missing(fmt.Sprintf("example %s: %v", name, err))
		}
		e.examples = append(e.examples, example{name, body})
	}
	if len(e.examples) < len(e.Shapes) {
		return missing(fmt.Sprintf("%d examples for %d shapes", len(e.examples), len(e.Shapes)))
	}
	return e, nil
}

// shapes returns the schema called name, or those that it is one of.
func (src *source) shapes(name string) (out []shape) {
	s := src.Components.Schemas[name]
	if len(s.OneOf) == 0 {
		return []shape{{name, s}}
	}
	for _, variant := range s.OneOf {
		out = append(out, shape{variant.is(), src.Components.Schemas[variant.is()]})
	}
	return out
}

// members iterates over a mapping in its order.
func members(node *yaml.Node) func(yield func(string, *yaml.Node) bool) {
	return func(yield func(string, *yaml.Node) bool) {
		for i := 0; i+1 < len(node.Content); i += 2 {
			if !yield(node.Content[i].Value, node.Content[i+1]) {
				return
			}
		}
	}
}

// exampleJSON writes the value of an example, indented.
func exampleJSON(node *yaml.Node) ([]byte, error) {
	for name, value := range members(node) {
		if name != "value" {
			continue
		}
		compact, err := appendJSON(nil, value)
		if err != nil {
			return nil, err
		}
		var out bytes.Buffer
		err = json.Indent(&out, compact, "", "  ")
		return append(out.Bytes(), '\n'), err
	}
	return nil, errors.New("it has no value")
}

func appendJSON(b []byte, node *yaml.Node) ([]byte, error) {
	var err error
	switch node.Kind {
	case yaml.MappingNode:
		b = append(b, '{')
		first := true
		for name, value := range members(node) {
			if !first {
				b = append(b, ',')
			}
			first = false
			if b, err = appendJSON(append(appendText(b, name), ':'), value); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	case yaml.SequenceNode:
		b = append(b, '[')
		for i, value := range node.Content {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendJSON(b, value); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case yaml.ScalarNode:
		switch node.ShortTag() {
		case "!!int", "!!float", "!!bool", "!!null":
			return append(b, node.Value...), nil
		}
		return appendText(b, node.Value), nil
	}
	return nil, fmt.Errorf("line %d: want a value", node.Line)
}

// appendText writes a string as JSON does, but < > & as they are.
func appendText(b []byte, text string) []byte {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string never fails
	return append(b, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...)
}
