package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tools/try"
)

// inPackage writes files into a new directory and makes it the working directory.
func inPackage(t *testing.T, files map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	t.Chdir(dir)
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
			if _, err := decode(".", formats{}); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("error is %v", err)
			}
		})
	}
}

func TestDecodeResponsesInvalid(t *testing.T) {
	for _, row := range []struct {
		name, schema   string
		responseFormat responseFormat
		want           string
	}{
		{"an unknown type", "U", responseFormat{Required: "a"}, "x-responses: type U has no reader"},
		{"no required field", "T", responseFormat{Aliases: map[string]string{"id": "a"}}, "x-responses: T must have a required field"},
		{"an unknown required field", "T", responseFormat{Required: "b"}, `x-responses: T has no field "b"`},
		{"an alias of nothing", "T", responseFormat{Aliases: map[string]string{"id": "b"}}, `x-responses: T has no field "b"`},
		{"an alias that is a member", "T", responseFormat{Aliases: map[string]string{"a": "c"}}, `x-responses: T has a field "a", so this name must not be an alias`},
		{"an object that is a member", "T", responseFormat{Aliases: map[string]string{"a/x": "c"}}, `x-responses: T has a field "a", so this name must not be an alias`},
		{"a reader of nothing", "T", responseFormat{Readers: map[string]string{"b": "readB"}}, `x-responses: T has no field "b"`},
	} {
		t.Run(row.name, func(t *testing.T) {
			inPackage(t, map[string]string{
				"types.gen.go": "package sample\n\ntype T struct {\n\tA int64 `json:\"a\"`\n\tC int64 `json:\"c\"`\n}\n",
				"hand.go":      "package sample\n\nvar read = readT\n",
			})
			formats := formats{Envelope: "data", Schemas: map[string]responseFormat{"T": {Required: "a"}, row.schema: row.responseFormat}}
			if _, err := decode(".", formats); err == nil || err.Error() != row.want {
				t.Errorf("error is %v", err)
			}
		})
	}
	inPackage(t, map[string]string{"no.yaml": "overlay: 1.0.0\n", "bad.yaml": "x-responses: [\n"})
	for _, path := range []string{"no.yaml", "bad.yaml", "gone.yaml"} {
		assert.Error(t, try.Run(func() { readFormats(path, nil) }), "%s: no error", path)
	}
}

const createOrder = "package sample\n\nfunc createOrderRequest(id int64, body OrderCreate) request { return request{} }\n"

func TestEncodeInvalid(t *testing.T) {
	for _, row := range []struct{ name, field, want string }{
		{"no writer", "F func() `json:\"f\"`", "no writer for func()"},
		{"a type of another package", "F time.Time `json:\"f\"`", "no writer for time.Time"},
		{"a slice of slices", "F [][]string `json:\"f\"`", "no writer for a slice of []string"},
		{"a slice of bool", "F []bool `json:\"f\"`", "no writer for a slice of bool"},
		{"a map", "F map[string]string `json:\"f\"`", "no writer for map[string]string"},
		{"another Nullable", "F Nullable[int64] `json:\"f\"`", "no writer for Nullable[int64]"},
		{"a part that is a slice", "F List `json:\"f\"`", "List: a request body and its parts must be structs"},
		{"a pointer that may be null", "F *string `json:\"f\"`", "OrderCreate: the pointer F must have the option omitzero"},
		{"no tag", "F string", "OrderCreate: every field needs a name and a json tag"},
		{"not Go", "}", "types.gen.go"},
	} {
		t.Run(row.name, func(t *testing.T) {
			inPackage(t, map[string]string{
				"types.gen.go":    "package sample\n\ntype List []string\n\ntype OrderCreate struct {\n\t" + row.field + "\n}\n",
				"requests.gen.go": createOrder,
			})
			if _, err := encode("."); err == nil || !strings.Contains(err.Error(), row.want) {
				t.Errorf("error is %v", err)
			}
		})
	}
	inPackage(t, map[string]string{"types.gen.go": "package sample\n"})
	if _, err := encode("."); err == nil {
		t.Error("no error without requests")
	}
}
