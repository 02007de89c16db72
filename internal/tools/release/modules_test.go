package main

import (
	"strings"
	"testing"
)

func TestNextVersion(t *testing.T) {
	for last, want := range map[string]string{"": "v0.1.0", "v0.1.0": "v0.2.0", "v0.9.4": "v0.10.0", "v1.2.3": "v1.3.0"} {
		if got := following(last); got != want {
			t.Errorf("%q: %s, want %s", last, got, want)
		}
	}
}

func TestTags(t *testing.T) {
	for m, want := range map[string]string{".": "v0.1.0", "contrib/pgstore": "contrib/pgstore/v0.1.0"} {
		if got := (module{dir: m}).tag("v0.1.0"); got != want {
			t.Errorf("%s: %s, want %s", m, got, want)
		}
	}
}

func TestUnknownModules(t *testing.T) {
	files := []string{"go.mod", "client/client.go", "mcp/go.mod", "internal/benchmarks/go.mod", "examples/durable/go.mod", "mockserver/console/e2e/go.mod"}
	if err := (&stage{files: files}).whole(); err != nil {
		t.Error(err)
	}
	err := (&stage{files: append(files, "contrib/new/go.mod", "internals/go.mod")}).whole()
	if err == nil || !strings.Contains(err.Error(), "contrib/new is") || !strings.Contains(err.Error(), "internals is") {
		t.Errorf("two modules that nobody knows: %v", err)
	}
}
