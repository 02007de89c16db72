package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	yaml "github.com/oasdiff/yaml3"
)

// eventSection is an event. One with several shapes has a line for each member of
// any of them.
type eventSection struct {
	Name, Summary, Description, Envelope string
	Types                                []string // of Go
	Shapes                               []section
	Rows                                 []shapesRow
}

// shapesRow is a member and what it takes in each shape.
type shapesRow struct {
	Name, Description string
	Kinds             []string
}

func (w writer) events() (out []eventSection) {
	for _, e := range w.doc.events {
		of := w.root.at("webhooks", e.Name, "post")
		envelope := "ComplianceEvent"
		if e.General {
			envelope = "GeneralEvent"
		}
		section := eventSection{
			Name:        e.Name,
			Summary:     cell(of.text("summary")),
			Description: strings.TrimSpace(of.text("description")),
			Envelope:    fmt.Sprintf("[%s](#%s)", envelope, anchor(envelope)),
		}
		for _, s := range e.Shapes {
			data := w.section(s.Name)
			data.Description = cell(data.Description)
			section.Types = append(section.Types, data.Go)
			section.Shapes = append(section.Shapes, data)
		}
		section.Rows = rowsOf(section.Shapes)
		out = append(out, section)
	}
	return out
}

// rowsOf puts the members of shapes beside each other.
func rowsOf(shapes []section) (rows []shapesRow) {
	for i, s := range shapes {
		for _, m := range s.Members {
			at := slices.IndexFunc(rows, func(r shapesRow) bool { return r.Name == m.Name })
			if at < 0 {
				at = len(rows)
				rows = append(rows, shapesRow{m.Name, m.Description, slices.Repeat([]string{"no"}, len(shapes))})
			}
			if !strings.Contains(rows[at].Description, m.Description) {
				rows[at].Description += " " + m.Description
			}
			rows[at].Kinds[i] = m.Kind
			if m.Optional {
				rows[at].Kinds[i] += ", optional"
			}
		}
	}
	return rows
}

// renamedSchemas returns the schemas that an overlay renames in Go, by their Go
// names.
func renamedSchemas(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var overlay struct {
		Actions []struct {
			Target string `yaml:"target"`
			Update struct {
				Name string `yaml:"x-go-name"`
			} `yaml:"update"`
		} `yaml:"actions"`
	}
	if err := yaml.Unmarshal(text, &overlay); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	out := map[string]string{}
	for _, action := range overlay.Actions {
		if name, ok := strings.CutPrefix(action.Target, "$.components.schemas."); ok && action.Update.Name != "" && !strings.Contains(name, ".") {
			out[action.Update.Name] = name
		}
	}
	return out, nil
}
