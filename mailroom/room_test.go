package mailroom

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

// fixture is an application with a Room and its platform.
type fixture struct {
	t        *testing.T
	platform *mockserver.Server
	c        *client.Client
	store    Store
	room     *Room
	opts     Options

	mu      sync.Mutex
	notices []string // in the order of the calls
	fail    func(n Notice) bool
}

// inBubble runs a test on virtual time. The Room is not started.
func inBubble(t *testing.T, test func(t *testing.T, f *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{t: t, platform: mockserver.New(mockserver.Config{}), store: NewMemoryStore()}
		t.Cleanup(f.platform.Close)
		f.opts = Options{URL: "http://app.test/hook", List: "Orders", OnNotice: f.onNotice}
		f.fail = func(Notice) bool { return false }
		f.setTransport(f.platform.Transport())
		test(t, f)
		if f.room != nil {
			require.NoError(t, f.room.Close())
		}
	})
}

// setTransport replaces the client of the next Room.
func (f *fixture) setTransport(transport http.RoundTripper) {
	var err error
	f.c, err = client.New(client.Config{BaseURL: f.platform.URL(), Token: f.platform.Token(), HTTPClient: &http.Client{Transport: transport}})
	require.NoError(f.t, err)
}

// start closes the Room, if any, and starts the next one.
func (f *fixture) start(change ...func(*Options)) {
	f.t.Helper()
	if f.room != nil {
		require.NoError(f.t, f.room.Close())
	}
	opts := f.opts
	for _, c := range change {
		c(&opts)
	}
	f.room = need(New(f.c, f.store, opts))(f.t)
	f.platform.SetTarget("app.test", f.room)
	f.room.Start()
	time.Sleep(2 * time.Second)
}

// need returns a result without an error.
func need[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		require.NoError(t, err)
		return v
	}
}

func (f *fixture) onNotice(_ context.Context, n Notice) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail(n) {
		return errors.New("not now")
	}
	f.notices = append(f.notices, fmt.Sprintf("%s %s %s", n.Reason, n.Address, n.Key))
	return nil
}

// got returns the notices in alphabetical order.
func (f *fixture) got() []string { return slices.Sorted(slices.Values(f.inOrder())) }

func (f *fixture) inOrder() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.notices)
}

func (f *fixture) enqueue(key, to string) {
	f.t.Helper()
	require.NoError(f.t, f.room.Enqueue(f.t.Context(), key, email(to, key)))
}

func (f *fixture) inject(faults ...mockserver.Fault) {
	f.t.Helper()
	need(f.platform.Inject(faults...))(f.t)
}

// loseResponses makes the platform process emails and lose the responses.
func (f *fixture) loseResponses(times int) {
	f.inject(mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultReset, AfterProcessing: true, Times: times})
}

func email(to, key string) client.EmailSubmission {
	return client.EmailSubmission{
		To: to, Sender: client.Sender{Email: "shop@example.com"},
		Content: client.EmailContent{Subject: "Your order " + key, Text: "Thank you", Type: client.EmailTypeTransactional},
	}
}

// TestReasons: each event causes its notice once, although each delivery is duplicated, and a suppressed address gets
// no more email.
func TestReasons(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		f.inject(mockserver.Fault{Event: "*", Action: mockserver.FaultDuplicate})
		for i, to := range []string{"bounce+hb@mock.test", "bounce+sb@mock.test", "bounce+ar@mock.test", "complaint@mock.test", "global-unsubscribe@mock.test"} {
			f.enqueue(fmt.Sprint(i), to)
		}
		time.Sleep(time.Minute)
		assert.Equal(t, []string{
			"complaint complaint@mock.test 3", "globally_unsubscribed global-unsubscribe@mock.test 4",
			"hard_bounce bounce+hb@mock.test 0",
			"sent bounce+ar@mock.test 2", "sent bounce+hb@mock.test 0", "sent bounce+sb@mock.test 1", "sent complaint@mock.test 3", "sent global-unsubscribe@mock.test 4",
			"soft_bounce bounce+sb@mock.test 1",
			"suppressed global-unsubscribe@mock.test ",
		}, f.got())
		_, err := f.room.Send(t.Context(), email("Bounce+HB@mock.test", "x"))
		require.ErrorIs(t, err, ErrSuppressed)
		f.enqueue("again", "complaint@mock.test")
		time.Sleep(time.Minute)
		assert.Contains(t, f.got(), "rejected complaint@mock.test again")
		assert.Equal(t, 5, len(f.platform.Outbox()))
	})
}

