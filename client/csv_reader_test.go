package client

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestContactsFromCSVMemory: the memory of the source depends neither on the number of rows nor on their contents.
func TestContactsFromCSVMemory(t *testing.T) {
	for name, row := range map[string]string{
		"text":         "a@x," + strings.Repeat("x", maxCSVRow-8),
		"empty fields": "a@x" + strings.Repeat(",", maxCSVRow-8),
		"tags":         "a@x," + strings.Repeat("t;", maxCSVRow/2-8),
		"quotes":       `a@x,"` + strings.Repeat(`""`, maxCSVRow/2-8) + `"`,
	} {
		file := []io.Reader{strings.NewReader("email,tags" + strings.Repeat(",", maxCSVColumns-2) + "\n")}
		for range 2 {
			file = append(file, strings.NewReader(row+"\n"))
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		most := uint64(0)
		for _, err := range ContactsFromCSV(io.MultiReader(file...), CSVOptions{}) {
			require.NoError(t, err, name)
			runtime.GC()
			runtime.ReadMemStats(&after)
			most = max(most, after.HeapAlloc-min(after.HeapAlloc, before.HeapAlloc))
		}
		t.Log(name, most>>20, "MiB")
		assert.Less(t, most, uint64(64<<20), name)
	}
}

// TestContactsFromCSVReadFails: the iteration ends if the reader fails, or returns neither bytes nor an error.
func TestContactsFromCSVReadFails(t *testing.T) {
	for name, broken := range map[string]error{
		"gone":        errors.New("the disk is gone"),
		"wraps EOF":   fmt.Errorf("truncated archive: %w", io.EOF),
		"no progress": nil,
	} {
		for file, line := range map[string]string{"email\na@x\n": "line 3: ", "email\na@x\nb\"": "line 3: ", "email\na@x\n\n\n": "line 5: "} {
			if broken == nil && strings.HasSuffix(file, "\"") {
				continue // encoding/csv reports the quote first
			}
			want := cmp.Or(broken, io.ErrNoProgress)
			var n int
			var last error
			for _, err := range ContactsFromCSV(io.MultiReader(strings.NewReader(file), failingReader{broken}), CSVOptions{OnBadRow: skipRow}) {
				if n++; n > 2 {
					break
				}
				last = err
			}
			assert.Equal(t, 2, n, "%s, %q", name, file)
			assert.ErrorIs(t, last, want, "%s, %q", name, file)
			assert.EqualError(t, last, line+want.Error(), "%s, %q", name, file)
		}
	}
}

// counted is a reader of endless text, which counts the bytes that were read.
type counted int

func (c *counted) Read(p []byte) (int, error) {
	*c += counted(len(p))
	return copy(p, strings.Repeat("x", len(p))), nil
}

// TestContactsFromCSVEndlessLine: an endless row fails at the maximum size of a row.
func TestContactsFromCSVEndlessLine(t *testing.T) {
	for _, head := range []string{"", "email\n", "email\n\""} {
		var read counted
		var got error
		for _, err := range ContactsFromCSV(io.MultiReader(strings.NewReader(head), io.LimitReader(&read, 64<<20)), CSVOptions{}) {
			got = err
		}
		if got == nil || !strings.Contains(got.Error(), "longer than 1048576 bytes") || read > 4<<20 {
			t.Errorf("after %q: got %v after %d bytes", head, got, read)
		}
	}
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// TestCSVRowIsFreed: a contact does not keep the columns without a header in memory.
func TestCSVRowIsFreed(t *testing.T) {
	text := "email,note,tags,\n" + strings.Repeat("a@example.org,n,t;u,"+strings.Repeat("x", 1<<19)+"\n", 40)
	var kept []ImportContact
	for c, err := range ContactsFromCSV(strings.NewReader(text), CSVOptions{}) {
		require.NoError(t, err)
		kept = append(kept, c)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := m.HeapAlloc
	first := kept[0]
	clear(kept)
	runtime.GC()
	runtime.ReadMemStats(&m)
	assert.Less(t, int64(before)-int64(m.HeapAlloc), int64(5<<20))
	assert.Equal(t, "a@example.org n t;u", first.Email+" "+first.CustomAttributes.Get("note")+" "+strings.Join(first.Tags, ";"))
}
