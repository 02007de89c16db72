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
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	t.Chdir(dir)
}

// golden holds got against a file below dir.
func golden(t *testing.T, dir, name string, got []byte) {
	t.Helper()
	path := filepath.Join(dir, "testdata", name)
	if *update {
		must(t, os.WriteFile(path, got, 0o600))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if string(got) != string(want) {
		t.Errorf("got\n%s", got)
	}
}

func TestDecode(t *testing.T) {
	dir, err := os.Getwd()
	must(t, err)
	types, err := os.ReadFile("testdata/types.go.txt")
	must(t, err)
	inPackage(t, map[string]string{
		"types.gen.go":   string(types),
		"hand.go":        "package sample\n\nvar read, also = readOrder, readLines\n",
		"hand_test.go":   "package sample\n\nvar test = readNotNeeded\n",
		"decode.gen.go":  "package sample\n\nvar old = readNotNeeded\n",
		"unrelated.text": "readNotNeeded",
	})
	got, err := decode(".", nil)
	must(t, err)
	golden(t, dir, "decode.golden", got)
}

func TestDecodeOptional(t *testing.T) {
	inPackage(t, map[string]string{
		"types.gen.go": "package sample\n\ntype T struct {\n\tA int64 `json:\"a\"`\n\tB *int64 `json:\"b,omitzero\"`\n}\n",
		"hand.go":      "package sample\n\nvar read = readT\n",
	})
	got, err := decode(".", &answers{Schemas: map[string]*spelling{"T": {Promised: "a"}}})
	must(t, err)
	for _, want := range []string{
		"v.A = c.Int()\n",
		"v.B = jsonscan.Optional(c, func(c *jsonscan.Cursor) *int64 { return jsonscan.Pointer(c, (*jsonscan.Cursor).Int) })\n",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
}

func TestDecodeInvalid(t *testing.T) {
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
			if _, err := decode(".", nil); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

// TestDecodeResponses writes readers of answers that may be spelled otherwise.
func TestDecodeResponses(t *testing.T) {
	dir, err := os.Getwd()
	must(t, err)
	types, err := os.ReadFile("testdata/answers.go.txt")
	must(t, err)
	answers, err := readAnswers("testdata/answers.overlay.yaml")
	must(t, err)
	answers.order = map[string][]string{"Item": {"name", "index", "done"}, "Hook": {"names"}} // not all of Hook's
	inPackage(t, map[string]string{
		"types.gen.go": string(types),
		"hand.go":      "package sample\n\nvar read, also = readHook, readHookPage\n",
	})
	got, err := decode(".", answers)
	must(t, err)
	golden(t, dir, "answers.golden", got)
}

func TestDecodeResponsesInvalid(t *testing.T) {
	for _, row := range []struct {
		name, schema string
		spelling     spelling
		want         string
	}{
		{"an unknown type", "U", spelling{Promised: "a"}, "x-responses: nothing reads a U"},
		{"no promise", "T", spelling{Aliases: map[string]string{"id": "a"}}, "x-responses: which member does a T promise?"},
		{"an unknown promise", "T", spelling{Promised: "b"}, `x-responses: T has no field "b"`},
		{"an alias of nothing", "T", spelling{Aliases: map[string]string{"id": "b"}}, `x-responses: T has no field "b"`},
		{"an alias that is a member", "T", spelling{Aliases: map[string]string{"a": "c"}}, `x-responses: T has a field "a", which is not an alias`},
		{"an object that is a member", "T", spelling{Aliases: map[string]string{"a/x": "c"}}, `x-responses: T has a field "a", which is not an alias`},
		{"a reader of nothing", "T", spelling{Readers: map[string]string{"b": "readB"}}, `x-responses: T has no field "b"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			inPackage(t, map[string]string{
				"types.gen.go": "package sample\n\ntype T struct {\n\tA int64 `json:\"a\"`\n\tC int64 `json:\"c\"`\n}\n",
				"hand.go":      "package sample\n\nvar read = readT\n",
			})
			answers := &answers{Envelope: "data", Schemas: map[string]*spelling{"T": {Promised: "a"}, row.schema: &row.spelling}}
			if _, err := decode(".", answers); err == nil || err.Error() != row.want {
				t.Errorf("error is %v", err)
			}
		})
	}
	inPackage(t, map[string]string{"no.yaml": "overlay: 1.0.0\n", "bad.yaml": "x-responses: [\n"})
	for _, path := range []string{"no.yaml", "bad.yaml", "gone.yaml"} {
		if _, err := readAnswers(path); err == nil {
			t.Errorf("%s: no error", path)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
