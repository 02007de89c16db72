package main

import "testing"

func TestComments(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"a type": {
			in:   "// Contact A member of a list.\ntype Contact struct {",
			want: "// Contact is a member of a list.\ntype Contact struct {",
		},
		"which": {
			in:   "// Pagination Which page this is.\ntype Pagination struct {",
			want: "// Pagination says which page this is.\ntype Pagination struct {",
		},
		"something else": {
			in:   "// Import Contacts to add.\ntype Import struct {",
			want: "// Import: Contacts to add.\ntype Import struct {",
		},
		"a sentence": {
			in:   "// Contact is a member.\ntype Contact struct {",
			want: "// Contact is a member.\ntype Contact struct {",
		},
		"a field": {in: "\t// Email The address.\n\tEmail string", want: "\t// The address.\n\tEmail string"},
		"two lines": {
			in:   "\t// Email The address.\n\t// Or none.\n\tEmail string",
			want: "\t// The address.\n\t// Or none.\n\tEmail string",
		},
		"code": {in: "\t// Sort `field:asc`.\n\tSort string", want: "\t// `field:asc`.\n\tSort string"},
		"another field": {
			in:   "\t// Email The address.\n\tPhone string",
			want: "\t// Email The address.\n\tPhone string",
		},
		"a pointer":   {in: "\tList *ListRef `json:\"list\"`", want: "\tList *ListRef `json:\"list,omitzero\"`"},
		"a parameter": {in: "\tPage int64 `form:\"page\" json:\"page\"`", want: "\tPage int64"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(comments([]byte(tc.in))); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
		})
	}
}

func TestInlineAliases(t *testing.T) {
	aliases := map[string]string{}
	types := "package p\n\n// ID is an id.\ntype ID = int64\n\n" +
		"type T struct {\n\tA ID\n\tB Other\n\tC *ID\n}\n\ntype Other = T\n"
	got, err := inlineAliases([]byte(types), aliases)
	if want := "package p\n\n\n\ntype T struct {\n\tA int64\n\tB Other\n\tC *int64\n}\n\ntype Other = T\n"; err != nil ||
		string(got) != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	got, err = inlineAliases([]byte("package p\n\nfunc f(a, b ID, t T) {}\n"), aliases)
	if want := "package p\n\nfunc f(a, b int64, t T) {}\n"; err != nil || string(got) != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if _, err := inlineAliases([]byte("not Go"), aliases); err == nil {
		t.Error("no error for what is not Go")
	}
}

func TestUncapitalized(t *testing.T) {
	got := uncapitalized([]byte("// Ask is a body.\ntype Ask struct{}\nfunc f(a *Ask, b Asked, c TaskAsk)"), []string{"Ask"})
	if want := "// ask is a body.\ntype ask struct{}\nfunc f(a *ask, b Asked, c TaskAsk)"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
