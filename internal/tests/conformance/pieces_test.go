// Package conformance_test tests that the mock server follows docs/specification.md, docs/decisions.md and
// docs/control-api.md. Most of its tests are scenarios of requests and responses, which TestScenarios runs.
// testdata/pieces.txt splits the first two documents into pieces, such as sentences. Each test names the pieces that
// it proves, and a run of all tests fails if a piece is not proven. The features of the Go API, such as snapshots, are
// tested in package mockserver.
package conformance_test

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

var (
	printProofs = flag.Bool("proofs", false, "print which tests prove which piece of the specification")
	update      = flag.Bool("update", false, "copy changed sentences of the documents to testdata/pieces.txt")
)

// piece is a line of testdata/pieces.txt: a quotation with the id that tests use, or with the reason why it needs no
// test.
type piece struct {
	id       string
	document string
	quote    string
	line     int // in pieces.txt, from 0
}

func (p piece) isBehavior() bool { return !strings.HasPrefix(p.id, "-") }

const piecesFile = "testdata/pieces.txt"

var pieceList = sync.OnceValues(func() ([]piece, error) {
	raw, err := os.ReadFile(piecesFile)
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
			pieces = append(pieces, piece{id, document, quote, n})
		default:
			return nil, fmt.Errorf("pieces.txt:%d: want `id: quotation`", n+1)
		}
	}
	return pieces, nil
})

// TestPieces checks that the quotations in pieces.txt cover the whole documents, in order. With -update, it replaces the
// quotation of a changed sentence. The new quotation is the document's text between the previous and the next quotation.
// For a new sentence, add a line with a new id to pieces.txt. Then name this id in the test that proves the sentence.
func TestPieces(t *testing.T) {
	pieces, err := pieceList()
	require.NoError(t, err)
	rest := map[string]string{}
	seen := map[string]bool{}
	for i, p := range pieces {
		text, open := rest[p.document]
		if !open {
			text = readDocument(t, p.document)
		}
		skipped, after, found := strings.Cut(text, oneLine(p.quote))
		if changed, ok := changedQuote(pieces, i, text); *update && !found && ok {
			replaceQuote(t, p, changed)
			skipped, after, found = strings.Cut(text, changed)
		}
		if !found {
			t.Fatalf("testdata/pieces.txt: %s: not a quotation from %s, or in another order: %q (if the sentence has changed, run with -update)", p.id, p.document, p.quote)
		}
		if strings.ContainsFunc(skipped, isWord) {
			t.Errorf("testdata/pieces.txt: before %s, no line quotes this text of %s: %q", p.id, p.document, strings.TrimSpace(skipped))
		}
		if p.isBehavior() && seen[p.id] {
			t.Errorf("testdata/pieces.txt: %s: two quotations have this id", p.id)
		}
		seen[p.id] = true
		rest[p.document] = after
	}
	for document, text := range rest {
		if strings.ContainsFunc(text, isWord) {
			t.Errorf("testdata/pieces.txt: no line quotes the end of %s: %q", document, text)
		}
	}
}

// changedQuote returns the text at the beginning of the rest of a document, up to the piece after pieces[i]. If this text has
// more sentences than pieces[i], it contains a new sentence, and ok is false.
func changedQuote(pieces []piece, i int, rest string) (quote string, ok bool) {
	if i+1 < len(pieces) && pieces[i+1].document == pieces[i].document {
		if rest, _, ok = strings.Cut(rest, oneLine(pieces[i+1].quote)); !ok {
			return "", false
		}
	}
	quote = strings.Trim(rest, " |-#") // without the marks of tables, lists and headings
	return quote, quote != "" && sentences(quote) <= sentences(pieces[i].quote)
}

var endOfSentence = regexp.MustCompile(`[.!?:]( |$)`)

func sentences(text string) int { return len(endOfSentence.FindAllString(oneLine(text), -1)) }

func replaceQuote(t *testing.T, p piece, quote string) {
	t.Helper()
	raw, err := os.ReadFile(piecesFile)
	require.NoError(t, err)
	lines := strings.Split(string(raw), "\n")
	lines[p.line] = p.id + ": " + quote
	require.NoError(t, os.WriteFile(piecesFile, []byte(strings.Join(lines, "\n")), 0o600))
	t.Logf("%s: %q", p.id, quote)
}

func readDocument(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(name)))
	require.NoError(t, err)
	return oneLine(string(raw))
}

// oneLine replaces white space, because paragraphs can be wrapped anywhere.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// proof records which tests prove which pieces.
var proof = struct {
	sync.Mutex
	tests map[string][]string
}{tests: map[string][]string{}}

// proves records the pieces that the test proves if it passes.
func proves(t testing.TB, ids ...string) {
	t.Helper()
	pieces, err := pieceList()
	require.NoError(t, err)
	for _, id := range ids {
		if !slices.ContainsFunc(pieces, func(p piece) bool { return p.id == id && p.isBehavior() }) {
			t.Errorf("pieces.txt has no %s", id)
		}
	}
	t.Cleanup(func() {
		if t.Failed() || t.Skipped() {
			return
		}
		proof.Lock()
		defer proof.Unlock()
		for _, id := range ids {
			proof.tests[id] = append(proof.tests[id], t.Name())
		}
	})
}

// TestMain fails a run of all tests if a piece of the documents has no test.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if *printProofs || code == 0 && runsAllTests() {
		out := bufio.NewWriter(os.Stdout)
		if !reportProofs(out, *printProofs) && code == 0 {
			code = 1
		}
		_ = out.Flush()
	}
	os.Exit(code)
}

func runsAllTests() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.fuzz", "test.fuzzworker", "test.bench"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != f.DefValue {
			return false
		}
	}
	return true
}

// reportProofs writes the pieces without proof, or all pieces with their tests, and reports whether all pieces are
// proven.
func reportProofs(w io.Writer, all bool) bool {
	pieces, err := pieceList()
	if err != nil {
		fmt.Fprintln(w, err)
		return false
	}
	behavior, unproven := 0, 0
	for _, p := range pieces {
		if !p.isBehavior() {
			continue
		}
		behavior++
		tests := proof.tests[p.id]
		if len(tests) == 0 {
			unproven++
			fmt.Fprintf(w, "UNPROVEN %s\n    %s: %q\n", p.id, p.document, p.quote)
		} else if all {
			fmt.Fprintf(w, "%s\n    %s: %q\n    %s\n", p.id, p.document, p.quote, strings.Join(tests, "\n    "))
		}
	}
	if all || unproven > 0 {
		fmt.Fprintf(w, "conformance: %d of %d pieces of the documents have a test\n", behavior-unproven, behavior)
	}
	return unproven == 0
}
