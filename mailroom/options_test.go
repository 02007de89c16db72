package mailroom

import (
	"context"
	"testing"

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
	assert.PanicsWithValue(t, "mailroom: NewOnce needs a store", func() { NewOnce(nil, 0) })
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
