package mailroom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/internal/tests/check"
	"example.com/emailplatform/mockserver"
)

// TestChaos repeatedly kills or replaces one of two processes. The platform loses requests and responses, and its
// deliveries are lost, duplicated and reordered. Nevertheless, no email is sent two times, and each key has an
// outcome. OnNotice receives each notice once and with the right key. The first notice of each key is its outcome.
func TestChaos(t *testing.T) {
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			assert.Empty(t, chaos(t, seed, func(tx Tx) Tx { return tx }))
		})
	}
}

// TestChaosFindsBugs: TestChaos finds each planted bug. A bug changes the items that a transaction reads or stores.
func TestChaosFindsBugs(t *testing.T) {
	for name, bug := range plantedBugs {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(seeds) {
				if found := chaos(t, seed, bug); len(found) > 0 {
					t.Logf("found with seed %d: %s", seed, found[0])
					return
				}
			}
			t.Error("the bug was not found")
		})
	}
}

var plantedBugs = map[string]func(Tx) Tx{
	"emails with an unknown outcome are sent again": func(tx Tx) Tx {
		return buggyTx{Tx: tx, resend: func(m mailValue) bool { return m.State == stateUnknown }}
	},
	"emails of a killed process are sent again": func(tx Tx) Tx {
		return buggyTx{Tx: tx, resend: func(m mailValue) bool { return m.State == stateUnknown && strings.Contains(m.Detail, "process ended") }}
	},
	"any email to the address resolves an outcome": func(tx Tx) Tx {
		return buggyTx{Tx: tx, ref: func(it *Item) {
			changeMail(it, func(m *mailValue) {
				if m.Submission != nil {
					m.Submission.Content.Subject = "{{any}}"
				}
			})
		}}
	},
	"an email in progress is not waited for": func(tx Tx) Tx {
		return buggyTx{Tx: tx, ref: func(it *Item) {
			changeMail(it, func(m *mailValue) {
				if m.State == stateSending {
					m.State = stateQueued
				}
			})
		}}
	},
	"events are not deduplicated": func(tx Tx) Tx { return buggyTx{Tx: tx, insertTwice: kindEvent} },
	"a key is not unique":         func(tx Tx) Tx { return buggyTx{Tx: tx, insertTwice: kindMail} },
	"a failed lookup is dropped": func(tx Tx) Tx {
		return buggyTx{Tx: tx, put: func(it *Item) bool {
			return it.Kind != kindLookup || !strings.Contains(string(it.Value), `"attempts"`)
		}}
	},
	"a failed notice is dropped": func(tx Tx) Tx {
		return buggyTx{Tx: tx, put: func(it *Item) bool {
			return it.Kind != kindNotice || !strings.Contains(string(it.Value), `"failures"`)
		}}
	},
	"notices have no order": func(tx Tx) Tx {
		var current string
		return buggyTx{Tx: tx, due: func(it *Item) { current = it.Key }, hide: func(kind, key string) bool {
			return kind == kindNotice && current != "" && key != current
		}}
	},
}

// buggyTx is a transaction with a bug.
type buggyTx struct {
	Tx
	put         func(*Item) bool       // whether to put the item, otherwise it is deleted
	resend      func(m mailValue) bool // whether to enqueue the email of the item again
	due, ref    func(*Item)
	insertTwice string                      // kinds of items whose Insert always succeeds
	hide        func(kind, key string) bool // whether Get does not find an item
}

func (b buggyTx) Put(ctx context.Context, it Item) error {
	if m, _ := decode[mailValue](it); it.Kind == kindMail && b.resend != nil && b.resend(m) {
		retry := Item{Kind: kindSend, Key: it.Key, Due: time.Now().Add(time.Second), Value: encode(mailValue{Submission: m.Submission})}
		return errors.Join(b.Tx.Put(ctx, Item{Kind: kindMail, Key: it.Key, Value: encode(mailValue{State: stateQueued})}), b.Tx.Put(ctx, retry))
	}
	if b.put != nil && !b.put(&it) {
		return b.Delete(ctx, it.Kind, it.Key)
	}
	return b.Tx.Put(ctx, it)
}

