package main

import "testing"

func TestComments(t *testing.T) {
	for name, tc := range map[string]struct{ in, want string }{
		"a type":         {"// Contact A member of a list.\ntype Contact struct {", "// Contact is a member of a list.\ntype Contact struct {"},
		"which":          {"// Pagination Which page this is.\ntype Pagination struct {", "// Pagination says which page this is.\ntype Pagination struct {"},
		"something else": {"// Import Contacts to add.\ntype Import struct {", "// Import: Contacts to add.\ntype Import struct {"},
		"a sentence":     {"// Contact is a member.\ntype Contact struct {", "// Contact is a member.\ntype Contact struct {"},
		"a field":        {"\t// Email The address.\n\tEmail string", "\t// The address.\n\tEmail string"},
		"two lines":      {"\t// Email The address.\n\t// Or none.\n\tEmail string", "\t// The address.\n\t// Or none.\n\tEmail string"},
		"code":           {"\t// Sort `field:asc`.\n\tSort string", "\t// `field:asc`.\n\tSort string"},
		"another field":  {"\t// Email The address.\n\tPhone string", "\t// Email The address.\n\tPhone string"},
		"a pointer":      {"\tList *ListRef `json:\"list\"`", "\tList *ListRef `json:\"list,omitzero\"`"},
		"a parameter":    {"\tPage int64 `form:\"page\" json:\"page\"`", "\tPage int64"},
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
	types := "package p\n\n// ID is an id.\ntype ID = int64\n\ntype T struct {\n\tA ID\n\tB Other\n\tC *ID\n}\n\ntype Other = T\n"
	got, err := inlineAliases([]byte(types), aliases)
	if want := "package p\n\n\n\ntype T struct {\n\tA int64\n\tB Other\n\tC *int64\n}\n\ntype Other = T\n"; err != nil || string(got) != want {
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
