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
	"example.com/emailplatform/internal/tests/check"
	"example.com/emailplatform/mockserver"
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
	f.room = check.Need(New(f.c, f.store, opts))(f.t)
	f.room.pollInterval = 10 * time.Second // so that hours pass quickly
	f.platform.SetTarget("app.test", f.room)
	f.room.Start()
	time.Sleep(2 * time.Second)
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
	check.Need(f.platform.Inject(faults...))(f.t)
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

func parse(t *testing.T, format string, args ...any) *events.Event {
	t.Helper()
	return check.Need(events.Parse(fmt.Appendf(nil, format, args...)))(t)
}

// stored returns the email of a key.
func (f *fixture) stored(key string) (m mailValue) {
	f.t.Helper()
	require.NoError(f.t, f.room.update(f.t.Context(), func(s *storeTx) {
		it, _ := s.get(kindMail, key)
		m = valueOf[mailValue](s, it)
	}))
	return m
}

// claimed records that the Room is about to send the email of a key.
func (f *fixture) claimed(key string) (m mailValue) {
	f.t.Helper()
	require.NoError(f.t, f.room.update(f.t.Context(), func(s *storeTx) {
		it, _ := s.get(kindSend, key)
		m = valueOf[mailValue](s, it)
		assert.Zero(f.t, s.claim(it, &m))
	}))
	return m
}

// testStore is a store whose transactions a test changes, and whose commits can fail. Each function can be nil.
type testStore struct {
	*MemoryStore
	change func(Tx) Tx     // returns the transaction that the Room gets
	fails  func() bool     // reports whether the commit fails
	ended  func(err error) // is called after the transaction
}

func (s *testStore) Update(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error {
	err := s.MemoryStore.Update(ctx, func(ctx context.Context, tx Tx) error {
		if s.change != nil {
			tx = s.change(tx)
		}
		if err := fn(ctx, tx); err != nil {
			return err
		}
		if s.fails != nil && s.fails() {
			return errors.New("commit failed")
		}
		return nil
	})
	if s.ended != nil {
		s.ended(err)
	}
	return err
}
