package jsonscan

import (
	"strings"
	"testing"
)

// TestPlain: plain finds the first byte that is not plain in the whole words of a text, and returns 0 if there is none.
func TestPlain(t *testing.T) {
	for length := range 25 {
		text := strings.Repeat("a", length)
		if got := plain(text); got != 0 {
			t.Errorf("plain(%q) is %d, want 0", text, got)
		}
		for at := range length / 8 * 8 {
			for b := range 256 {
				want := 0
				if b < ' ' || b >= 0x80 || b == '"' || b == '\\' {
					want = at
				}
				mixed := text[:at] + string([]byte{byte(b)}) + text[at+1:]
				if got := plain(mixed); got != want {
					t.Fatalf("plain(%q) is %d, want %d", mixed, got, want)
				}
			}
		}
	}
}

// TestRoom: a page of large elements gets room without being counted; all others are counted first.
func TestRoom(t *testing.T) {
	text := strings.Repeat(",0", 10) + "]"
	for _, row := range []struct {
		name string
		room func(c *Cursor) int
		want int
	}{
		{"large, on the first page", func(c *Cursor) int { return cap(room[[64]byte](c, 127)) }, 128},
		{"large, after the first page", func(c *Cursor) int { return cap(room[[64]byte](c, 128)) }, 128 + 1 + 10},
		{"small", func(c *Cursor) int { return cap(room[[63]byte](c, 16)) }, 16 + 1 + 10},
	} {
		if got := row.room(New(text)); got != row.want {
			t.Errorf("%s: room for %d elements, want %d", row.name, got, row.want)
		}
	}
}
