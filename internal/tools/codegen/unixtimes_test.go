package main

import (
	"os"
	"strings"
	"testing"
)

// TestUnixTimes checks which types get methods, and what replaces the types of their times.
func TestUnixTimes(t *testing.T) {
	inPackage(t, map[string]string{
		"types.gen.go": "package sample\n\nimport \"time\"\n\n// A is one.\ntype A struct {\n\tB B `json:\"b\"`\n\tISO time.Time `json:\"iso\"`\n}\n\n" +
			"type B struct {\n\t// At When, in Unix seconds.\n\tAt UnixTime `json:\"at\"`\n\tEnd Null[UnixTime] `json:\"end\"`\n\tName string `json:\"name\"`\n}\n",
		"hand.go": "package sample\n\nvar read = readA\n",
	})
	must(t, writeUnixTimes("."))
	for name, want := range map[string][]string{
		"types.gen.go":  {"\tISO time.Time `json:\"iso\"`", "\t// When.\n\tAt   time.Time `json:\"at\"`\n\tEnd  time.Time `json:\"end\"`"},
		"decode.gen.go": {"v.ISO = readTime(c)", "v.At = readUnixTime(c)", "v.End = readUnixTime(c)"},
		"times.gen.go": {
			"func (v B) MarshalJSON() ([]byte, error) { return marshal(&v) }",
			"\tw.Name(`\"at\":`)\n\twriteUnixTime(w, v.At)\n\tw.Name(`\"end\":`)\n\twriteNullUnixTime(w, v.End)\n",
			"func (v *B) UnmarshalJSON(b []byte) error { return unmarshal(b, v, readB) }",
		},
	} {
		got, err := os.ReadFile(name)
		must(t, err)
		for _, text := range want {
			if !strings.Contains(string(got), text) {
				t.Errorf("no %q in\n%s", text, got)
			}
		}
		if strings.Contains(string(got), "UnixTime]") || strings.Contains(string(got), "*A)") {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}
