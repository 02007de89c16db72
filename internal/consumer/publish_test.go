package main

import (
	"slices"
	"testing"
)

func TestBelonging(t *testing.T) {
	files := []string{"go.mod", "client/a.go", "contrib/x/go.mod", "contrib/x/x.go", "contrib/x/sub/y.go", "contrib/x/own/go.mod", "contrib/x/own/z.go", "contrib/xy/a.go"}
	nested := []string{"contrib/x/", "contrib/x/own/"}
	for _, tt := range []struct {
		module string
		want   []string
	}{
		{".", []string{"go.mod", "client/a.go", "contrib/xy/a.go"}},
		{"contrib/x", []string{"contrib/x/go.mod", "contrib/x/x.go", "contrib/x/sub/y.go"}},
		{"contrib/x/own", []string{"contrib/x/own/go.mod", "contrib/x/own/z.go"}},
	} {
		if got := belonging(files, tt.module, nested); !slices.Equal(got, tt.want) {
			t.Errorf("%s has %q, want %q", tt.module, got, tt.want)
		}
	}
}
