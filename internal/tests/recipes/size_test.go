package recipes_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestSizes: an example is short enough to be read at once.
func TestSizes(t *testing.T) {
	isTest := regexp.MustCompile(`_test\.go$|\.test\.js$|^test_`)
	for pattern, limit := range map[string]int{"newsletter/*.go": 450, "python/signup.py": 200, "node/newsletter.js": 200} {
		lines := 0
		files, err := filepath.Glob(filepath.Join("..", "..", "..", "examples", filepath.FromSlash(pattern)))
		check(t, err)
		for _, file := range files {
			if !isTest.MatchString(filepath.Base(file)) {
				text, err := os.ReadFile(file)
				check(t, err)
				lines += bytes.Count(text, []byte("\n"))
			}
		}
		if lines == 0 || lines >= limit {
			t.Errorf("%s: %d lines, want less than %d", pattern, lines, limit)
		}
	}
}
