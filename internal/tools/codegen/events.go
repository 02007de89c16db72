package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"example.com/emailplatform/internal/tools/must"
)

// general returns the events that come in the general envelope.
func general(all []event) []event {
	return slices.DeleteFunc(slices.Clone(all), func(e event) bool { return !e.General })
}

// eventFiles returns the files of package events that list events, and the testdata of the package. The keys of the map
// are the paths of the files.
func eventFiles(doc *document) map[string][]byte {
	var shapes []shape
	var examples []string
	for _, e := range doc.events {
		shapes = append(shapes, e.Shapes...)
		for _, x := range e.Examples {
			examples = append(examples, `"`+x.Name+`":`+x.Body)
		}
	}
	var indented bytes.Buffer
	must.OK(json.Indent(&indented, []byte("{"+strings.Join(examples, ",")+"}\n"), "", "  "))
	return map[string][]byte{
		"testdata/deliveries.json": indented.Bytes(),
		"events.gen.go": execute("events.tmpl", map[string]any{
			"Events": doc.events, "Shapes": shapes, "ContactStatuses": values(doc.schema("ContactStatus")),
			"BounceCategories": meanings(doc.schema("BounceCategory")),
		}),
	}
}

// meaning is a value of an enumeration and its meaning.
type meaning struct{ Value, Text string }

// meanings returns the values of an enumeration with their meanings. The description of the enumeration lists them in
// the form: `value` meaning.
func meanings(s *openapi3.Schema) (out []meaning) {
	for _, value := range values(s) {
		found := regexp.MustCompile("`" + regexp.QuoteMeta(value) + "` ([^,.]+)").FindStringSubmatch(s.Description)
		if found == nil {
			must.Failf("openapi.yaml:%d: the description has no meaning of %s, such as: `%[2]s` mailbox full", s.Origin.Key.Line, value)
		}
		out = append(out, meaning{value, found[1]})
	}
	return out
}

type choice struct{ Shape, Value string }

// For each shape (a schema of an event's data), choices returns the Go expression of the first of
// the given fields that the shape has. It omits shapes without any of these fields.
//
// In the parameter fields, three strings describe each field: its name, its expression, and its
// expression in a shape where it is optional. The third is "" if it equals the second.
func choices(shapes []shape, fields ...string) (out []choice) {
	for _, s := range shapes {
		for field := range slices.Chunk(fields, 3) {
			if s.Properties[field[0]] == nil {
				continue
			}
			value := field[1]
			if field[2] != "" && !slices.Contains(s.Required, field[0]) {
				value = field[2]
			}
			out = append(out, choice{s.Name, value})
			break
		}
	}
	return out
}
