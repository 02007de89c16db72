package quirk

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Only the latest ids have numbers, and a number is never used for two ids.
func TestNumbersAreBounded(t *testing.T) {
	var n numbers
	first := n.number("0").String()
	assert.Equal(t, "0", n.text(first))
	for i := range maxNumbers + 1 {
		n.number(fmt.Sprint(i))
	}
	assert.Equal(t, first, n.text(first), "the number of an old id")
	for _, id := range []string{"1", "2", fmt.Sprint(maxNumbers)} {
		assert.Equal(t, id, n.text(n.number(id).String()))
	}
	assert.Len(t, n.texts, maxNumbers)
	assert.Len(t, n.of, maxNumbers)
}
