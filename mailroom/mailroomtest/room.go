package mailroomtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mailroom"
	"example.com/emailplatform/mockserver"
)

const (
	emailCount    = 30
	lostResponses = 5
	timeLimit     = 60 * time.Second // long enough for a slow database
)

// testRooms simulates two processes. Both processes enqueue the same keys at the same
// time. Each process enqueues each key two times, and some of the transactions are
// rolled back. The platform loses responses and duplicates deliveries.
func testRooms(t *testing.T, stores ...mailroom.Store) {
	platform := mockserver.New(mockserver.Config{LookupLimit: mockserver.LookupUnlimited})
	defer platform.Close()
	received := &noticeCounter{n: map[string]int{}}
	prefix := newKind() + "-" // the store may contain keys of another run
	var rooms []*mailroom.Room
	for _, s := range stores {
		rooms = append(rooms, newRoom(t, platform, s, received))
	}
	platform.SetTarget("app.test", rooms[0])
	if _, err := platform.Inject(
		mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultReset, AfterProcessing: true, Times: lostResponses},
		mockserver.Fault{Event: "*", Action: mockserver.FaultDuplicate}); err != nil {
		t.Fatal(err)
	}
	if err := rooms[0].Handle(t.Context(), latin1Event(t)); err != nil {
		t.Errorf("Handle for an event that is not UTF-8: %v", err)
	}
	var wg sync.WaitGroup
	for i, room := range rooms {
		room.Start()
		slow := newRoom(t, platform, slowStore{stores[i]}, received)
		for range 2 {
			wg.Go(func() { enqueueAll(t, stores[i], slow, prefix) })
		}
	}
	wg.Wait()
	received.await(t, func() bool {
		return len(platform.Outbox()) == emailCount && received.keys(mailroom.Sent)+received.keys(mailroom.Unknown) == emailCount
	})
	for _, m := range platform.Outbox() {
		if err := platform.Open(m.ID); err != nil {
			t.Fatal(err)
		}
	}
	received.await(t, func() bool { return received.keys(mailroom.Sent) == emailCount })
	for _, room := range rooms {
		if err := room.Close(); err != nil {
			t.Error(err)
		}
	}
	received.check(t, len(platform.Outbox()))
}

// check checks the notices and the number of emails.
func (c *noticeCounter) check(t *testing.T, sent int) {
	t.Helper()
	if unknown := c.keys(mailroom.Unknown); sent != emailCount || unknown != lostResponses {
		t.Errorf("%d emails, %d of them unknown at first; want %d and %d", sent, unknown, emailCount, lostResponses)
	}
	for notice, n := range c.n {
		if n != 1 {
			t.Errorf("OnNotice received %q %d times", notice, n)
		}
	}
}

// latin1Event returns an event with a text that is not UTF-8, as in the responses of some mail
// servers.
func latin1Event(t *testing.T) *events.Event {
	t.Helper()
	e, err := events.Parse([]byte(`{"event":"Contact.Unsubscribed","timestamp":"2024-01-01T00:00:00Z",
		"data":{"contact_id":"1","list_id":"caf` + "\xe9" + `","email_address":"ada@example.org"}}`))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func newRoom(t *testing.T, platform *mockserver.Server, s mailroom.Store, received *noticeCounter) *mailroom.Room {
	t.Helper()
	c, err := client.New(client.Config{
		BaseURL: platform.URL(), Token: platform.Token(), HTTPClient: platform.HTTPClient(), LookupLimiter: client.NoLookupLimit{},
	})
	if err != nil {
		t.Fatal(err)
	}
	room, err := mailroom.New(c, s, mailroom.Options{
		URL: "http://app.test/hook", Pause: 10 * time.Millisecond,
		OnNotice: func(ctx context.Context, n mailroom.Notice) error {
			s.AfterCommit(ctx, func() { received.add(n) })
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return room
}

// slowStore is a store that pauses after a transaction has read that an item does not exist. If
// the transaction holds no lock, another process can insert the item during the pause.
type slowStore struct{ mailroom.Store }

func (s slowStore) Update(ctx context.Context, fn func(ctx context.Context, tx mailroom.Tx) error) error {
	return s.Store.Update(ctx, func(ctx context.Context, tx mailroom.Tx) error { return fn(ctx, slowTx{tx}) })
}

type slowTx struct{ mailroom.Tx }

func (tx slowTx) Get(ctx context.Context, kind, key string) (mailroom.Item, bool, error) {
	it, found, err := tx.Tx.Get(ctx, kind, key)
	if !found {
		time.Sleep(rand.N(100 * time.Millisecond)) //nolint:gosec // not a secret
	}
	return it, found, err
}

func enqueueAll(t *testing.T, s mailroom.Store, room *mailroom.Room, prefix string) {
	for i := range 2 * emailCount {
		key := prefix + fmt.Sprint(i)
		err := s.Update(t.Context(), func(ctx context.Context, _ mailroom.Tx) error {
			err := room.Enqueue(ctx, key, client.EmailSubmission{
				To: fmt.Sprintf("a%d@example.org", i), Sender: client.Sender{Email: "s@example.com"},
				Content: client.EmailContent{Subject: "Order " + key, Text: "Thank you!"},
			})
			if err == nil && i >= emailCount {
				return errRollback
			}
			return err
		})
		if rolledBack := err == errRollback; err != nil && !rolledBack || rolledBack != (i >= emailCount) { //nolint:errorlint // the store must not change the error
			t.Errorf("Update = %v", err)
		}
	}
}

// noticeCounter counts notices by reason and key.
type noticeCounter struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *noticeCounter) add(n mailroom.Notice) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[string(n.Reason)+" "+n.Key]++
}

// keys returns the number of keys with a notice.
func (c *noticeCounter) keys(reason mailroom.Reason) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for notice := range c.n {
		var r, key string
		if _, err := fmt.Sscan(notice, &r, &key); err == nil && r == string(reason) {
			n++
		}
	}
	return n
}

func (c *noticeCounter) await(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.Now().Add(timeLimit); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not done within %v: %v", timeLimit, c.n)
		}
	}
}
