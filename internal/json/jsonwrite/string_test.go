package jsonwrite

import (
	"strings"
	"testing"
)

// TestPlain: a text of any length is plain unless one of its bytes needs an escape or is not ASCII.
func TestPlain(t *testing.T) {
	for length := range 24 {
		text := strings.Repeat("a", length)
		if !plain(text) {
			t.Errorf("%d letters are not plain", length)
		}
		for at := range length {
			for b := range 256 {
				mixed := text[:at] + string([]byte{byte(b)}) + text[at+1:]
				want := b >= ' ' && b < 0x80 && b != '"' && b != '\\'
				if plain(mixed) != want {
					t.Fatalf("plain(%q) is %v, want %v", mixed, !want, want)
				}
			}
		}
	}
}
