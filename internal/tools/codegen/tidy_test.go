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
	for _, tc := range []struct{ in, want string }{
		{
			in: "package p\n\n// ID is an id.\ntype ID = int64\n\n" +
				"// T has an ID of ID type.\ntype T struct {\n\t// ID has an ID type.\n\tID ID\n\tB Other\n\tC *ID\n\tD IDs\n}\n\ntype Other = T\n",
			want: "package p\n\n\n// T has an ID of ID type.\ntype T struct {\n\t// ID has an ID type.\n\tID int64\n\tB Other\n\tC *int64\n\tD IDs\n}\n\ntype Other = T\n",
		},
		{in: "package p\n\nfunc f(a, b ID, t T) {}\n", want: "package p\n\nfunc f(a, b int64, t T) {}\n"},
	} {
		if got := string(inlineAliases([]byte(tc.in), aliases)); got != tc.want {
			t.Errorf("got %q; want %q", got, tc.want)
		}
	}
}

func TestUncapitalized(t *testing.T) {
	got := uncapitalized([]byte("// Ask is a body.\ntype Ask struct{}\nfunc f(a *Ask, b Asked, c TaskAsk)"), []string{"Ask"})
	if want := "// ask is a body.\ntype ask struct{}\nfunc f(a *ask, b Asked, c TaskAsk)"; string(got) != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
