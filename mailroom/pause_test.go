package mailroom

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/internal/tests/check"
	"example.com/emailplatform/mockserver"
)

// TestPause: after a failure and a pause, the Room sends one request alone. If this request fails too, the pause
// doubles.
func TestPause(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.setTransport(f.platform.Transport())
		f.start()
		f.inject(mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultStatus, Status: 403, Times: 1})
		sent := func() int { return len(f.platform.Outbox()) }
		f.enqueue("0", "ada@example.org")
		time.Sleep(10 * time.Second)
		assert.Zero(t, sent(), "forbidden")
		f.enqueue("1", "ada@example.org")
		time.Sleep(10 * time.Second)
		assert.Equal(t, 1, sent(), "a 403 does not pause the other emails")
		time.Sleep(time.Minute)
		require.Equal(t, 2, sent(), "the forbidden email is sent later")

		f.inject(mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultStatus, Status: 401, Times: 2})
		f.enqueue("2", "ada@example.org")
		time.Sleep(2 * time.Second)
		for i := range 8 {
			f.enqueue(fmt.Sprint("p", i), "ada@example.org")
		}
		time.Sleep(32 * time.Second) // the second 401
		assert.Equal(t, 2, sent())
		time.Sleep(55 * time.Second)
		assert.Equal(t, 2, sent(), "the pause has doubled")
		time.Sleep(time.Minute)
		assert.Equal(t, 11, sent())
	})
}

// TestPostponed: if the status of a response does not reject the email, the Room sends the email later, and the
// response does not end a pause.
func TestPostponed(t *testing.T) {
	for status, pauses := range map[int]bool{402: true, 404: false, 405: true, 409: false, 423: true} {
		inBubble(t, func(t *testing.T, f *fixture) {
			f.start()
			fault := mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultStatus, Times: 1}
			fault.Status = status
			f.inject(fault)
			f.enqueue("0", "ada@example.org")
			time.Sleep(5 * time.Second)
			f.enqueue("1", "ada@example.org")
			time.Sleep(5 * time.Second)
			assert.Equal(t, !pauses, len(f.platform.Outbox()) == 1, "%d", status)
			time.Sleep(5 * time.Minute)
			assert.Equal(t, []string{"sent ada@example.org 0", "sent ada@example.org 1"}, f.got(), "%d", status)

			fault.Status = 401
			f.inject(fault)
			f.enqueue("2", "ada@example.org")
			time.Sleep(5 * time.Second)
			fault.Status = status
			f.inject(fault)
			time.Sleep(35 * time.Second) // the first pause is 30 s
			require.NoError(t, f.room.update(t.Context(), func(s *storeTx) {
				assert.NotZero(t, s.readPause().Failures, "%d ends the pause", status)
			}))
		})
	}
}

// TestOutageAfterQuietTime: after a time without a success, the Room sends one request alone, so an outage causes only
// one unknown outcome for each pause.
func TestOutageAfterQuietTime(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		sendAll := func(from, to int) {
			for i := range to - from {
				f.enqueue(fmt.Sprint(from+i), fmt.Sprintf("a%d@example.org", from+i))
			}
		}
		unknown := func() int { return len(check.Need(f.room.Unknown(t.Context()))(t)) }
		sendAll(0, 20)
		time.Sleep(time.Minute) // quiet
		require.Equal(t, 20, len(f.platform.Outbox()))
		f.setTransport(slowTransport{f.platform.Transport(), 5 * time.Second}) // all workers would send in this time
		f.start()
		f.inject(mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultStatus, Status: 503})
		sendAll(20, 80)
		time.Sleep(10 * time.Second)
		assert.Equal(t, 1, unknown())
		time.Sleep(2 * time.Minute) // pauses of 30 s and 60 s
		assert.Equal(t, 3, unknown())
		f.platform.ClearFaults()
		time.Sleep(10 * time.Minute)
		assert.Equal(t, 77, len(f.platform.Outbox()))
		assert.Equal(t, 3, unknown())
	})
}

// TestInvalidDuringOutage: an email that the client itself rejects does not end a pause, because it causes no request.
func TestInvalidDuringOutage(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		f.loseResponses(100)
		for i := range 30 {
			e := email("ada@example.org", fmt.Sprint(i))
			if i%3 == 1 {
				e.CustomAttributes = client.Attributes{{Name: "order"}, {Name: "order"}}
			}
			require.NoError(t, f.room.Enqueue(t.Context(), fmt.Sprint(i), e))
			time.Sleep(time.Millisecond) // the order of the emails
		}
		time.Sleep(2 * time.Minute) // pauses of 30 s and 60 s
		assert.Equal(t, 3, len(f.platform.Outbox()), "one email for each pause")
	})
}

// TestForbiddenProbe: a 403 to the worker that sends alone does not delay the others.
func TestForbiddenProbe(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		f.inject(mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultStatus, Status: 403, Times: 2})
		for i := range 10 {
			f.enqueue(fmt.Sprint(i), "ada@example.org")
		}
		time.Sleep(5 * time.Second)
		assert.Equal(t, 8, len(f.platform.Outbox()))
	})
}

// TestRetryAfter: Retry-After replaces the pause, and after an unknown outcome it can only extend the pause.
func TestRetryAfter(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		for _, tt := range []struct {
			failures int
			sendErr  error
			want     time.Duration
		}{
			{1, errors.New("x"), 30 * time.Second},
			{3, errors.New("x"), 2 * time.Minute},
			{9, errors.New("x"), 10 * time.Minute},
			{9, &client.Error{RetryAfter: 20 * time.Second}, 20 * time.Second},
			{1, &client.Error{RetryAfter: 24 * time.Hour}, time.Hour},
			{1, errors.Join(client.ErrOutcomeUnknown, &client.Error{RetryAfter: time.Second}), 30 * time.Second},
			{1, errors.Join(client.ErrOutcomeUnknown, &client.Error{RetryAfter: time.Minute}), time.Minute},
		} {
			assert.Equal(t, tt.want, f.room.pauseDuration(tt.failures, tt.sendErr), "%v", tt)
		}
	})
}

// TestSuccessBeforePause: the success of a request that began before a pause does not end the pause.
func TestSuccessBeforePause(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		before := time.Now()
		time.Sleep(time.Second)
		paused := func(started time.Time, sendErr error) (wait bool) {
			require.NoError(t, f.room.update(t.Context(), func(s *storeTx) {
				s.updatePause(started, sendErr)
				wait = s.sendDelay(time.Now()) > 0
			}))
			return wait
		}
		assert.True(t, paused(time.Now(), client.ErrUnauthorized))
		assert.True(t, paused(before, nil))
		assert.False(t, paused(time.Now(), nil))
	})
}

// TestWrongClock: future times from a process with a wrong clock neither permit all workers to send nor keep the
// workers paused.
func TestWrongClock(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		now := time.Now().UTC()
		day, exact := now.Add(24*time.Hour), pauseValue{Mode: modeNormal, Since: now, Until: now.Add(successValidity)}
		f.room = check.Need(New(f.c, f.store, f.opts))(t)
		require.NoError(t, f.room.update(t.Context(), func(s *storeTx) {
			for _, wrong := range []pauseValue{{Failures: 1, Mode: modePaused, Since: day, Until: day}, {Failures: 1, Mode: modeNormal, Until: day}} {
				assert.Equal(t, pauseValue{Failures: 1}, s.decodePause(Item{Value: encode(wrong)}))
			}
			assert.Equal(t, exact, s.decodePause(Item{Value: encode(exact)}))
		}))
	})
}
