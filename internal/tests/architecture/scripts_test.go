package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNamedTests: if a script contains the name of a test, this test exists. If the script names a package too,
// the test exists in that package. Without this test, only a weekly step would notice that a test has moved.
func TestNamedTests(t *testing.T) {
	try := regexp.MustCompile(`(?m)^\ttry (\S+) (\S+)`)
	named := regexp.MustCompile(`\bTest[A-Z]\w*`)
	functions := map[string]bool{} // name, and directory and name
	require.NoError(t, filepath.WalkDir(root, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(name)
		dir, _ := filepath.Rel(root, filepath.Dir(name))
		for _, found := range regexp.MustCompile(`(?m)^func (Test\w+)`).FindAllStringSubmatch(string(text), -1) {
			functions[found[1]], functions[filepath.ToSlash(dir)+" "+found[1]] = true, true
		}
		return err
	}))
	for _, script := range []string{".ci/soak", ".ci/steps", ".ci/other-generators/run"} {
		text := read(t, script)
		for _, name := range named.FindAllString(text, -1) {
			assert.True(t, functions[name], "%s: no test has the name %s", script, name)
		}
		for _, found := range try.FindAllStringSubmatch(text, -1) {
			for _, name := range named.FindAllString(found[2], -1) {
				assert.True(t, functions[found[1]+" "+name], "%s: %s has no test %s", script, found[1], name)
			}
		}
	}
}