// TestSuppression: patterns match addresses, and can be removed.
func TestSuppression(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		for _, pattern := range []string{"*@Example.org", "abuse@*", " ada@example.com "} {
			require.NoError(t, f.room.Suppress(t.Context(), pattern))
		}
		reasons := func() (reasons []Reason) {
			for _, address := range []string{"x@example.org", "Abuse@example.net", "ada@example.com", "bob@example.com", "example.org", ""} {
				reasons = append(reasons, need(f.room.Suppression(t.Context(), address))(t))
			}
			return reasons
		}
		assert.Equal(t, []Reason{Suppressed, Suppressed, Suppressed, "", "", ""}, reasons())
		require.NoError(t, f.room.Unsuppress(t.Context(), "ABUSE@*"))
		assert.Equal(t, []Reason{Suppressed, "", Suppressed, "", "", ""}, reasons())
	})
}

// TestLostResponse: the outcome is unknown until an event resolves it, and the email is not sent again.
func TestLostResponse(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		f.loseResponses(1)
		f.enqueue("17", "ada@example.org")
		time.Sleep(10 * time.Second)
		assert.Equal(t, []string{"unknown ada@example.org 17"}, f.got())
		f.enqueue("17", "ada@example.org")
		f.enqueue("18", "ada@example.org") // sent after the pause
		time.Sleep(2 * time.Minute)
		require.Equal(t, 2, len(f.platform.Outbox()))
		for _, m := range f.platform.Outbox() {
			require.NoError(t, f.platform.Open(m.ID))
		}
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"sent ada@example.org 17", "sent ada@example.org 18", "unknown ada@example.org 17"}, f.got())
		assert.Equal(t, 2, len(f.platform.Outbox()))
	})
}

// TestPause: after a failure, one request is sent alone after the pause, which doubles, and Retry-After replaces it.
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

// TestPostponed: a status that does not reject the email keeps the email and the pause.
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

// TestRestart: a later Room continues with lookups and notices.
func TestRestart(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		calls := 0
		f.fail = func(Notice) bool { calls++; return calls <= 3 }
		f.inject(mockserver.Fault{Operation: "getEmail", Action: mockserver.FaultStatus, Status: 503, Times: 30})
		f.enqueue("1", "bounce+hb@mock.test")
		time.Sleep(3 * time.Second)
		require.NoError(t, f.room.Close())
		_, err := f.room.Send(t.Context(), email("a@example.org", "x"))
		require.ErrorIs(t, err, ErrClosed)
		require.Empty(t, f.got())
		f.platform.ClearFaults()
		f.start()
		time.Sleep(5 * time.Minute)
		assert.Equal(t, []string{"sent bounce+hb@mock.test 1", "hard_bounce bounce+hb@mock.test 1"}, f.inOrder())
	})
}

