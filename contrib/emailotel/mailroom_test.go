package emailotel_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mailroom"
)

// room runs a Room until OnNotice has been called for one email.
func (r *recorder) room(c *client.Client) *mailroom.Room {
	r.t.Helper()
	observed := make(chan struct{})
	room, err := mailroom.New(c, mailroom.NewMemoryStore(), mailroom.Options{
		OnNotice: func(context.Context, mailroom.Notice) error { return nil },
		Observe: func(ctx context.Context, o mailroom.Observation) {
			r.ObserveNotice(ctx, o)
			o.Err = errors.New("the order of ada@example.org is locked")
			r.ObserveNotice(ctx, o)
			close(observed)
		},
	})
	require.NoError(r.t, err)
	_, err = r.ObserveQueues(room)
	require.NoError(r.t, err)
	require.NoError(r.t, room.Enqueue(r.t.Context(), "17", email(address)))
	room.Start()
	<-observed
	require.NoError(r.t, room.Close())
	return room
}

// TestRoom: each call of OnNotice and each queue is recorded.
func TestRoom(t *testing.T) {
	r := record(t)
	room := r.room(r.client(startServer(t), nil))
	got := r.metrics()
	const notice = "emailplatform.mailroom.notice.duration{"
	assert.EqualValues(t, 1, got[notice+"emailplatform.mailroom.reason=sent}"])
	assert.EqualValues(t, 1, got[notice+"emailplatform.mailroom.reason=sent,error.type=_OTHER}"])
	require.NoError(t, room.Enqueue(t.Context(), "18", email(address))) // waits, because the Room is closed
	got = r.metrics()
	for queue, want := range map[string]uint64{"send": 1, "lookup": 0, "notice": 0, "unknown": 0} {
		n, found := got["emailplatform.mailroom.queue.length{emailplatform.mailroom.queue="+queue+"}"]
		assert.True(t, found && n == want, "%s: %d", queue, n)
		assert.Contains(t, got, "emailplatform.mailroom.queue.age{emailplatform.mailroom.queue="+queue+"}")
	}
	assert.NotContains(t, r.everything(), address)
}
