package client

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPauseEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		for range 50 { // a select would choose at random between a timer of 0 and a canceled context
			require.ErrorIs(t, pause(ended, 0), context.Canceled, "pause did not return context.Canceled")
		}
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		for d, ends := range map[time.Duration]bool{time.Second - 1: false, time.Second: true, time.Second + 1: true} {
			assert.Equal(t, ends, endsWithin(soon, d), "a context with a deadline in 1 s ends within %v", d)
		}
		assert.True(t, endsWithin(ended, time.Second))
		assert.False(t, endsWithin(t.Context(), time.Hour))
	})
}
