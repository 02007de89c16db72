package mailroom

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
	"example.com/emailplatform/mockserver"
)

// TestMissingEmail: a lookup is repeated while the email is missing, and then OnNotice receives what is known.
func TestMissingEmail(t *testing.T) {
	for _, tt := range []struct {
		status, hours int
		want          string
	}{{404, 2, "hard_bounce bounce+hb@mock.test 1"}, {404, 10, "soft_bounce  1"}, {403, 10, "soft_bounce  1"}, {401, 10, "soft_bounce  1"}} {
		inBubble(t, func(t *testing.T, f *fixture) {
			f.start()
			f.inject(mockserver.Fault{Operation: "getEmail", Action: mockserver.FaultStatus, Status: tt.status})
			f.enqueue("1", "bounce+hb@mock.test")
			time.Sleep(time.Duration(tt.hours) * time.Hour)
			f.platform.ClearFaults()
			time.Sleep(2 * time.Hour)
			assert.Equal(t, []string{"sent bounce+hb@mock.test 1", tt.want}, f.inOrder(), "%v", tt)
		})
	}
}

// TestMissingBounce: a lookup is repeated while the email has no bounce.
func TestMissingBounce(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		f.enqueue("1", "ada@example.org")
		time.Sleep(time.Second)
		require.NoError(t, f.room.Handle(t.Context(), parse(t, `{"id":"b","event":"Email.Bounced","account_id":1,"created_on":1763652200,
			"data":{"event_time":1763652199,"email":{"id":"%s"}}}`, f.platform.Outbox()[0].ID)))
		time.Sleep(2 * time.Hour)
		assert.Equal(t, []string{"sent ada@example.org 1"}, f.inOrder())
		time.Sleep(4 * time.Hour)
		assert.Equal(t, []string{"sent ada@example.org 1", "soft_bounce ada@example.org 1"}, f.inOrder())
	})
}

// TestBusyAddress: a notice about an email does not wait for another email to its address.
func TestBusyAddress(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		id := check.Need(f.room.Send(t.Context(), email("ada@example.org", "1")))(t).ID
		f.setTransport(slowTransport{f.platform.Transport(), 18 * time.Second})
		f.start()
		f.enqueue("2", "ada@example.org")
		time.Sleep(time.Second)
		require.NoError(t, f.platform.Bounce(id, "bounce_hb"))
		time.Sleep(10 * time.Second)
		assert.Equal(t, []string{"hard_bounce ada@example.org "}, f.got())
	})
}
