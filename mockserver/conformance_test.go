package mockserver_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
)

var printCoverage = flag.Bool("conformance", false, "print which tests prove which piece of the specification")

// piece is a line of testdata/conformance.txt: a quotation and the id that its
// tests name, or the reason why it has none.
type piece struct {
	id       string
	document string
	quote    string
}

func (p piece) isBehaviour() bool { return !strings.HasPrefix(p.id, "-") }

var conformanceList = sync.OnceValues(func() ([]piece, error) {
	raw, err := os.ReadFile(filepath.Join("testdata", "conformance.txt"))
	if err != nil {
		return nil, err
	}
	var pieces []piece
	document := ""
	for n, line := range strings.Split(string(raw), "\n") {
		name, isDocument := strings.CutPrefix(line, "[")
		id, quote, isPiece := strings.Cut(line, ": ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case isDocument:
			document = strings.TrimSuffix(name, "]")
		case isPiece:
			pieces = append(pieces, piece{id, document, quote})
		default:
			return nil, fmt.Errorf("conformance.txt:%d: want `id: quotation`", n+1)
		}
	}
	return pieces, nil
})

// TestConformanceList proves that the list is the documents, the whole
// documents and nothing but the documents: its quotations follow each other in
// them, and no letter or digit is left out between two.
func TestConformanceList(t *testing.T) {
	pieces, err := conformanceList()
	if err != nil {
		t.Fatal(err)
	}
	rest := map[string]string{}
	seen := map[string]bool{}
	for _, p := range pieces {
		text, open := rest[p.document]
		if !open {
			text = readDocument(t, p.document)
		}
		skipped, after, found := strings.Cut(text, p.quote)
		if !found {
			t.Fatalf("%s: not a quotation of %s, or not in its order: %q", p.id, p.document, p.quote)
		}
		if strings.ContainsFunc(skipped, isWord) {
			t.Errorf("%s: the list leaves out, before %q: %q", p.document, p.quote, strings.TrimSpace(skipped))
		}
		if p.isBehaviour() && seen[p.id] {
			t.Errorf("%s: two quotations have this id", p.id)
		}
		seen[p.id] = true
		rest[p.document] = after
	}
	for document, text := range rest {
		if strings.ContainsFunc(text, isWord) {
			t.Errorf("%s: the list leaves out its end: %q", document, text)
		}
	}
}

func readDocument(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(raw), "\r\n", "\n")
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// rule is a test of what the documents say.
type rule struct {
	name   string
	covers string // ids of testdata/conformance.txt
	test   func(w *world)
}

// conform runs every rule on a platform of its own.
func conform(t *testing.T, rules []rule) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			covers(t, r.covers)
			inBubble(t, r.test)
		})
	}
}

// proof collects which tests proved which pieces.
var proof = struct {
	sync.Mutex
	tests map[string][]string
}{tests: map[string][]string{}}

// covers says which pieces of the documents the test proves, if it passes.
func covers(t *testing.T, ids string) {
	t.Helper()
	pieces, err := conformanceList()
	if err != nil {
		t.Fatal(err)
	}
	for id := range strings.FieldsSeq(ids) {
		if !slices.ContainsFunc(pieces, func(p piece) bool { return p.id == id && p.isBehaviour() }) {
			t.Errorf("conformance.txt has no %s", id)
		}
		t.Cleanup(func() {
			if !t.Failed() && !t.Skipped() {
				proof.Lock()
				defer proof.Unlock()
				proof.tests[id] = append(proof.tests[id], t.Name())
			}
		})
	}
}

// TestMain fails a run of all tests that leaves a piece unproven.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if *printCoverage || code == 0 && runsEverything() {
		out := bufio.NewWriter(os.Stdout)
		if !reportCoverage(out, *printCoverage) && code == 0 {
			code = 1
		}
		_ = out.Flush()
	}
	os.Exit(code)
}

func runsEverything() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz", "test.fuzzworker", "test.bench"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != f.DefValue {
			return false
		}
	}
	return true
}

// reportCoverage writes the pieces that no test proved, or all of them, with
// their tests. It reports whether every piece is proven.
func reportCoverage(w io.Writer, all bool) bool {
	pieces, err := conformanceList()
	if err != nil {
		fmt.Fprintln(w, err)
		return false
	}
	behaviour, unproven := 0, 0
	for _, p := range pieces {
		if !p.isBehaviour() {
			continue
		}
		behaviour++
		tests := proof.tests[p.id]
		if len(tests) == 0 {
			unproven++
			fmt.Fprintf(w, "UNPROVEN %s\n    %s: %q\n", p.id, p.document, p.quote)
		} else if all {
			fmt.Fprintf(w, "%s\n    %s: %q\n    %s\n", p.id, p.document, p.quote, strings.Join(tests, "\n    "))
		}
	}
	if all || unproven > 0 {
		fmt.Fprintf(w, "conformance: %d of %d pieces of the documents are proven, by %d tests\n",
			behaviour-unproven, behaviour, countTests())
	}
	return unproven == 0
}

func countTests() int {
	names := map[string]bool{}
	for _, tests := range maps.All(proof.tests) {
		for _, name := range tests {
			names[name] = true
		}
	}
	return len(names)
}