// TestCrash: a process that ends during a request leaves an unknown outcome, and an operator decides.
func TestCrash(t *testing.T) {
	for _, wasSent := range []bool{false, true} {
		inBubble(t, func(t *testing.T, f *fixture) {
			f.start()
			require.NoError(t, f.room.Close())
			f.enqueue("1", "ada@example.org")
			f.claimed("1")
			f.start()
			time.Sleep(time.Minute)
			assert.Equal(t, []string{"unknown ada@example.org 1"}, f.got())
			assert.Equal(t, 0, len(f.platform.Outbox()))
			open := need(f.room.Unknown(t.Context()))(t)
			require.Len(t, open, 1)
			assert.Equal(t, "1 ada@example.org", open[0].Key+" "+open[0].To)
			require.True(t, need(f.room.Resolve(t.Context(), "1", wasSent))(t))
			time.Sleep(time.Minute)
			assert.Equal(t, []string{"sent ada@example.org 1", "unknown ada@example.org 1"}, f.got())
			assert.Equal(t, map[bool]int{false: 1, true: 0}[wasSent], len(f.platform.Outbox()))
			assert.Empty(t, need(f.room.Unknown(t.Context()))(t))
			assert.False(t, need(f.room.Resolve(t.Context(), "1", wasSent))(t), "resolved again")
		})
	}
}

// TestKeepSent: a key can be used again after KeepSent.
func TestKeepSent(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start(func(o *Options) { o.KeepSent = time.Hour })
		for _, want := range []int{1, 1, 2} {
			f.enqueue("1", "ada@example.org")
			time.Sleep(40 * time.Minute)
			assert.Equal(t, want, len(f.platform.Outbox()))
		}
	})
}

// TestRejectedKey: the key of an email that was not sent can be used again.
func TestRejectedKey(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		require.NoError(t, f.room.Suppress(t.Context(), "ada@example.org"))
		f.enqueue("1", "ada@example.org")
		time.Sleep(time.Second)
		require.NoError(t, f.room.Unsuppress(t.Context(), "ada@example.org"))
		f.enqueue("1", "ada@example.org")
		require.NoError(t, f.room.Enqueue(t.Context(), "2", email("no address", "2")))
		time.Sleep(time.Second)
		assert.Equal(t, []string{"failed no address 2", "rejected ada@example.org 1", "sent ada@example.org 1"}, f.got())
	})
}

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

// TestNewEvents: a release that subscribes to other events gets its own webhook, and a webhook that no process uses stays
// active for 8 hours.
func TestNewEvents(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		active := func() int { return len(need(f.c.Webhooks.Active(t.Context(), "http://app.test/hook"))(t)) }
		five := func(o *Options) { o.Events = DefaultEvents()[:5] }
		f.start()
		f.start(five)
		time.Sleep(time.Minute)
		assert.Equal(t, 2, active())
		need(f.room.Send(t.Context(), email("bounce+hb@mock.test", "1")))(t)
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
		hooks := need(f.c.Webhooks.Active(t.Context(), f.opts.URL))(t)
		require.Len(t, hooks, 1, "the release with five events uses the first webhook again")
		assert.Equal(t, used, hooks[0].ID, "no process archives a webhook that a process uses")
	})
}

// TestNewURL: a release has another URL, so there are two webhooks. Each event is handled once, even if it arrives at
// the old URL. The old webhook is archived when the platform no longer retries its deliveries.
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
		second := need(New(f.c, f.store, Options{URL: "http://moved.test/hook", OnNotice: f.onNotice}))(t)
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
		hooks := need(f.c.Webhooks.Active(t.Context(), f.opts.URL))(t)
		require.NoError(t, f.room.archiveWebhook(t.Context(), hooks[0].ID))
		time.Sleep(2 * time.Minute)
		require.Len(t, need(f.c.Webhooks.Active(t.Context(), f.opts.URL))(t), 1)
		need(f.room.Send(t.Context(), email("bounce+hb@mock.test", "1")))(t)
		time.Sleep(2 * time.Minute)
		assert.Equal(t, []string{"hard_bounce bounce+hb@mock.test "}, f.got())
	})
}

// TestLeaseBehindBacklog: after a process was killed while it sent an email, the outcome of this email becomes unknown when
// the lease ends. Neither emails that were queued earlier nor a pause delays this.
func TestLeaseBehindBacklog(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		require.NoError(t, f.room.Close())
		for i := range 100 {
			f.enqueue(fmt.Sprint(i), "ada@example.org")
		}
		f.claimed("99")
		f.setTransport(slowTransport{f.platform.Transport(), 10 * time.Second})
		f.start(func(o *Options) { o.Workers = 1 })
		time.Sleep(time.Minute)
		assert.Contains(t, f.got(), "unknown ada@example.org 99")
	})
}

