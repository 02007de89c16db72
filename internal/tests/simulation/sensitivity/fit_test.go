package main

import (
	"path/filepath"
	"testing"
)

// TestFit: each mistake fits the code as it is.
func TestFit(t *testing.T) {
	t.Chdir(filepath.Join("..", "..", "..", ".."))
	for _, b := range breaks() {
		if _, err := b.overlay(t.TempDir()); err != nil {
			t.Errorf("%s: %v", b.name, err)
		}
	}
}
