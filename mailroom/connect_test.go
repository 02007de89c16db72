package mailroom

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// TestPlatformDown: a Room starts while the platform is down, responds to deliveries with 503, and works as soon as the
// platform is up.
func TestPlatformDown(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		for _, op := range []string{"listLists", "listWebhooks", "createWebhook", "submitEmail", "getEmail"} {
			f.inject(mockserver.Fault{Operation: op, Action: mockserver.FaultStatus, Status: 503})
		}
		f.start()
		f.enqueue("1", "bounce+hb@mock.test")
		ended, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := f.room.Send(ended, email("ada@example.org", "x"))
		require.ErrorIs(t, err, ErrNotConnected)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, client.SendLater, client.ResultOfSend(err))
		time.Sleep(10 * time.Minute)
		assert.Empty(t, f.got())
		f.platform.ClearFaults()
		time.Sleep(10 * time.Minute)
		assert.Equal(t, []string{"sent bounce+hb@mock.test 1", "hard_bounce bounce+hb@mock.test 1"}, f.inOrder())
	})
}