// TestOutageAfterQuietTime: after a time without a success, one request is sent alone, so each pause of an outage causes
// one unknown outcome.
func TestOutageAfterQuietTime(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		sendAll := func(from, to int) {
			for i := range to - from {
				f.enqueue(fmt.Sprint(from+i), fmt.Sprintf("a%d@example.org", from+i))
			}
		}
		unknown := func() int { return len(need(f.room.Unknown(t.Context()))(t)) }
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

// TestEnqueueAt: an email is sent at its time, or immediately if it has none.
func TestEnqueueAt(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		require.NoError(t, f.room.EnqueueAt(t.Context(), time.Now().Add(time.Hour), "1", email("ada@example.org", "1")))
		time.Sleep(59 * time.Minute)
		assert.Equal(t, 0, len(f.platform.Outbox()))
		time.Sleep(2 * time.Minute)
		assert.Equal(t, 1, len(f.platform.Outbox()))
		require.NoError(t, f.room.EnqueueAt(t.Context(), time.Time{}, "2", email("ada@example.org", "2")))
		time.Sleep(time.Second)
		assert.Equal(t, 2, len(f.platform.Outbox()))
	})
}

// TestInvalidText: an email whose text would change is not enqueued.
func TestInvalidText(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.room = need(New(f.c, f.store, f.opts))(t)
		for _, change := range []func(*client.EmailSubmission){
			func(e *client.EmailSubmission) { e.To = "jos\xe9@example.org" },
			func(e *client.EmailSubmission) { e.Content.Text = "\xed\xa0\x80" }, // a surrogate
			func(e *client.EmailSubmission) {
				e.CustomAttributes = client.Attributes{{Name: "a", Value: "b"}, {Name: "c", Value: "\xff"}}
			},
		} {
			e := email("ada@example.org", "1")
			change(&e)
			assert.ErrorContains(t, f.room.Enqueue(t.Context(), "1", e), `all text of the email with the key "1" must be UTF-8`)
		}
	})
}

// jobs is a store with a job queue. Its jobs are repeated, early or late.
type jobs struct {
	*MemoryStore
	work func(kind, key string)
}

func (j *jobs) Update(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error {
	return j.MemoryStore.Update(ctx, func(ctx context.Context, tx Tx) error { return fn(ctx, jobsTx{tx, j}) })
}

type jobsTx struct {
	Tx
	j *jobs
}

func (tx jobsTx) Insert(ctx context.Context, it Item) (bool, error) {
	inserted, err := tx.Tx.Insert(ctx, it)
	if inserted {
		tx.add(ctx, it)
	}
	return inserted, err
}

func (tx jobsTx) Put(ctx context.Context, it Item) error {
	tx.add(ctx, it)
	return tx.Tx.Put(ctx, it)
}

func (tx jobsTx) add(ctx context.Context, it Item) {
	if it.IsWork() {
		tx.j.AfterCommit(ctx, func() {
			for _, d := range []time.Duration{-100 * time.Millisecond, 0, time.Second} {
				time.AfterFunc(time.Until(it.Due.Add(d)), func() { tx.j.work(it.Kind, it.Key) })
			}
		})
	}
}

// TestWorkKinds: Work accepts each kind of work, and no other kind.
func TestWorkKinds(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start(func(o *Options) { o.External = true })
		for _, kind := range workKinds() {
			_, err := f.room.Work(t.Context(), kind, "missing")
			assert.NoError(t, err, kind)
		}
		_, err := f.room.Work(t.Context(), kindHook, "missing")
		assert.ErrorContains(t, err, `kind "hook"`)
	})
}

