package control

import (
	_ "embed"
	"strings"
	"sync"
)

// manual is the manual without the parameters and types of the routes.
//
//go:embed manual.tmpl
var manual string

// entry is the text of a section or a route in the manual.
type entry struct {
	title   string // of a section, or the method and the path of a route
	text    string // Markdown
	example string // a curl command of a route
}

// entries returns the sections of the manual, each followed by its routes.
var entries = sync.OnceValue(func() (out []entry) {
	for _, part := range strings.Split(manual, "\n##")[1:] {
		title, rest, _ := strings.Cut(part, "\n")
		text, example, _ := strings.Cut(rest, "```sh\n")
		example, _, _ = strings.Cut(example, "\n")
		out = append(out, entry{strings.Trim(title, "# `"), strings.TrimSpace(text), example})
	}
	return out
})
