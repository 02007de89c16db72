package documents

import (
	"encoding/json"
	"go/constant"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	qualified = regexp.MustCompile(`(?:^|[^\w./])(client|events|webhook|mockserver|mailroom)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)
	member    = regexp.MustCompile(`(?:^|[^\w.])([A-Z]\w+)\.([A-Z]\w+)`)
	firstCell = regexp.MustCompile(`(?m)^\|[^|]*\|`)
)

// TestNames checks that names in documents, such as `client.Config` and `Emails.Send`, exist in the packages that
// applications import.
func TestNames(t *testing.T) {
	packages := map[string]*types.Package{}
	paths := []string{known()["client"], known()["events"], known()["webhook"], known()["mockserver"], known()["mailroom"]}
	load := loader(t, ".", paths)
	for _, path := range paths {
		p, err := load.Import(path)
		require.NoError(t, err)
		packages[p.Name()] = p
	}
	events := map[string]bool{} // names of events, which look like fields
	for _, name := range packages["events"].Scope().Names() {
		if c, ok := packages["events"].Scope().Lookup(name).(*types.Const); ok && c.Val().Kind() == constant.String {
			events[constant.StringVal(c.Val())] = true
		}
	}
	seen := 0
	for _, name := range documents(t) {
		text := fence.ReplaceAllString(read(t, name), "")
		if name == "docs/coming-from.md" {
			text = firstCell.ReplaceAllString(text, "|") // names of other libraries
		}
		if name == "CHANGELOG.md" {
			continue // contains old names
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
				var found []types.Object
				for _, p := range packages {
					if o := p.Scope().Lookup(m[1]); o != nil {
						found = append(found, o)
					}
				}
				if len(found) == 0 || events[m[1]+"."+m[2]] {
					continue
				}
				seen++
				if !slices.ContainsFunc(found, func(o types.Object) bool { return has(o, m[2]) }) {
					t.Errorf("%s: %q: no %s has a member %s", name, span, m[1], m[2])
				}
			}
		}
	}
	if seen < 100 {
		t.Errorf("found %d names, which are too few", seen)
	}
}

// has reports whether a type has a field or a method.
func has(o types.Object, name string) bool {
	found, _, _ := types.LookupFieldOrMethod(o.Type(), true, o.Pkg(), name)
	return found != nil
}

// untested are the languages of blocks that no test checks, with the reasons.
var untested = map[string]string{
	"java":   "needs Docker and Java",
	"nginx":  "TestBehindProxy of the console has a proxy that does the same",
	"python": "needs Docker",
	"text":   "a drawing or a table",
	"toml":   "no parser; the JSON above it contains the same",
	"ts":     "npm/test/documents.test.ts holds the blocks of npm/README.md to tested files; the others need Docker",
}

// drawn matches a drawing, a table or a comment in Markdown.
var drawn = regexp.MustCompile(`\A.*\S {2,}\S|─|\A<!--`)

// variable matches a variable of the command mockserver. Only npm/src/mock.ts reads MOCKSERVER_URL.
var variable = regexp.MustCompile(`\bMOCKSERVER_[A-Z]\w*`)

// TestOtherBlocks checks code blocks that are neither Go nor shell, in documents and comments. JSON and YAML must be
// valid. The environment variables of mockserver in YAML must exist. The map untested contains the languages that
// TestOtherBlocks accepts without a check. A block without a language must be a drawing or a table. TestOtherBlocks
// rejects all other blocks, because they are probably Go code with an error.
func TestOtherBlocks(t *testing.T) {
	for _, b := range blocks(t) {
		switch {
		case b.language == "go", b.language == "sh", untested[b.language] != "":
		case b.language == "json":
			if !json.Valid([]byte(b.code)) {
				t.Errorf("%s: not JSON:\n%s", b.file, b.code)
			}
		case b.language == "yaml":
			assert.YAMLEq(t, b.code, b.code, b.file) //nolint:testifylint // it parses the code
			for _, name := range variable.FindAllString(b.code, -1) {
				if name != "MOCKSERVER_URL" && !strings.Contains(read(t, "docs/mockserver.md"), "| `"+name+"` |") {
					t.Errorf("%s: the variable %s does not exist", b.file, name)
				}
			}
		case b.language != "" || !drawn.MatchString(b.code):
			t.Errorf("%s: no test checks the block %q (%s)", b.file, b.first(), b.language)
		}
	}
}
