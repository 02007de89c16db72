package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// jsonType matches the JSON types that a list can contain.
var jsonType = regexp.MustCompile(`\b(string|integer)\b`)

// kind describes the values of a schema and its rules. A named schema with properties becomes a link to its section.
func (w writer) kind(t tree) string {
	name := t.schemaNamed()
	t = t.resolve(w.doc.root)
	if name != "" && t.at("properties").Node != nil {
		if strings.HasSuffix(name, "Page") {
			return fmt.Sprintf("[%s](#pages) of %s", name, w.kind(t.at("properties", "data", "items")))
		}
		return fmt.Sprintf("[%s](#%s)", name, anchor(home(name)))
	}
	var types []string
	for _, word := range t.words("type") {
		types = append(types, w.typ(word, t))
	}
	for _, variant := range t.at("oneOf").items() {
		types = append(types, w.kind(variant))
	}
	return strings.Join(append([]string{strings.Join(types, " or ")}, rules(t)...), ", ")
}

// home returns the schema whose section contains a schema.
func home(name string) string {
	for _, suffix := range []string{"Create", "Update", "Summary"} {
		name = strings.TrimSuffix(name, suffix)
	}
	switch {
	case strings.HasSuffix(name, "ListRef"):
		return "ListRef"
	case name == "EmailContent":
		return "MessageContent"
	}
	return name
}

func (w writer) typ(word string, t tree) string {
	if values := t.words("enum"); word == "string" && values != nil {
		return codes(values)
	}
	switch word {
	case "string":
		formats := map[string]string{"date-time": "time as ISO 8601", "email": "email address", "uri": "URL", "uuid": "UUID"}
		return cmp.Or(formats[t.text("format")], word)
	case "array":
		item := w.kind(t.at("items"))
		if strings.Contains(item, ", ") {
			item = "(" + item + ")"
		}
		return "list of " + jsonType.ReplaceAllString(item, "${1}s")
	case "object":
		if others := t.at("additionalProperties"); len(others.words("type")) > 0 || others.schemaNamed() != "" {
			return "object of " + w.kind(others)
		}
	case "boolean":
		return "true or false"
	}
	return word
}

// rules returns the rules of a schema except its type.
func rules(t tree) (out []string) {
	from, to := t.text("minimum"), t.text("maximum")
	switch {
	case from != "" && to != "":
		out = append(out, from+" to "+to)
	case from != "":
		out = append(out, "at least "+from)
	case to != "":
		out = append(out, "at most "+to)
	}
	if least := cmp.Or(t.text("minLength"), t.text("minItems")); least == "1" {
		out = append(out, "not empty")
	} else if least != "" {
		out = append(out, "at least "+least+" long")
	}
	if most := t.text("maxItems"); most != "" {
		out = append(out, "at most "+most)
	}
	if pattern := t.text("pattern"); pattern != "" {
		out = append(out, code(pattern))
	}
	if value := t.text("default"); value != "" {
		out = append(out, value+" by default")
	}
	return out
}

// row is a line of a table for a field or a parameter. A parameter has a place.
type row struct {
	Name        string `json:"name"`
	In          string `json:"in,omitempty"`
	Kind        string `json:"type"`
	Description string `json:"description"`
	Optional    bool   `json:"optional,omitempty"`
}

// members returns the properties of a schema. A property without a description gets the description of its schema.
func (w writer) members(t tree) (rows []row) {
	for name, member := range t.at("properties").all() {
		description := cmp.Or(member.text("description"), member.resolve(w.doc.root).text("description"))
		rows = append(rows, row{Name: name, Kind: cell(w.kind(member)), Description: cell(description), Optional: !t.requires(name)})
	}
	return rows
}

// Shared reports whether one table documents a parameter for all endpoints.
func (r row) Shared() bool {
	return r.In == "path" || slices.Contains([]string{"page", "per_page", "with_count"}, r.Name)
}

// repeated matches parts of descriptions that repeat the type or the introduction of the reference.
var repeated = regexp.MustCompile(`, in Unix seconds|, as ISO 8601|, from 1( to 100)?|, at most [0-9,]+|, by default [^.]+| (The default is|The platform may add) [^.]*\.|^Always \w+\.`)

// brief returns a description without what the type or the name of the field shows.
func brief(description, name string) string {
	description = repeated.ReplaceAllString(description, "")
	words := strings.FieldsFunc(strings.ToLower(description), func(r rune) bool { return !unicode.IsLetter(r) })
	if !slices.ContainsFunc(words, func(word string) bool {
		return !strings.Contains(strings.ToLower(name)+" the of address when was", word)
	}) {
		return ""
	}
	return description
}

// cell makes text fit into a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

// code writes texts as code.
func code(text string) string { return "`" + text + "`" }

func codes(texts []string) string { return code(strings.Join(texts, "` `")) }

var notInAnchor = regexp.MustCompile(`[^a-z0-9 _-]`)

// anchor returns the anchor of a heading.
func anchor(heading string) string {
	return strings.ReplaceAll(notInAnchor.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}
