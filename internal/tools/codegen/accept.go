package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// acceptFiles returns the file of the mock platform that says what the requests of
// each operation look like.
//
// It knows some keywords of schemas. One that has others, of whatever meaning, is
// written as a shape that accepts nothing: its requests are held against the
// document itself, which is slower and never wrong.
func acceptFiles(doc *document) (map[string][]byte, error) {
	s := shapes{root: doc.root, named: map[string]string{}}
	requests := make([]request, len(doc.operations))
	for i, op := range doc.operations {
		var err error
		if requests[i], err = s.request(op); err != nil {
			return nil, fmt.Errorf("openapi.yaml: %s %s: %w", op.method, op.path, err)
		}
	}
	src, err := execute("accept.tmpl", map[string]any{"Operations": requests, "Shapes": s.declared})
	return map[string][]byte{"operations.gen.go": src}, err
}

// request is what an operation is asked for, in Go expressions.
type request struct {
	ID, Method, Path string
	Deprecated       bool
	InPath, InQuery  []parameter
	NeedsQuery       bool
	Body             string
	BodyRequired     bool
}

type parameter struct {
	Name     string
	Required bool
	Shape    string
}

// shapes writes the shapes of schemas.
type shapes struct {
	root     node
	named    map[string]string // Go names of the shapes of schemas that have a name
	declared []string          // statements that declare them, in an order in which they can stand
}

func (s *shapes) request(op operation) (request, error) {
	item := s.root.at("paths", op.path)
	of := item.at(strings.ToLower(op.method))
	out := request{ID: op.id, Method: op.method, Path: op.path, Deprecated: of["deprecated"] == true}
	for _, in := range append(item.list("parameters"), of.list("parameters")...) {
		in = s.resolve(in)
		p := parameter{Name: fmt.Sprint(in["name"]), Required: in["required"] == true, Shape: s.shape(in.at("schema"))}
		switch in["in"] {
		case "path":
			out.InPath = append(out.InPath, p)
		case "query":
			out.InQuery = append(out.InQuery, p)
			out.NeedsQuery = out.NeedsQuery || p.Required
		default:
			return out, fmt.Errorf("parameter %s: in %v, which package accept does not look at", p.Name, in["in"])
		}
	}
	if body := of.at("requestBody"); body != nil {
		out.Body = s.shape(body.at("content", "application/json", "schema"))
		out.BodyRequired = body["required"] == true
	}
	return out, nil
}

// shape returns a Go expression of the shape of a schema.
func (s *shapes) shape(schema node) string {
	ref, ok := schema["$ref"].(string)
	if !ok {
		return s.literal(schema)
	}
	if s.named[ref] == "" {
		name := ref[strings.LastIndexByte(ref, '/')+1:]
		s.named[ref] = "shape" + name
		literal := s.literal(s.resolve(schema))
		s.declared = append(s.declared, "shape"+name+" := "+literal)
	}
	return s.named[ref]
}

const nothing = "&Shape{}"

// literal writes a schema. What it says nothing about is any value.
func (s *shapes) literal(schema node) string {
	var kind string
	var out []string
	for _, word := range schema.words("type") {
		switch {
		case word == "null":
			out = append(out, "Nullable: true")
		case kind != "":
			return nothing
		default:
			kind = word
		}
	}
	fields, ok := s.fields(kind, schema)
	if !ok {
		return nothing
	}
	kind = strings.ToUpper(kind[:1]) + kind[1:]
	return "&Shape{" + strings.Join(slices.Concat([]string{"Kind: " + kind}, out, fields), ", ") + "}"
}

// fields writes what a schema says beside its type, if all of it is known.
func (s *shapes) fields(kind string, schema node) (out []string, ok bool) {
	if !slices.Contains([]string{"object", "array", "string", "integer", "boolean"}, kind) {
		return nil, false
	}
	if kind == "integer" && schema["minimum"] == nil {
		out = append(out, "Min: math.MinInt64")
	}
	for _, keyword := range slices.Sorted(maps.Keys(schema)) {
		value := schema[keyword]
		if slices.Contains([]string{"type", "description", "default", "example", "examples"}, keyword) || strings.HasPrefix(keyword, "x-") {
			continue
		}
		switch kind + " " + keyword {
		case "string format", "integer format":
			if !slices.Contains([]string{"email", "uri", "password", "int64"}, fmt.Sprint(value)) {
				return nil, false
			}
		case "object properties", "object required": // together, below
		case "object additionalProperties":
			others, isSchema := value.(map[string]any)
			if !isSchema || schema["properties"] != nil {
				return nil, false
			}
			out = append(out, "Others: "+s.shape(others))
		case "array items":
			out = append(out, "Item: "+s.shape(schema.at("items")))
		case "array minItems", "string minLength", "integer minimum":
			out = append(out, fmt.Sprintf("Min: %v", value))
		case "array maxItems", "string maxLength", "integer maximum":
			if value == 0 {
				return nil, false // which is no limit in a shape
			}
			out = append(out, fmt.Sprintf("Max: %v", value))
		case "string enum":
			out = append(out, fmt.Sprintf("Enum: %#v", schema.words("enum")))
		case "string pattern":
			out = append(out, fmt.Sprintf("Pattern: regexp.MustCompile(%#q)", value))
		default:
			return nil, false
		}
	}
	return s.members(out, schema)
}

// members appends the members of an object. More than there are bits to note them
// are not known.
func (s *shapes) members(out []string, schema node) ([]string, bool) {
	properties, required := schema.at("properties"), schema.words("required")
	var members []string
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		text := fmt.Sprintf("{Name: %q, Shape: %s}", name, s.shape(properties.at(name)))
		if i := slices.Index(required, name); i >= 0 {
			text = strings.Replace(text, ", Shape", ", Required: true, Shape", 1)
			required = slices.Delete(required, i, i+1)
		}
		members = append(members, text)
	}
	if members != nil {
		out = append(out, "Members: []Member{\n"+strings.Join(members, ",\n")+",\n}")
	}
	return out, len(members) < 64 && len(required) == 0
}

// resolve returns what a node refers to, or the node itself.
func (s *shapes) resolve(n node) node {
	ref, ok := n["$ref"].(string)
	if !ok {
		return n
	}
	return s.root.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
}

// node is a mapping of the document.
type node map[string]any

// at returns the mapping at the end of a path of names, or nil.
func (n node) at(names ...string) node {
	for _, name := range names {
		inner, _ := n[name].(map[string]any)
		n = inner
	}
	return n
}

// list returns a member that is a list of mappings.
func (n node) list(name string) (out []node) {
	items, _ := n[name].([]any)
	for _, item := range items {
		inner, _ := item.(map[string]any)
		out = append(out, inner)
	}
	return out
}

// words returns a member that is a text or a list of texts.
func (n node) words(name string) (out []string) {
	if word, ok := n[name].(string); ok {
		return []string{word}
	}
	items, _ := n[name].([]any)
	for _, item := range items {
		out = append(out, fmt.Sprint(item))
	}
	return out
}
