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
	"example.com/emailplatform/mockserver"
)

// TestChaos repeatedly kills or replaces one of two processes. The platform loses requests and responses, and its
// deliveries are lost, duplicated and reordered. Nevertheless, no email is sent two times, and each key has an
// outcome. OnNotice receives each notice once and with the right key. It receives other notices only after the
// outcome.
func TestChaos(t *testing.T) {
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			assert.Empty(t, chaos(t, seed, func(tx Tx) Tx { return tx }))
		})
	}
}

// TestChaosFindsBugs: TestChaos finds each bug that is planted in the rules, as a change of what they store.
func TestChaosFindsBugs(t *testing.T) {
	for name, plant := range bugs {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(seeds) {
				if found := chaos(t, seed, plant); len(found) > 0 {
					t.Logf("found with seed %d: %s", seed, found[0])
					return
				}
			}
			t.Error("the bug was not found")
		})
	}
}

var bugs = map[string]func(Tx) Tx{
	"emails with an unknown outcome are sent again": func(tx Tx) Tx {
		return planted{Tx: tx, resend: func(m mail) bool { return m.State == Unknown }}
	},
	"emails of a killed process are sent again": func(tx Tx) Tx {
		return planted{Tx: tx, resend: func(m mail) bool { return m.State == Unknown && strings.Contains(m.Detail, "process ended") }}
	},
	"any email to the address resolves an outcome": func(tx Tx) Tx {
		return planted{Tx: tx, ref: func(it *Item) {
			changeMail(it, func(m *mail) {
				if m.Submission != nil {
					m.Submission.Content.Subject = "{{any}}"
				}
			})
		}}
	},
	"an email in progress is not waited for": func(tx Tx) Tx {
		return planted{Tx: tx, ref: func(it *Item) {
			changeMail(it, func(m *mail) {
				if m.State == sending {
					m.State = queued
				}
			})
		}}
	},
	"events are not deduplicated": func(tx Tx) Tx { return planted{Tx: tx, insertTwice: kindEvent} },
	"a key is not unique":         func(tx Tx) Tx { return planted{Tx: tx, insertTwice: kindMail + kindSend} },
	"a failed lookup is dropped": func(tx Tx) Tx {
		return planted{Tx: tx, put: func(it *Item) bool {
			return it.Kind != kindLookup || !strings.Contains(string(it.Value), `"tries"`)
		}}
	},
	"a failed notice is dropped": func(tx Tx) Tx {
		return planted{Tx: tx, put: func(it *Item) bool {
			return it.Kind != kindNotice || !strings.Contains(string(it.Value), `"tries"`)
		}}
	},
	"notices have no order": func(tx Tx) Tx {
		var current string
		return planted{Tx: tx, due: func(it *Item) { current = it.Key }, hide: func(kind, key string) bool {
			return kind == kindNotice && current != "" && key != current
		}}
	},
}

// planted is a transaction with a bug.
type planted struct {
	Tx
	put         func(*Item) bool  // whether to put the item, otherwise it is deleted
	resend      func(m mail) bool // whether to enqueue the email of the item again
	due, ref    func(*Item)
	insertTwice string                      // kinds of items whose Insert always succeeds
	hide        func(kind, key string) bool // whether Get does not find an item
}

func (p planted) Put(ctx context.Context, it Item) error {
	if m, _ := decode[mail](it); it.Kind == kindMail && p.resend != nil && p.resend(m) {
		again := Item{Kind: kindSend, Key: it.Key, Due: time.Now().Add(time.Second), Value: encode(mail{Submission: m.Submission})}
		return errors.Join(p.Tx.Put(ctx, Item{Kind: kindMail, Key: it.Key, Value: encode(mail{State: queued})}), p.Tx.Put(ctx, again))
	}
	if p.put != nil && !p.put(&it) {
		return p.Delete(ctx, it.Kind, it.Key)
	}
	return p.Tx.Put(ctx, it)
}

func (p planted) Due(ctx context.Context, kind string, now time.Time, limit int) ([]Item, error) {
	items, err := p.Tx.Due(ctx, kind, now, limit)
	return each(items, p.due), err
}

func (p planted) ByRef(ctx context.Context, kind, ref string) ([]Item, error) {
	items, err := p.Tx.ByRef(ctx, kind, ref)
	return each(items, p.ref), err
}

func (p planted) Insert(ctx context.Context, it Item) (bool, error) {
	if strings.Contains(p.insertTwice, it.Kind) {
		return true, p.Tx.Put(ctx, it)
	}
	return p.Tx.Insert(ctx, it)
}

func (p planted) Get(ctx context.Context, kind, key string) (Item, bool, error) {
	if p.hide != nil && p.hide(kind, key) {
		return Item{}, false, nil
	}
	return p.Tx.Get(ctx, kind, key)
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
func changeMail(it *Item, change func(*mail)) {
	if it.Kind == kindMail {
		var m mail
		if err := json.Unmarshal(it.Value, &m); err != nil {
			panic(err)
		}
		change(&m)
		it.Value = encode(m)
	}
}

// process is the store of a process that can be killed. A killed process writes nothing more.
type process struct {
	*MemoryStore
	plant func(Tx) Tx
	dead  atomic.Bool
}

func (p *process) Update(ctx context.Context, fn func(ctx context.Context, tx Tx) error) error {
	return p.MemoryStore.Update(ctx, func(ctx context.Context, tx Tx) error {
		if err := fn(ctx, p.plant(tx)); err != nil {
			return err
		}
		if p.dead.Load() {
			return errors.New("killed")
		}
		return nil
	})
}

const (
	chaosEmails = 60
	seeds       = 10
)

// world is the state of one run of TestChaos.
type world struct {
	t        *testing.T
	rnd      *rand.Rand
	platform *mockserver.Server
	store    *MemoryStore
	plant    func(Tx) Tx

	mu   sync.Mutex
	told []Notice
}

// chaos returns what went wrong.
func chaos(t *testing.T, seed uint64, plant func(Tx) Tx) (wrong []string) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{
			t: t, rnd: rand.New(rand.NewPCG(seed, 1)), store: NewMemoryStore(), plant: plant,
			platform: mockserver.New(mockserver.Config{Logger: slog.New(slog.DiscardHandler), FaultSeed: seed + 1}),
		}
		t.Cleanup(w.platform.Close)
		w.run()
		wrong = w.check()
	})
	return wrong
}

