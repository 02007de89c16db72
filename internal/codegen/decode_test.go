package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden file")

// inPackage writes files into a new directory and makes it the working directory.
func inPackage(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
}

func TestDecode(t *testing.T) {
	golden, err := filepath.Abs("testdata/decode.golden")
	if err != nil {
		t.Fatal(err)
	}
	types, err := os.ReadFile("testdata/types.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	inPackage(t, map[string]string{
		"types.gen.go":   string(types),
		"hand.go":        "package sample\n\nvar read, also = readOrder, readLines\n",
		"hand_test.go":   "package sample\n\nvar test = readNotNeeded\n",
		"decode.gen.go":  "package sample\n\nvar old = readNotNeeded\n",
		"unrelated.text": "readNotNeeded",
	})
	got, err := decode(".", false)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(golden, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("got\n%s", got)
	}
}

func TestDecodeOptional(t *testing.T) {
	inPackage(t, map[string]string{
		"types.gen.go": "package sample\n\ntype T struct {\n\tA int64 `json:\"a\"`\n\tB *int64 `json:\"b,omitzero\"`\n}\n",
		"hand.go":      "package sample\n\nvar read = readT\n",
	})
	got, err := decode(".", true)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"v.A = c.Int()\n",
		"v.B = jsonscan.Optional(c, func(c *jsonscan.Cursor) *int64 { return jsonscan.Pointer(c, (*jsonscan.Cursor).Int) })\n",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, row := range []struct{ name, field, want string }{
		{"no reader", "F func() `json:\"f\"`", "no reader for func()"},
		{"an inner struct", "F struct{} `json:\"f\"`", "no reader for struct{}"},
		{"no tag", "F string", "T: every field needs a name and a json tag"},
		{"no name", "string `json:\"f\"`", "T: every field needs a name and a json tag"},
		{"not Go", "}", "types.gen.go"},
	} {
		t.Run(row.name, func(t *testing.T) {
			inPackage(t, map[string]string{
				"types.gen.go": "package sample\n\ntype T struct {\n\t" + row.field + "\n}\n",
				"hand.go":      "package sample\n\nvar read = readT\n",
			})
			if _, err := decode(".", false); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("error is %v", err)
			}
		})
	}
}