func (b buggyTx) Due(ctx context.Context, kind string, now time.Time, limit int) ([]Item, error) {
	items, err := b.Tx.Due(ctx, kind, now, limit)
	return each(items, b.due), err
}

func (b buggyTx) ByRef(ctx context.Context, kind, ref string) ([]Item, error) {
	items, err := b.Tx.ByRef(ctx, kind, ref)
	return each(items, b.ref), err
}

func (b buggyTx) Insert(ctx context.Context, it Item) (bool, error) {
	if strings.Contains(b.insertTwice, it.Kind) {
		return true, b.Tx.Put(ctx, it)
	}
	return b.Tx.Insert(ctx, it)
}

func (b buggyTx) Get(ctx context.Context, kind, key string) (Item, bool, error) {
	if b.hide != nil && b.hide(kind, key) {
		return Item{}, false, nil
	}
	return b.Tx.Get(ctx, kind, key)
}

func each(items []Item, change func(*Item)) []Item {
	for i := range items {
		if change != nil {
			change(&items[i])
		}
	}
	return items
}

// changeMail changes the value of an item of the kind "mail".
func changeMail(it *Item, change func(*mailValue)) {
	if it.Kind == kindMail {
		var m mailValue
		if err := json.Unmarshal(it.Value, &m); err != nil {
			panic(err)
		}
		change(&m)
		it.Value = encode(m)
	}
}

const (
	chaosEmails = 60
	seeds       = 10
)

// chaosRun is the state of one run of TestChaos.
type chaosRun struct {
	t        *testing.T
	rnd      *rand.Rand
	platform *mockserver.Server
	store    *MemoryStore
	bug      func(Tx) Tx

	mu      sync.Mutex
	notices []Notice
}

// chaos returns the violations of a run.
func chaos(t *testing.T, seed uint64, bug func(Tx) Tx) (violations []string) {
	synctest.Test(t, func(t *testing.T) {
		r := &chaosRun{
			t: t, rnd: rand.New(rand.NewPCG(seed, 1)), store: NewMemoryStore(), bug: bug,
			platform: mockserver.New(mockserver.Config{Logger: slog.New(slog.DiscardHandler), FaultSeed: seed + 1}),
		}
		t.Cleanup(r.platform.Close)
		r.run()
		violations = r.check()
	})
	return violations
}

// start starts a process. After kill, the process writes nothing more.
func (r *chaosRun) start() (room *Room, kill func()) {
	var dead atomic.Bool
	store := &testStore{MemoryStore: r.store, change: r.bug, fails: dead.Load}
	quiet := slog.New(slog.DiscardHandler)
	c := check.Need(client.New(client.Config{
		BaseURL: r.platform.URL(), Token: r.platform.Token(), Logger: quiet,
		HTTPClient: &http.Client{Transport: slowTransport{r.platform.Transport(), time.Second}}, // so processes are killed during a request
	}))(r.t)
	room = check.Need(New(c, store, Options{
		URL: "http://app.test/hook", List: "Orders", Logger: quiet, Pause: time.Second, OnNotice: r.onNotice,
	}))(r.t)
	room.pollInterval = 5 * time.Second // so that the test is fast
	r.platform.SetTarget("app.test", room)
	room.Start()
	return room, func() { dead.Store(true) }
}

func (r *chaosRun) onNotice(ctx context.Context, n Notice) error {
	if time.Now().UnixNano()%7 == 0 {
		return errors.New("not now")
	}
	r.store.AfterCommit(ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.notices = append(r.notices, n)
	})
	return nil
}

func (r *chaosRun) inject(faults ...mockserver.Fault) {
	check.Need(r.platform.Inject(faults...))(r.t)
}