func (w *world) start() (*Room, *process) {
	p := &process{MemoryStore: w.store, plant: w.plant}
	quiet := slog.New(slog.DiscardHandler)
	c := need(client.New(client.Config{
		BaseURL: w.platform.URL(), Token: w.platform.Token(), Logger: quiet,
		HTTPClient: &http.Client{Transport: late{w.platform.Transport(), time.Second}}, // so processes are killed during a request
	}))(w.t)
	room := need(New(c, p, Options{
		URL: "http://app.test/hook", List: "Orders", Logger: quiet, Pause: time.Second, OnNotice: w.onNotice,
	}))(w.t)
	room.poll = 5 * time.Second // so that the test is fast
	w.platform.SetTarget("app.test", room)
	room.Start()
	return room, p
}

func (w *world) onNotice(ctx context.Context, n Notice) error {
	if time.Now().UnixNano()%7 == 0 {
		return errors.New("not now")
	}
	w.store.AfterCommit(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.told = append(w.told, n)
	})
	return nil
}

func (w *world) inject(faults ...mockserver.Fault) {
	need(w.platform.Inject(faults...))(w.t)
}

func (w *world) injectAll() {
	for op, rate := range map[string]float64{"submitEmail": 0.1, "getEmail": 0.2} {
		w.inject(
			mockserver.Fault{Operation: op, Action: mockserver.FaultReset, AfterProcessing: true, Probability: rate},
			mockserver.Fault{Operation: op, Action: mockserver.FaultReset, Probability: rate},
			mockserver.Fault{Operation: op, Action: mockserver.FaultStatus, Status: 503, Probability: rate},
			mockserver.Fault{Operation: op, Action: mockserver.FaultTruncate, Probability: rate})
	}
	for _, action := range []mockserver.FaultAction{mockserver.FaultReorder, mockserver.FaultDuplicate, mockserver.FaultStatus} {
		w.inject(mockserver.Fault{Event: "*", Action: action, Probability: 0.2})
	}
}

// run sends emails with faults, ends the faults, and waits until everything is done. Each third email bounces, and the
// others share addresses.
func (w *world) run() {
	first, p := w.start()
	second, _ := w.start()
	time.Sleep(5 * time.Second)
	w.injectAll()
	for i := range chaosEmails {
		to, key := fmt.Sprintf("a%d@example.org", i%7), fmt.Sprint(i)
		if i%3 == 0 {
			to = fmt.Sprintf("bounce+hb+%d@mock.test", i)
		}
		for range 2 {
			enqueuing := []*Room{first, second}[i%2]
			require.NoError(w.t, enqueuing.Enqueue(w.t.Context(), key, email(to, key)))
			time.Sleep(time.Duration(w.rnd.IntN(1000)) * time.Millisecond)
		}
		switch w.rnd.IntN(10) {
		case 0: // killed
			p.dead.Store(true)
			killed := first
			go func() { _ = killed.Close() }()
			first, p = w.start()
		case 1: // replaced by another release
			require.NoError(w.t, first.Close())
			first, p = w.start()
		}
	}
	time.Sleep(10 * time.Minute)
	w.platform.ClearFaults()
	time.Sleep(10 * time.Minute)
	for _, m := range w.platform.Outbox() {
		if m.Status != "bounced" {
			require.NoError(w.t, w.platform.Open(m.ID))
		}
	}
	time.Sleep(3 * time.Hour)
	require.NoError(w.t, first.Close())
	require.NoError(w.t, second.Close())
}

// check returns the violated rules.
func (w *world) check() (wrong []string) {
	complain := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	subjects, emails, told, outcome := map[string]string{}, map[string]int{}, map[string]int{}, map[string]bool{}
	for _, m := range w.platform.Outbox() {
		subjects[m.ID] = m.Subject
		emails[strings.TrimPrefix(m.Subject, "Your order ")]++
	}
	for _, n := range w.told {
		told[string(n.Reason)+" "+n.Key]++
		if n.EmailID != "" && subjects[n.EmailID] != "Your order "+n.Key {
			complain("%s of key %q is about another email: %q", n.Reason, n.Key, subjects[n.EmailID])
		}
		if outcome[n.Key] = outcome[n.Key] || n.Reason.Outcome(); !outcome[n.Key] {
			complain("%s of key %q precedes its outcome", n.Reason, n.Key)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(told)) {
		if told[what] > 1 {
			complain("%q was told %d times", what, told[what])
		}
	}
	for i := range chaosEmails {
		key := fmt.Sprint(i)
		n := emails[key]
		switch {
		case n > 1:
			complain("key %s was sent %d times", key, n)
		case n == 1 && told["sent "+key] == 0:
			complain("key %s was sent, but not told", key)
		case n == 0 && told["unknown "+key] == 0:
			complain("key %s has no outcome", key)
		case i%3 == 0 && told["hard_bounce "+key] != n:
			complain("the bounce of key %s was told %d times", key, told["hard_bounce "+key])
		}
	}
	return wrong
}
