// Package check shortens error handling in tests.
package check

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Need returns a function that ends the test if a call failed, and otherwise returns the result of the call:
//
//	list := check.Need(c.Lists.Create(ctx, request))(t)
func Need[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}