// TestExternal: a job queue calls Work. Items that were stored before the queue was used get their jobs later.
func TestExternal(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		require.NoError(t, f.room.Close())
		f.enqueue("0", "ada@example.org")
		f.store = &jobs{f.store.(*MemoryStore), func(kind, key string) {
			for {
				wait, err := f.room.Work(t.Context(), kind, key)
				if err == nil && wait == 0 || errors.Is(err, ErrClosed) {
					return
				}
				time.Sleep(max(wait, time.Second))
			}
		}}
		calls := 0
		f.fail = func(Notice) bool { calls++; return calls < 3 }
		f.start(func(o *Options) { o.External = true })
		f.loseResponses(1)
		f.enqueue("1", "ada@example.org")
		time.Sleep(time.Second)
		for i := range 5 {
			f.enqueue(fmt.Sprint("b", i), fmt.Sprintf("bounce+hb+%d@mock.test", i))
		}
		time.Sleep(5 * time.Minute)
		require.Equal(t, 6, len(f.platform.Outbox()))
		require.NoError(t, f.platform.Open(f.platform.Outbox()[0].ID))
		time.Sleep(20 * time.Minute)
		got := f.got()
		assert.Len(t, got, 5+5+1+2)
		assert.Equal(t, []string{"sent ada@example.org 0", "sent ada@example.org 1"}, got[5:7])
		assert.Equal(t, "unknown ada@example.org 1", got[12])
		assert.Equal(t, 7, len(f.platform.Outbox()))
	})
}

// TestOrderOfNotices: the bounce arrives before the response to the request that sent the email, and the first calls
// of OnNotice fail. Nevertheless, OnNotice receives the outcome before the bounce, the bounce has the key, and the
// address is suppressed immediately.
func TestOrderOfNotices(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.setTransport(slowTransport{f.platform.Transport(), 5 * time.Second})
		calls := 0
		f.fail = func(n Notice) bool { calls++; return n.Reason == Sent && calls <= 3 }
		f.start()
		f.enqueue("1", "bounce+hb@mock.test")
		time.Sleep(3 * time.Second)
		assert.Equal(t, HardBounce, need(f.room.Suppression(t.Context(), "bounce+hb@mock.test"))(t))
		time.Sleep(time.Minute)
		assert.Equal(t, []string{"sent bounce+hb@mock.test 1", "hard_bounce bounce+hb@mock.test 1"}, f.inOrder())
	})
}

// slowTransport delays the response of a request to send.
type slowTransport struct {
	http.RoundTripper
	delay time.Duration
}

func (s slowTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := s.RoundTripper.RoundTrip(r)
	if r.Method == http.MethodPost && r.URL.Path == "/v2/emails" {
		time.Sleep(s.delay)
	}
	return resp, err
}

// TestMatch: each event resolves the email with its subject, and an event about one of two equal emails resolves none.
func TestMatch(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.loseResponses(0)
		f.start(func(o *Options) { o.Pause = time.Second }) // all within the uncertainty of the clocks
		f.enqueue("{{n}}-1", "ada@example.org")
		f.enqueue("(2", "ada@example.org")
		same := email("bob@example.org", "x")
		require.NoError(t, f.room.Enqueue(t.Context(), "3", same))
		require.NoError(t, f.room.Enqueue(t.Context(), "4", same))
		require.NoError(t, f.room.Enqueue(t.Context(), "5", email("bob@example.org", "{{y}}").Literal()))
		time.Sleep(30 * time.Minute)
		require.Equal(t, 5, len(f.platform.Outbox()))
		for _, m := range f.platform.Outbox() {
			if m.Subject != "Your order -1" {
				require.NoError(t, f.platform.Open(m.ID))
			}
		}
		time.Sleep(time.Minute)
		assert.Equal(t, []string{
			"sent ada@example.org (2", "sent bob@example.org 5",
			"unknown ada@example.org (2", "unknown ada@example.org {{n}}-1", "unknown bob@example.org 3", "unknown bob@example.org 4", "unknown bob@example.org 5",
		}, f.got())
	})
}

