package control

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver/internal/world"
)

// TestManual holds docs/control.md against the routes that there are.
func TestManual(t *testing.T) {
	manual, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "control.md"))
	if err != nil {
		t.Fatal(err)
	}
	var described []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Z*]+ )"+Prefix+"([^`]*)`").FindAllSubmatch(manual, -1) {
		described = append(described, string(row[1])+string(row[2]))
	}
	c := &Control{World: &world.World{}}
	there := slices.Concat(slices.Collect(maps.Keys(c.answers())), slices.Collect(maps.Keys(c.pages())))
	for _, pattern := range there {
		if !slices.Contains(described, pattern) {
			t.Errorf("docs/control.md does not describe %s", pattern)
		}
	}
	for _, pattern := range described {
		if !slices.Contains(there, pattern) {
			t.Errorf("docs/control.md describes %s, which is no route", pattern)
		}
	}
	if !strings.Contains(string(manual), "event: hello") {
		t.Error("docs/control.md does not describe the stream")
	}
}
