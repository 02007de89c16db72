package documents

import (
	"go/constant"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	qualified = regexp.MustCompile(`(?:^|[^\w./])(client|events|webhook|mockserver)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	member    = regexp.MustCompile(`(?:^|[^\w.])([A-Z]\w+)\.([A-Z]\w+)`)
	firstCell = regexp.MustCompile(`(?m)^\|[^|]*\|`)
)

// TestNames holds names in the text of documents, such as `client.Config` and
// `Emails.Send`, to the packages that applications import.
func TestNames(t *testing.T) {
	packages := map[string]*types.Package{}
	paths := []string{known()["client"], known()["events"], known()["webhook"], known()["mockserver"]}
	load := loader(t, ".", paths)
	for _, path := range paths {
		p, err := load.Import(path)
		must(t, err)
		packages[p.Name()] = p
	}
	seen := 0
	for _, name := range documents(t) {
		text := fence.ReplaceAllString(read(t, name), "")
		if name == "docs/coming-from.md" {
			text = firstCell.ReplaceAllString(text, "|") // names of other libraries
		}
		if name == "CHANGELOG.md" {
			continue // has the names of its time
		}
		for _, span := range codeSpan.FindAllString(text, -1) {
			span = strings.Trim(span, "`")
			for _, m := range qualified.FindAllStringSubmatch(span, -1) {
				seen++
				o := packages[m[1]].Scope().Lookup(m[2])
				if o == nil || m[3] != "" && !has(o, m[3]) {
					t.Errorf("%s: %q: package %s has no %s", name, span, m[1], strings.TrimPrefix(m[0], m[1]+"."))
				}
			}
			for _, m := range member.FindAllStringSubmatch(span, -1) {
				if found := named(packages, m[1]); len(found) > 0 && !isEvent(packages["events"], m[1]+"."+m[2]) {
					seen++
					if !slices.ContainsFunc(found, func(o types.Object) bool { return has(o, m[2]) }) {
						t.Errorf("%s: %q: no %s has a member %s", name, span, m[1], m[2])
					}
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("%d names: where are the others?", seen)
	}
}

// named returns what the packages call by a name.
func named(packages map[string]*types.Package, name string) (all []types.Object) {
	for _, p := range packages {
		if o := p.Scope().Lookup(name); o != nil {
			all = append(all, o)
		}
	}
	return all
}

// has reports whether a type has a field or a method.
func has(o types.Object, name string) bool {
	found, _, _ := types.LookupFieldOrMethod(o.Type(), true, o.Pkg(), name)
	return found != nil
}

// isEvent reports whether a text is the name of an event, which looks like a
// member.
func isEvent(p *types.Package, text string) bool {
	for _, name := range p.Scope().Names() {
		if c, ok := p.Scope().Lookup(name).(*types.Const); ok && c.Val().Kind() == constant.String && constant.StringVal(c.Val()) == text {
			return true
		}
	}
	return false
}
