package mailroom

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/tests/check"
	"example.com/emailplatform/webhook"
)

func TestNewInvalid(t *testing.T) {
	c := check.Need(client.New(client.Config{BaseURL: "https://example.com", Token: "t"}))(t)
	ok := Options{OnNotice: func(context.Context, Notice) error { return nil }}
	for name, change := range map[string]func(*Options){
		"OnNotice must not be nil": func(o *Options) { o.OnNotice = nil },
		"Webhook.Once must be nil": func(o *Options) { o.Webhook.Once = webhook.NewMemoryOnce(webhook.MemoryOnceOptions{}) },
		"must not be negative":     func(o *Options) { o.Pause = -1 },
	} {
		opts := ok
		change(&opts)
		_, err := New(c, NewMemoryStore(), opts)
		require.ErrorContains(t, err, name)
	}
	_, err := New(nil, NewMemoryStore(), ok)
	require.ErrorContains(t, err, "must not be nil")
	_, err = New(c, (*MemoryStore)(nil), ok)
	require.ErrorContains(t, err, "must not be nil")
	for _, none := range []Store{nil, (*MemoryStore)(nil)} {
		assert.PanicsWithValue(t, "mailroom: NewOnce needs a store", func() { NewOnce(none, 0) })
	}
}

// TestMaximumOptions: the largest durations do not overflow. A request is not treated as lost while it is in progress,
// and the pause after a failed request does not end.
func TestMaximumOptions(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.opts.SendTimeout, f.opts.Pause, f.opts.RetryFor, f.opts.KeepSent = math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64
		f.setTransport(slowTransport{f.platform.Transport(), 5 * time.Second})
		f.start(func(o *Options) { o.Workers = 1 })
		f.enqueue("1", "ada@example.org")
		time.Sleep(10 * time.Second)
		assert.Equal(t, []string{"sent ada@example.org 1"}, f.inOrder())
		f.loseResponses(1)
		f.enqueue("2", "ada@example.org")
		time.Sleep(10 * time.Second)
		f.enqueue("3", "ada@example.org")
		time.Sleep(time.Hour)
		assert.Equal(t, []string{"sent ada@example.org 1", "unknown ada@example.org 2"}, f.inOrder())
		for n := range 100 {
			assert.Positive(t, f.room.backoff(n))
		}
	})
}

// TestDefaultEvents: DefaultEvents contains each event, except the events that are omitted on purpose.
func TestDefaultEvents(t *testing.T) {
	omitted := []events.Name{
		// These events need no notice, because they report neither a failure nor a wish of a recipient.
		events.NameContactAdded, events.NameCampaignSent, events.NameCampaignScheduled,
		// Contact.Unsubscribed reports the same unsubscriptions. OnNotice would receive two notices about each.
		events.NameEmailUnsubscribed, events.NameContactRemoved,
	}
	assert.ElementsMatch(t, events.Names(), append(DefaultEvents(), omitted...))
}
