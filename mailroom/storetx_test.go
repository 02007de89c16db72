package mailroom

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
)

// TestValueSize: the value of an item is not much larger than its email or event.
func TestValueSize(t *testing.T) {
	html := strings.Repeat("<&>", 1<<18)
	submission := client.EmailSubmission{Content: client.EmailContent{HTML: html}}
	event := parse(t, `{"event":"Email.Opened","data":{"text":%q}}`, html)
	for _, value := range []any{mailValue{Submission: &submission}, noticeValue{Notice: Notice{Event: event}}} {
		assert.Less(t, len(encode(value)), len(html)+1000)
	}
}

// TestStoredFormat: the values of items keep their format, because processes of several releases share a store. The queries of
// internal/tests/chaos need a mail value that starts with its state.
func TestStoredFormat(t *testing.T) {
	now := time.Unix(1_763_652_200, 0).UTC()
	later := now.Add(time.Minute)
	submission := email("ada@example.org", "1")
	notice := Notice{Reason: SoftBounce, Address: "a@example.org", Key: "k", EmailID: "e", ListID: "l", ContactID: "c", Detail: "d", Time: now}
	const storedNotice = `{"reason":"soft_bounce","address":"a@example.org","key":"k","email_id":"e","list_id":"l","contact_id":"c","detail":"d",` +
		`"time":"2025-11-20T15:23:20Z"}`
	for want, value := range map[string]any{
		`{"state":"queued"}`: mailValue{State: stateQueued},
		`{"state":"sending","submission":` + string(encode(submission)) + `,"attempt":"a","started":"2025-11-20T15:24:20Z",` +
			`"first_started":"2025-11-20T15:23:20Z","postponed":2,"email_id":"e","detail":"d"}`: mailValue{
			State: stateSending, Submission: &submission, Attempt: "a", Started: later, FirstStarted: now, Postponed: 2, EmailID: "e", Detail: "d",
		},
		`{"key":"k","to":"a@example.org","sent":"2025-11-20T15:23:20Z","detail":"d"}`: Unresolved{Key: "k", To: "a@example.org", Sent: now, Detail: "d"},
		`{"mode":"normal","until":"2025-11-20T15:24:20Z","since":"2025-11-20T15:23:20Z","failures":3}`: pauseValue{
			Mode: modeNormal, Until: later, Since: now, Failures: 3,
		},
		`{"mode":"paused"}`:  pauseValue{Mode: modePaused},
		`{"mode":"probing"}`: pauseValue{Mode: modeProbing},
		`{"email_id":"e","notices":[` + storedNotice + `],"attempts":4,"missing":"2025-11-20T15:23:20Z"}`: lookupValue{
			EmailID: "e", Notices: []Notice{notice}, Attempts: 4, Missing: now,
		},
		`{"notice":` + storedNotice + `,"failures":5}`: noticeValue{Notice: notice, Failures: 5},
		`"hard_bounce"`: HardBounce,
		`{"id":"w","url":"https://example.com/hook","minutes_left":480}`: hookValue{"w", "https://example.com/hook", archiveAfterMinutes},
	} {
		assert.Equal(t, want, string(encode(value)))
	}
	kinds := []string{kindMail, kindSend, kindUnknown, kindPause, kindEvent, kindLookup, kindNotice, kindSuppressed, kindHook}
	assert.Equal(t, []string{"mail", "send", "unknown", "pause", "event", "lookup", "notice", "suppressed", "hook"}, kinds)
	keys := []string{pauseKey, hookRef, unknownRef, refOfAddress(" Ada@Example.org"), refOfEmail("1"), outcomeKey("k"), replacedKey("e")}
	assert.Equal(t, []string{
		"send", "hook", "unknown", "to:ada@example.org", "id:1", "send:k", "576f0052a826e12edcd9b7378fa4334d77d6be95f2dc75f3891cbeab671de016",
	}, keys)
}

// TestUndecodable: items that cannot be decoded do not block the others.
func TestUndecodable(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		for _, kind := range []string{kindNotice, kindSend, kindMail, kindLookup} {
			require.NoError(t, f.store.Update(t.Context(), func(ctx context.Context, tx Tx) error {
				return tx.Put(ctx, Item{Kind: kind, Key: "bad", Due: time.Now(), Value: []byte(`"?"`)})
			}))
		}
		f.start()
		f.enqueue("1", "bounce+hb@mock.test")
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"sent bounce+hb@mock.test 1", "hard_bounce bounce+hb@mock.test 1"}, f.inOrder())
	})
}

// TestLostEmail: the outcome of a request becomes unknown even if the email of the key is missing.
func TestLostEmail(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		require.NoError(t, f.store.Update(t.Context(), func(ctx context.Context, tx Tx) error {
			return tx.Put(ctx, Item{Kind: kindMail, Key: "1", Due: time.Now(), Value: encode(mailValue{State: stateSending})})
		}))
		f.start()
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"unknown  1"}, f.got())
	})
}

// TestUnreadableItem: if the state of a key is missing, or a value cannot be decoded, the Room neither sends nor deletes
// the email, and sends the other emails.
func TestUnreadableItem(t *testing.T) {
	e := email("ada@example.org", "1")
	state, submission := encode(mailValue{State: stateQueued}), encode(mailValue{Submission: &e})
	for name, items := range map[string][]Item{
		"no state":         {{Kind: kindSend, Key: "1", Value: submission}},
		"misplaced state":  {{Kind: kindSend, Key: "1", Value: encode(mailValue{State: stateSending, Started: time.Now(), Submission: &e})}},
		"unreadable state": {{Kind: kindMail, Key: "1", Value: []byte(`{"state":1}`)}, {Kind: kindSend, Key: "1", Value: submission}},
		"missing email":    {{Kind: kindMail, Key: "1", Value: state}, {Kind: kindSend, Key: "1", Value: []byte(`{}`)}},
		"unreadable email": {{Kind: kindMail, Key: "1", Value: state}, {Kind: kindSend, Key: "1", Value: []byte(`[]`)}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *fixture) {
				put := func(it Item) {
					require.NoError(t, f.store.Update(t.Context(), func(ctx context.Context, tx Tx) error { return tx.Put(ctx, it) }))
				}
				for _, it := range items {
					if it.Kind == kindSend {
						it.Due = time.Now()
					}
					put(it)
				}
				f.start(func(o *Options) { o.Workers = 1 })
				f.enqueue("2", "ada@example.org")
				time.Sleep(3 * time.Hour)
				assert.Equal(t, []string{"sent ada@example.org 2"}, f.got())
				assert.Equal(t, 1, len(f.platform.Outbox()))

				require.NoError(t, f.room.update(t.Context(), func(s *storeTx) {
					_, found := s.get(kindSend, "1")
					assert.True(t, found, "the email is stored")
				}))
				put(Item{Kind: kindMail, Key: "1", Value: state})
				if name == "unreadable email" || name == "missing email" {
					put(Item{Kind: kindSend, Key: "1", Due: time.Now(), Value: submission})
				}
				time.Sleep(2 * time.Hour)
				assert.Equal(t, []string{"sent ada@example.org 2", "sent ada@example.org 1"}, f.inOrder())
			})
		})
	}
}
