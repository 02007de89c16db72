package mailroom

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
)

// TestSuppression: patterns match addresses, and can be removed.
func TestSuppression(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		for _, pattern := range []string{"*@Example.org", "abuse@*", " ada@example.com "} {
			require.NoError(t, f.room.Suppress(t.Context(), pattern))
		}
		reasons := func() (reasons []Reason) {
			for _, address := range []string{"x@example.org", "Abuse@example.net", "ada@example.com", "bob@example.com", "example.org", ""} {
				reasons = append(reasons, check.Need(f.room.Suppression(t.Context(), address))(t))
			}
			return reasons
		}
		assert.Equal(t, []Reason{Suppressed, Suppressed, Suppressed, "", "", ""}, reasons())
		require.NoError(t, f.room.Unsuppress(t.Context(), "ABUSE@*"))
		assert.Equal(t, []Reason{Suppressed, "", Suppressed, "", "", ""}, reasons())
	})
}
