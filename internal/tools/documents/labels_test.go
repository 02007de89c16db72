package documents

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestLabels: docs/decisions.md marks what is uncertain only with the labels that its beginning explains, at the start
// of a paragraph.
func TestLabels(t *testing.T) {
	text := read(t, "docs/decisions.md")
	assert.NotRegexp(t, `(?i)\((?:tolerant|assumed|assumption)\b`, text)
	assert.NotRegexp(t, `(?i)\bis an\s+assumption\b`, text, "begin the paragraph with **Assumption.**")
	for _, m := range regexp.MustCompile(`(?m)^(.*)\*\*(\w+)\.\*\*`).FindAllStringSubmatch(text, -1) {
		assert.Contains(t, []string{"", "- "}, m[1], "the label %s is inside of a paragraph", m[2])
		assert.Contains(t, []string{"Assumption", "Requirement"}, m[2])
	}
}
