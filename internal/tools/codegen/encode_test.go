package main

import (
	"os"
	"strings"
	"testing"
)

const createOrder = "package sample\n\nfunc createOrderRequest(id int64, body OrderCreate) request { return request{} }\n"

func TestEncode(t *testing.T) {
	dir, err := os.Getwd()
	must(t, err)
	types, err := os.ReadFile("testdata/bodies.go.txt")
	must(t, err)
	inPackage(t, map[string]string{"types.gen.go": string(types), "requests.gen.go": createOrder, "hand.go": "package sample\n\ntype Lines []Line\n"})
	got, err := encode(".")
	must(t, err)
	golden(t, dir, "encode.golden", got)
}

func TestEncodeInvalid(t *testing.T) {
	for _, row := range []struct{ name, field, want string }{
		{"no writer", "F func() `json:\"f\"`", "no writer for func()"},
		{"a type of another package", "F time.Time `json:\"f\"`", "no writer for time.Time"},
		{"a slice of slices", "F [][]string `json:\"f\"`", "no writer for a slice of []string"},
		{"a slice of bool", "F []bool `json:\"f\"`", "no writer for a slice of bool"},
		{"a map", "F map[string]string `json:\"f\"`", "no writer for map[string]string"},
		{"another Nullable", "F Nullable[int64] `json:\"f\"`", "no writer for Nullable[int64]"},
		{"a part that is a slice", "F List `json:\"f\"`", "List: only a struct can be a body or a part of one"},
		{"a pointer that may be null", "F *string `json:\"f\"`", "OrderCreate: the pointer F needs omitzero"},
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
