//go:build !race

package webhook

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestVerifyAllocatesNothing: Verify does not allocate. This file is not built with the race detector, which
// makes sync.Pool drop states at random.
func TestVerifyAllocatesNothing(t *testing.T) {
	body := make([]byte, 1024)
	for _, hash := range []HashFunction{SHA256, SHA512} {
		s := secretOf("whsec_of_this_year", hash)
		v, signature := newVerifier(t, secretOf("whsec_of_last_year", hash), s), mustSign(s, body)
		allocs := testing.AllocsPerRun(1000, func() {
			require.NoError(t, v.Verify(body, signature), "rejected")
		})
		if allocs != 0 {
			t.Errorf("%s: %v allocations, want 0", hash, allocs)
		}
	}
}
