package main

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
)

// jsonType matches the JSON types that a list can contain.
var jsonType = regexp.MustCompile(`\b(string|integer)\b`)

// kinds says in words what schemas take.
type kinds struct{ root tree }

// kind returns what a schema takes, its rules behind it. One that has members has a
// section of its own.
func (k kinds) kind(t tree) string {
	name := t.schemaNamed()
	t = t.resolve(k.root)
	if name != "" && t.at("properties").Node != nil {
		return fmt.Sprintf("[%s](#%s)", name, anchor(name))
	}
	var types []string
	for _, word := range t.words("type") {
		types = append(types, k.typ(word, t))
	}
	for _, variant := range t.at("oneOf").items() {
		types = append(types, k.kind(variant))
	}
	return strings.Join(append([]string{strings.Join(types, " or ")}, rules(t)...), ", ")
}

func (k kinds) typ(word string, t tree) string {
	if values := t.words("enum"); word == "string" && values != nil {
		return codes(values)
	}
	switch word + " " + t.text("format") {
	case "string date-time":
		return "time as ISO 8601"
	case "string email":
		return "email address"
	case "string uri":
		return "URL"
	case "string uuid":
		return "UUID"
	}
	switch word {
	case "array":
		item := k.kind(t.at("items"))
		if strings.Contains(item, ", ") {
			item = "(" + item + ")"
		}
		return "list of " + jsonType.ReplaceAllString(item, "${1}s")
	case "object":
		if others := t.at("additionalProperties"); len(others.words("type")) > 0 || others.schemaNamed() != "" {
			return "object of " + k.kind(others)
		}
	case "boolean":
		return "true or false"
	}
	return word
}

// rules returns what a schema says beside its type.
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
	switch least := cmp.Or(t.text("minLength"), t.text("minItems")); least {
	case "":
	case "1":
		out = append(out, "not empty")
	default:
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

// row is a line of a table: a member, or a parameter, which is in a place.
type row struct {
	Name, In, Kind, Description string
	Optional                    bool
}

// members returns the members of a schema. One that is a schema with a name is
// described by that, unless it has a description of its own.
func (k kinds) members(t tree) (rows []row) {
	for name, member := range t.at("properties").all() {
		description := member.text("description")
		if description == "" {
			description = member.resolve(k.root).text("description")
		}
		rows = append(rows, row{Name: name, Kind: cell(k.kind(member)), Description: cell(description), Optional: !t.requires(name)})
	}
	return rows
}

// cell makes text fit into a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

// code writes texts as code.
func code(text string) string { return "`" + text + "`" }

func codes(texts []string) string {
	var out []string
	for _, text := range texts {
		out = append(out, code(text))
	}
	return strings.Join(out, " ")
}

// anchor is what a heading is linked by.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		case r == ' ':
			return '-'
		}
		return -1
	}, heading)
}
