package mailroom

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/check"
	"example.com/emailplatform/mockserver"
)

// TestNewEvents: a release that subscribes to other events gets its own webhook, and a webhook that no process uses stays
// active for 8 hours.
func TestNewEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		active := func() int { return len(check.Need(f.c.Webhooks.Active(t.Context(), "http://app.test/hook"))(t)) }
		five := func(o *Options) { o.Events = DefaultEvents()[:5] }
		f.start()
		f.start(five)
		time.Sleep(time.Minute)
		assert.Equal(t, 2, active())
		check.Need(f.room.Send(t.Context(), email("bounce+hb@mock.test", "1")))(t)
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"hard_bounce bounce+hb@mock.test "}, f.got(), "once, although both webhooks deliver it")
		time.Sleep(7 * time.Hour)
		assert.Equal(t, 2, active())
		time.Sleep(2 * time.Hour)
		assert.Equal(t, 1, active())
		f.start() // the webhook was archived, so a new one is needed
		assert.Equal(t, 2, active())
		f.start(five)
		<-f.room.connected
		used := f.room.webhookID
		time.Sleep(9 * time.Hour)
		hooks := check.Need(f.c.Webhooks.Active(t.Context(), f.opts.URL))(t)
		require.Len(t, hooks, 1, "the release with five events uses the first webhook again")
		assert.Equal(t, used, hooks[0].ID, "no process archives a webhook that a process uses")
	})
}

// TestNewURL: a new release uses another URL, so there are two webhooks. Each event is handled once, even if it
// arrives at the old URL. The old webhook is archived when the platform no longer retries its deliveries.
func TestNewURL(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		active := func(host string) bool {
			_, err := f.c.Webhooks.Active(t.Context(), "http://"+host+"/hook")
			return err == nil
		}
		f.start()
		f.inject(mockserver.Fault{Event: "*", Action: mockserver.FaultStatus}) // the deliveries to the old URL fail
		f.enqueue("1", "bounce+hb@mock.test")
		time.Sleep(time.Minute)
		moved := func(o *Options) { o.URL = "http://moved.test/hook" }
		f.start(moved)
		f.platform.SetTarget("moved.test", f.room)
		f.platform.ClearFaults()
		f.enqueue("2", "bounce+sb@mock.test") // both webhooks deliver its bounce
		time.Sleep(7*time.Hour + 30*time.Minute)
		want := []string{
			"hard_bounce bounce+hb@mock.test 1", "sent bounce+hb@mock.test 1", "sent bounce+sb@mock.test 2", "soft_bounce bounce+sb@mock.test 2",
		}
		assert.Equal(t, want, f.got())
		assert.Equal(t, []bool{true, true}, []bool{active("app.test"), active("moved.test")})
		time.Sleep(time.Hour)
		assert.Equal(t, []bool{false, true}, []bool{active("app.test"), active("moved.test")})

		f.start() // a rollback; then both releases run
		second := check.Need(New(f.c, f.store, Options{URL: "http://moved.test/hook", OnNotice: f.onNotice}))(t)
		f.platform.SetTarget("moved.test", second)
		second.Start()
		time.Sleep(24 * time.Hour)
		assert.Equal(t, []bool{true, true}, []bool{active("app.test"), active("moved.test")})
		require.NoError(t, second.Close())
		assert.Equal(t, want, f.got())
	})
}

// TestArchivedByAnother: a process notices that a process of another release has archived its webhook.
func TestArchivedByAnother(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		hooks := check.Need(f.c.Webhooks.Active(t.Context(), f.opts.URL))(t)
		require.NoError(t, f.room.archiveWebhook(t.Context(), hooks[0].ID))
		time.Sleep(2 * time.Minute)
		require.Len(t, check.Need(f.c.Webhooks.Active(t.Context(), f.opts.URL))(t), 1)
		check.Need(f.room.Send(t.Context(), email("bounce+hb@mock.test", "1")))(t)
		time.Sleep(2 * time.Minute)
		assert.Equal(t, []string{"hard_bounce bounce+hb@mock.test "}, f.got())
	})
}

// TestLongWebhookID: the Room archives a webhook whose id is too long for a key of the store.
func TestLongWebhookID(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		id := strings.Repeat("1", maxKeyBytes+1)
		require.NoError(t, f.room.update(t.Context(), func(s *storeTx) { s.getOrInsert(s.room.hookItem(id)) }))
		time.Sleep(9 * time.Hour)
		request := slices.ContainsFunc(f.platform.Requests(), func(r mockserver.Request) bool {
			return r.Path == "/webhooks/"+id+"/archive"
		})
		assert.True(t, request, "a request archives the webhook")
	})
}

// TestRestarts: the webhook of an earlier release is archived although the process restarts more often than every 8 hours.
func TestRestarts(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		five := func(o *Options) { o.Events = DefaultEvents()[:5] }
		f.start()
		for range 10 {
			f.start(five)
			time.Sleep(time.Hour)
		}
		assert.Len(t, check.Need(f.c.Webhooks.Active(t.Context(), f.opts.URL))(t), 1)
	})
}