func (r *chaosRun) injectAll() {
	for op, rate := range map[string]float64{"submitEmail": 0.1, "getEmail": 0.2} {
		r.inject(
			mockserver.Fault{Operation: op, Action: mockserver.FaultReset, AfterProcessing: true, Probability: rate},
			mockserver.Fault{Operation: op, Action: mockserver.FaultReset, Probability: rate},
			mockserver.Fault{Operation: op, Action: mockserver.FaultStatus, Status: 503, Probability: rate},
			mockserver.Fault{Operation: op, Action: mockserver.FaultTruncate, Probability: rate})
	}
	for _, action := range []mockserver.FaultAction{mockserver.FaultReorder, mockserver.FaultDuplicate, mockserver.FaultStatus} {
		r.inject(mockserver.Fault{Event: "*", Action: action, Probability: 0.2})
	}
}

// run sends emails with faults, ends the faults, and waits until everything is done. Each third email bounces, and the
// others share addresses.
func (r *chaosRun) run() {
	first, kill := r.start()
	second, _ := r.start()
	time.Sleep(5 * time.Second)
	r.injectAll()
	for i := range chaosEmails {
		to, key := fmt.Sprintf("a%d@example.org", i%7), fmt.Sprint(i)
		if i%3 == 0 {
			to = fmt.Sprintf("bounce+hb+%d@mock.test", i)
		}
		for range 2 {
			enqueuing := []*Room{first, second}[i%2]
			require.NoError(r.t, enqueuing.Enqueue(r.t.Context(), key, email(to, key)))
			time.Sleep(time.Duration(r.rnd.IntN(1000)) * time.Millisecond)
		}
		switch r.rnd.IntN(10) {
		case 0: // killed
			kill()
			killed := first
			go func() { _ = killed.Close() }()
			first, kill = r.start()
		case 1: // replaced by another release
			require.NoError(r.t, first.Close())
			first, kill = r.start()
		}
	}
	time.Sleep(10 * time.Minute)
	r.platform.ClearFaults()
	time.Sleep(10 * time.Minute)
	for _, m := range r.platform.Outbox() {
		if m.Status != "bounced" {
			require.NoError(r.t, r.platform.Open(m.ID))
		}
	}
	time.Sleep(3 * time.Hour)
	require.NoError(r.t, first.Close())
	require.NoError(r.t, second.Close())
}

// check returns the violated rules.
func (r *chaosRun) check() (violations []string) {
	violate := func(format string, args ...any) { violations = append(violations, fmt.Sprintf(format, args...)) }
	subjects, emails, received, outcome := map[string]string{}, map[string]int{}, map[string]int{}, map[string]bool{}
	for _, m := range r.platform.Outbox() {
		subjects[m.ID] = m.Subject
		emails[strings.TrimPrefix(m.Subject, "Your order ")]++
	}
	for _, n := range r.notices {
		received[string(n.Reason)+" "+n.Key]++
		if n.EmailID != "" && subjects[n.EmailID] != "Your order "+n.Key {
			violate("%s of key %q is about another email: %q", n.Reason, n.Key, subjects[n.EmailID])
		}
		if outcome[n.Key] = outcome[n.Key] || n.Reason.Outcome(); !outcome[n.Key] {
			violate("%s of key %q precedes its outcome", n.Reason, n.Key)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(received)) {
		if received[what] > 1 {
			violate("OnNotice received %q %d times", what, received[what])
		}
	}
	for i := range chaosEmails {
		key := fmt.Sprint(i)
		n := emails[key]
		switch {
		case n > 1:
			violate("key %s was sent %d times", key, n)
		case n == 1 && received["sent "+key] == 0:
			violate("key %s was sent, but OnNotice did not receive it", key)
		case n == 0 && received["unknown "+key] == 0:
			violate("key %s has no outcome", key)
		case i%3 == 0 && received["hard_bounce "+key] != n:
			violate("OnNotice received the bounce of key %s %d times", key, received["hard_bounce "+key])
		}
	}
	return violations
}
