package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// What the go command passes over has no page of documentation, and needs none;
// what it finds does.
func TestDocumentModule(t *testing.T) {
	home := t.TempDir()
	for _, dir := range []string{".ci/stock", "_old", "testdata", "internal/a", "examples/b"} {
		if err := write(filepath.Join(home, filepath.FromSlash(dir)), map[string]string{"a.go": "package a\n"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := documentModule(published()[0], home); err != nil {
		t.Error(err)
	}
	if err := write(filepath.Join(home, "client"), map[string]string{"a.go": "package client\n"}); err != nil {
		t.Fatal(err)
	}
	err := documentModule(published()[0], home)
	if err == nil || !strings.Contains(err.Error(), root+"/client begins with") || !strings.Contains(err.Error(), "neither an example") {
		t.Errorf("a package without a comment: %v", err)
	}
}
