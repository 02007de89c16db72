package documents

import (
	"go/parser"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const questions = "docs/how-do-i.md"

// TestQuestions: each question of the page has a solution, whose code is short.
func TestQuestions(t *testing.T) {
	sections := strings.Split(read(t, questions), "\n### ")[1:]
	if len(sections) < 40 {
		t.Errorf("found %d questions, which are too few", len(sections))
	}
	for _, section := range sections {
		question, solution, _ := strings.Cut(section, "\n")
		solution, _, _ = strings.Cut(solution, "\n## ")
		assert.True(t, strings.HasSuffix(question, "?"), "%q is not a question", question)
		code := fence.FindAllStringSubmatch(solution, -1)
		if len(code) == 0 && !strings.Contains(solution, "The API ") && !inlineLink.MatchString(solution) {
			t.Errorf("%s: the solution has neither code nor a link, and does not say that the API has none", question)
		}
		for _, m := range code {
			assert.LessOrEqual(t, statementLines(m[3]), 10, "%s: lines of code", question)
		}
	}
}

// statementLines counts the lines of code without comments and without the first and last line of a function.
func statementLines(code string) (lines int) {
	for line := range strings.Lines(code) {
		if text := strings.TrimSpace(line); text != "" && !strings.HasPrefix(text, "//") {
			lines++
		}
	}
	if _, err := parser.ParseFile(fset, "", "package p\n"+code, parser.SkipObjectResolution); err == nil {
		lines -= 2
	}
	return lines
}
