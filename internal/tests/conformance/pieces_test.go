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
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

var printProofs = flag.Bool("proofs", false, "print which tests prove which piece of the specification")

// piece is a line of testdata/pieces.txt: a quotation with the id that tests use, or with the reason why it needs no
// test.
type piece struct {
	id       string
	document string
	quote    string
}

func (p piece) isBehaviour() bool { return !strings.HasPrefix(p.id, "-") }

var pieceList = sync.OnceValues(func() ([]piece, error) {
	raw, err := os.ReadFile(filepath.Join("testdata", "pieces.txt"))
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
			return nil, fmt.Errorf("pieces.txt:%d: want `id: quotation`", n+1)
		}
	}
	return pieces, nil
})

// TestPieces checks that the quotations cover the whole documents, in order.
func TestPieces(t *testing.T) {
	pieces, err := pieceList()
	require.NoError(t, err)
	rest := map[string]string{}
	seen := map[string]bool{}
	for _, p := range pieces {
		text, open := rest[p.document]
		if !open {
			text = readDocument(t, p.document)
		}
		skipped, after, found := strings.Cut(text, oneLine(p.quote))
		if !found {
			t.Fatalf("%s: not a quotation from %s, or in another order: %q", p.id, p.document, p.quote)
		}
		if strings.ContainsFunc(skipped, isWord) {
			t.Errorf("%s: before %q, this text is not in the list: %q", p.document, p.quote, strings.TrimSpace(skipped))
		}
		if p.isBehaviour() && seen[p.id] {
			t.Errorf("%s: two quotations have this id", p.id)
		}
		seen[p.id] = true
		rest[p.document] = after
	}
	for document, text := range rest {
		if strings.ContainsFunc(text, isWord) {
			t.Errorf("%s: the end is not in the list: %q", document, text)
		}
	}
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

// proves records that the test proves these pieces, if it passes.
func proves(t testing.TB, ids ...string) {
	t.Helper()
	pieces, err := pieceList()
	require.NoError(t, err)
	for _, id := range ids {
		if !slices.ContainsFunc(pieces, func(p piece) bool { return p.id == id && p.isBehaviour() }) {
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
	if *printProofs || code == 0 && runsEverything() {
		out := bufio.NewWriter(os.Stdout)
		if !reportProofs(out, *printProofs) && code == 0 {
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
		if !p.isBehaviour() {
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
