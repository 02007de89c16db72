package mcp

import (
	"encoding/json"
	"strconv"

	"github.com/google/jsonschema-go/jsonschema"
)

// The schemas are flat, without oneOf, references or nullable types, because
// some assistants ignore tools with such schemas.

// property is a property of an object.
type property struct {
	name string
	*jsonschema.Schema
}

// object returns the schema of an object, which keeps the order of its properties.
func object(required []string, properties []property) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Required: required, Properties: map[string]*jsonschema.Schema{}}
	for _, p := range properties {
		s.Properties[p.name] = p.Schema
		s.PropertyOrder = append(s.PropertyOrder, p.name)
	}
	return s
}

// closed returns s with additional properties forbidden.
func closed(s *jsonschema.Schema) *jsonschema.Schema {
	s.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
	return s
}

func text(description string) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Description: description}
}

func choice(description string, values ...any) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Description: description, Enum: values}
}

// integer returns the schema of an integer with the given minimum.
func integer(description string, minimum float64) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "integer", Description: description, Minimum: &minimum}
}

func array(description string, items *jsonschema.Schema) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "array", Description: description, Items: items}
}

func texts(description string) *jsonschema.Schema {
	return array(description, &jsonschema.Schema{Type: "string"})
}

func textsByName(description string) *jsonschema.Schema {
	return &jsonschema.Schema{
		Type: "object", Description: description, AdditionalProperties: &jsonschema.Schema{Type: "string"},
	}
}

// The arguments of every list operation.

func pageArgument() *jsonschema.Schema {
	s := integer("For list: the page number, from 1. Use next_page of the previous result.", 1)
	s.Default = json.RawMessage("1")
	return s
}

func perPageArgument() *jsonschema.Schema {
	s := integer("For list: the maximum number of items on a page, from 1 to 100.", 1)
	s.Maximum = new(float64(maxPerPage))
	s.Default = json.RawMessage(strconv.Itoa(defaultPerPage))
	return s
}