// TestCloseWaits: Close returns after the requests in progress have ended and their results are recorded.
func TestCloseWaits(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.setTransport(slowTransport{f.platform.Transport(), 5 * time.Second})
		f.start()
		f.enqueue("1", "ada@example.org")
		sent := make(chan error, 1)
		go func() {
			_, err := f.room.Send(t.Context(), email("bob@example.org", "2"))
			sent <- err
		}()
		time.Sleep(time.Second)
		require.NoError(t, f.room.Close())
		select {
		case err := <-sent:
			require.NoError(t, err)
		default:
			t.Error("Close did not wait for Send")
		}
		assert.Equal(t, Sent, f.stored("1").State)
	})
}

// TestEnqueueInTransaction: an email of a transaction that is rolled back is not sent, and keys and ids can be unusual.
func TestEnqueueInTransaction(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fixture) {
		f.start()
		rollback := errors.New("the order is invalid")
		require.ErrorIs(t, f.store.Update(t.Context(), func(ctx context.Context, _ Tx) error {
			return errors.Join(f.room.Enqueue(ctx, "1", email("ada@example.org", "1")), rollback)
		}), rollback)
		for _, key := range []string{"", "a\x00", "\xff", string(make([]byte, 251))} {
			require.ErrorContains(t, f.room.Enqueue(t.Context(), key, email("ada@example.org", "1")), "mailroom: key must be")
		}
		time.Sleep(time.Minute)
		assert.Equal(t, 0, len(f.platform.Outbox()))
		assert.Empty(t, f.got())
		assert.LessOrEqual(t, len(refOfAddress(string(make([]byte, 300)))), 255)
	})
}

func TestNewInvalid(t *testing.T) {
	c := need(client.New(client.Config{BaseURL: "https://example.com", Token: "t"}))(t)
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
}

// TestNoticeOf: an event that contains everything becomes a complete notice.
func TestNoticeOf(t *testing.T) {
	e := need(events.Parse([]byte(`{"event":"Contact.Unsubscribed","timestamp":"2024-01-01T00:00:00Z",
		"data":{"contact_id":"1","list_id":"2","email_address":"Ada@Example.org"}}`)))(t)
	n, partial := noticeOf(e)
	assert.False(t, partial)
	n.Event = nil
	assert.Equal(t, Notice{Reason: Unsubscribed, Address: "ada@example.org", ListID: "2", ContactID: "1", Time: e.Time}, n)
}

// TestHandleIncomplete: Handle returns the error of unreadable data, and does not look up an email without an id. If the
// kind of a bounce cannot be looked up, it is unknown.
func TestHandleIncomplete(t *testing.T) {
	for body, want := range map[string]struct{ err, notice string }{
		`{"event":"Email.Bounced","data":{"campaign":{"id":1},"bounce":{"category":"bounce_hb"},"contact":{"email":7}}}`: {err: "data.contact.email"},
		`{"event":"Email.Bounced","data":"x"}`:                                            {err: "data: expected an object"},
		`{"event":"Email.Bounced","data":{"email":{"id":""}}}`:                            {notice: "soft_bounce  "},
		`{"event":"Contact.Unsubscribed","data":{"contact_id":"1","email_address":null}}`: {notice: "unsubscribed  "},
		`{"event":"Email.Delivered","data":{"email":{"id":"e1"}}}`:                        {},
	} {
		inBubble(t, func(t *testing.T, f *fixture) {
			f.start()
			err := f.room.Handle(t.Context(), need(events.Parse([]byte(body)))(t))
			if want.err == "" {
				require.NoError(t, err, body)
			} else {
				require.ErrorContains(t, err, want.err, body)
			}
			require.NoError(t, f.store.Update(t.Context(), func(ctx context.Context, tx Tx) error {
				assert.Empty(t, need(tx.Due(ctx, kindLookup, time.Now().Add(24*time.Hour), 9))(t), body)
				return nil
			}))
			time.Sleep(time.Minute)
			var notices []string
			if want.notice != "" {
				notices = []string{want.notice}
			}
			assert.Equal(t, notices, f.got(), body)
		})
	}
}
