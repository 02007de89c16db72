package documents

import (
	"go/parser"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// withoutGuarantees contains the documents without guarantees to users, with the reasons.
var withoutGuarantees = map[string]string{
	"docs/specification.md": "internal/tests/conformance tests each sentence",
	"docs/decisions.md":     "internal/tests/conformance tests each sentence",
	"docs/reference.md":     "generated from openapi.yaml",
	"docs/control-api.md":   "generated; tests run each example",
	"docs/performance.md":   "measurements",
	"docs/mutation.md":      "for contributors",
	"ARCHITECTURE.md":       "for contributors",
	"CONTRIBUTING.md":       "for contributors",
	"CHANGELOG.md":          "history",
}

var (
	guaranteeing = regexp.MustCompile(`(?i)\b(?:never|always|exactly|once|guaranteed?|found again|all of|(?:is|are) (?:kept|complete|safe)|` +
		`keeps|no duplicates?|loses? no\w*|not lost|nothing)\b`)
	immediately = regexp.MustCompile(`(?i)\bat once\b`)
	sentenceEnd = regexp.MustCompile(`[.!?:]\s+`)
	mdLink      = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	mdComment   = regexp.MustCompile(`(?s)<!--.*?-->`)
	mdItem      = regexp.MustCompile(`(?m)^\s*(?:[-*] |\d+\. )`)
	tableHead   = regexp.MustCompile(`(?m)^\|.*\n\|[-| :]+\|$`)
	rowOfTable  = regexp.MustCompile(`(?m)^\|.*$`) // each row is one sentence
	ownContents = regexp.MustCompile(`(?m)^- \[[^\]]*\]\(#[^)]*\)$`)
	noWord      = regexp.MustCompile(`[^\pL\pN]+`)
	goCode      = regexp.MustCompile(`(?m)^\t.*$`)
	docLink     = regexp.MustCompile(`\[(\w[\w.]*)\]`)
)

// guarantees returns the sentences of a document that contain a word that expresses a guarantee.
func guarantees(t *testing.T, name string) (found []string) {
	t.Helper()
	for _, text := range paragraphs(t, name) {
		for _, sentence := range sentences(strings.Join(strings.Fields(text), " ")) {
			if guaranteeing.MatchString(immediately.ReplaceAllString(codeSpan.ReplaceAllString(sentence, ""), "")) {
				found = append(found, sentence)
			}
		}
	}
	return found
}

// sentences splits a paragraph. A row of a table is one sentence.
func sentences(text string) (all []string) {
	if row, ok := strings.CutPrefix(text, "|"); ok {
		return []string{strings.TrimSpace(strings.TrimSuffix(row, "|"))}
	}
	start := 0
	for _, end := range sentenceEnd.FindAllStringIndex(text, -1) {
		if next := text[end[1]:]; strings.ToUpper(next[:1]) == next[:1] { // not an abbreviation, and no clause after a colon
			all, start = append(all, text[start:end[1]-1]), end[1]
		}
	}
	return append(all, text[start:])
}

// paragraphs returns the prose of a document, or of the documentation of a package, without code, headings and the
// targets of links.
func paragraphs(t *testing.T, name string) []string {
	t.Helper()
	text := read(t, name)
	if strings.HasSuffix(name, ".go") {
		f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.PackageClauseOnly)
		require.NoError(t, err)
		text = docLink.ReplaceAllString(goCode.ReplaceAllString(f.Doc.Text(), ""), "`$1`")
	}
	for _, skip := range []*regexp.Regexp{fence, mdComment, heading, tableHead, ownContents} {
		text = skip.ReplaceAllString(text, "")
	}
	text = mdLink.ReplaceAllString(text, "$1")
	text = rowOfTable.ReplaceAllString(text, "\n\n$0\n\n")
	return strings.Split(mdItem.ReplaceAllString(text, "\n\n"), "\n\n")
}

// guarantee is a line of testdata/guarantees.txt, "proof: sentence". The proof is one of
// noGuarantee, or the folders and names of tests.
type guarantee struct{ file, proof, sentence string }

const guaranteeList = "internal/tools/documents/testdata/guarantees.txt"

// noGuarantee are the reasons why a sentence needs no test.
var noGuarantee = []string{"-advice", "-limit", "-other"}

func listed(t *testing.T) (rows []guarantee) {
	t.Helper()
	file := ""
	for line := range strings.SplitSeq(read(t, guaranteeList), "\n") {
		proof, sentence, isRow := strings.Cut(line, ": ")
		switch {
		case strings.HasPrefix(line, "["):
			file = strings.Trim(line, "[]")
		case strings.HasPrefix(line, "#"), line == "":
		case isRow:
			rows = append(rows, guarantee{file, proof, sentence})
		default:
			t.Fatalf("%s: a line must be `folder/TestName: sentence`, got %q", guaranteeList, line)
		}
	}
	return rows
}

// same ignores white space, punctuation and case.
func same(a, b string) bool {
	return strings.EqualFold(noWord.ReplaceAllString(a, ""), noWord.ReplaceAllString(b, ""))
}

// TestGuarantees: testdata/guarantees.txt names a test for each sentence of a document that contains a guarantee. It
// contains no other sentence.
func TestGuarantees(t *testing.T) {
	rows := listed(t)
	if len(rows) < 50 {
		t.Errorf("found %d guarantees, which are too few", len(rows))
	}
	stale := slices.Clone(rows)
	for _, name := range append(allFiles(t, ".md"), allFiles(t, "doc.go")...) {
		if withoutGuarantees[name] != "" || strings.Contains("/"+name, "/internal/") {
			continue
		}
		for _, sentence := range guarantees(t, name) {
			is := func(p guarantee) bool { return p.file == name && same(p.sentence, sentence) }
			if i := slices.IndexFunc(rows, is); i >= 0 {
				checkProof(t, rows[i])
				stale = slices.DeleteFunc(stale, is)
				continue
			}
			t.Errorf("%s guarantees:\n\t%s\nAdd the line \"folder/TestName: sentence\" to %s, or change the sentence there.", name, sentence, guaranteeList)
		}
	}
	for _, p := range stale {
		t.Errorf("%s: %s does not contain this sentence: %q", guaranteeList, p.file, p.sentence)
	}
}

// checkProof reports a proof that is not a test. The groups of internal/tests/chaos are
// functions of a program that the gate runs.
func checkProof(t *testing.T, p guarantee) {
	t.Helper()
	if slices.Contains(noGuarantee, p.proof) {
		return
	}
	for proof := range strings.SplitSeq(p.proof, ", ") {
		dir, test := path.Split(proof)
		pattern := "*_test.go"
		if dir == "internal/tests/chaos/" {
			pattern = "*.go"
		} else if !isTest.MatchString(test) {
			t.Errorf("%s: %q: %s is not a test", guaranteeList, p.sentence, proof)
		}
		if !strings.Contains(source(dir, pattern), "func "+test+"(") {
			t.Errorf("%s: %q: the test %s does not exist. If you renamed it, change the list.", guaranteeList, p.sentence, proof)
		}
	}
}

var isTest = regexp.MustCompile(`^(?:Test|Fuzz|Example)`)
