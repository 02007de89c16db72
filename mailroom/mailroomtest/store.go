// Package mailroomtest contains tests for stores that implement [mailroom.Store]:
//
//	func TestStore(t *testing.T) {
//		mailroomtest.TestStore(t, func(t *testing.T) mailroom.Store { return sqlstore.New(sqlstore.PostgreSQL, openDB(t)) })
//	}
//
// To test the Once that [mailroom.NewOnce] returns for your store, use package webhooktest. If the store has
// one writer, pass webhooktest.OneWriter to webhooktest.TestOnce.
package mailroomtest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/emailplatform/mailroom"
)

// TestStore runs a subtest for each rule of [mailroom.Store], and then simulates two processes with one
// [mailroom.Room] each. To simulate several processes, it calls newStore several times. Each call must return a new
// store that reads and writes the same data. The store need not be empty, because each subtest stores items of a new
// kind and ignores all others.
func TestStore(t *testing.T, newStore func(t *testing.T) mailroom.Store) {
	t.Helper()
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			if err := r.check(t.Context(), newStore(t), newKind(), func() mailroom.Store { return newStore(t) }); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("two processes send each email once", func(t *testing.T) { testRooms(t, newStore(t), newStore(t)) })
}

// check tests a rule with a kind that is not used yet.
type check func(ctx context.Context, s mailroom.Store, kind string, newStore func() mailroom.Store) error

var rules = []struct {
	name  string
	check check
}{
	{"items are stored", itemsAreStored},
	{"keys are compared byte by byte", similarKeys},
	{"failure rolls back", failureRollsBack},
	{"panic rolls back and continues", panicRollsBack},
	{"ended context commits nothing", endedContext},
	{"inner transaction is joined", innerTransaction},
	{"functions run after the commit", afterCommit},
	{"insert keeps an existing item", insertKeepsExisting},
	{"due items are sorted and limited", dueItems},
	{"items are found by ref", byRef},
	{"items are claimed once", claimedOnce},
	{"one of several inserts succeeds", insertedOnce},
	{"items are locked until the commit", lockedUntilCommit},
	{"commits are read after a lock", readsCommits},
}

var errRollback = errors.New("the function fails")

func newKind() string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if r < 'A' {
			return r - '2' + 'A'
		}
		return r
	}, rand.Text()[:16]))
}

func put(ctx context.Context, s mailroom.Store, items ...mailroom.Item) error {
	return s.Update(ctx, func(ctx context.Context, tx mailroom.Tx) error {
		for _, it := range items {
			if err := tx.Put(ctx, it); err != nil {
				return err
			}
		}
		return nil
	})
}

// wantItem compares an item with the expected item, or expects none if want is nil.
func wantItem(ctx context.Context, s mailroom.Store, kind, key string, want *mailroom.Item) error {
	return s.Update(ctx, func(ctx context.Context, tx mailroom.Tx) error {
		got, found, err := tx.Get(ctx, kind, key)
		switch {
		case err != nil:
			return err
		case found != (want != nil):
			return fmt.Errorf("Get(%.20q) found an item: %v; want %v", key, found, want != nil)
		case found && !equalItems(got, *want):
			return fmt.Errorf("Get(%.20q) = %.300v; want %.300v", key, got, *want)
		}
		return nil
	})
}

func equalItems(a, b mailroom.Item) bool {
	return a.Kind == b.Kind && a.Key == b.Key && a.Ref == b.Ref && a.Due.Equal(b.Due) && string(a.Value) == string(b.Value)
}

func itemsAreStored(ctx context.Context, s mailroom.Store, kind string, newStore func() mailroom.Store) error {
	due := time.UnixMilli(1_700_000_000_123)
	long := strings.Repeat("é", 127)
	items := []mailroom.Item{
		{Kind: kind, Key: "a", Ref: "r", Due: due, Value: []byte(`{"a": "\u0000é"}`)},
		{Kind: kind, Key: long, Ref: long},
		{Kind: kind, Key: "c", Value: []byte(`"` + strings.Repeat("x", 2<<20-2) + `"`)},
	}
	errs := []error{put(ctx, s, items...)}
	for _, it := range items {
		errs = append(errs, wantItem(ctx, newStore(), kind, it.Key, &it))
	}
	items[0].Ref, items[0].Due, items[0].Value = "", time.Time{}, []byte(`[]`)
	return errors.Join(append(errs,
		put(ctx, s, items[0]), wantItem(ctx, s, kind, "a", &items[0]),
		wantItem(ctx, s, newKind(), "a", nil), wantItem(ctx, s, kind, "missing", nil),
		s.Update(ctx, func(ctx context.Context, tx mailroom.Tx) error {
			return errors.Join(tx.Delete(ctx, kind, "a"), tx.Delete(ctx, kind, "missing"))
		}), wantItem(ctx, s, kind, "a", nil), wantItem(ctx, s, kind, long, &items[1]))...)
}

func similarKeys(ctx context.Context, s mailroom.Store, kind string, _ func() mailroom.Store) error {
	var errs []error
	keys := []string{"key", "KEY", "key ", " key", "key%", "key_", "keyé", "keye\u0301"}
	for _, key := range keys {
		errs = append(errs, put(ctx, s, mailroom.Item{Kind: kind, Key: key, Value: fmt.Appendf(nil, "%q", key)}))
	}
	for _, key := range keys {
		errs = append(errs, wantItem(ctx, s, kind, key, &mailroom.Item{Kind: kind, Key: key, Value: fmt.Appendf(nil, "%q", key)}))
	}
	return errors.Join(errs...)
}

// putThen returns a function that puts an item, and then returns the result of f.
func putThen(kind string, f func() error) func(context.Context, mailroom.Tx) error {
	return func(ctx context.Context, tx mailroom.Tx) error {
		if err := tx.Put(ctx, mailroom.Item{Kind: kind, Key: "a"}); err != nil {
			return err
		}
		return f()
	}
}

func failureRollsBack(ctx context.Context, s mailroom.Store, kind string, _ func() mailroom.Store) error {
	if err := s.Update(ctx, putThen(kind, func() error { return errRollback })); !errors.Is(err, errRollback) {
		return fmt.Errorf("result of Update: %w; want the error of the function", err)
	}
	return wantItem(ctx, s, kind, "a", nil)
}

func panicRollsBack(ctx context.Context, s mailroom.Store, kind string, _ func() mailroom.Store) error {
	recovered := func() (v any) {
		defer func() { v = recover() }()
		return s.Update(ctx, putThen(kind, func() error { panic(errRollback) }))
	}()
	if recovered != any(errRollback) {
		return fmt.Errorf("panic seen by the caller: %v; want %v", recovered, errRollback)
	}
	return wantItem(ctx, s, kind, "a", nil)
}

func endedContext(ctx context.Context, s mailroom.Store, kind string, _ func() mailroom.Store) error {
	ended, cancel := context.WithCancel(ctx)
	err := s.Update(ended, putThen(kind, func() error { cancel(); return nil }))
	if !errors.Is(err, context.Canceled) {
		return fmt.Errorf("result of Update: %w; want context.Canceled", err)
	}
	called := false
	err = s.Update(ended, func(context.Context, mailroom.Tx) error { called = true; return nil })
	if called || !errors.Is(err, context.Canceled) {
		return fmt.Errorf("with an ended context, Update = %w, function called: %v; want context.Canceled and false", err, called)
	}
	return wantItem(ctx, s, kind, "a", nil)
}

func innerTransaction(ctx context.Context, s mailroom.Store, kind string, _ func() mailroom.Store) error {
	err := s.Update(ctx, func(ctx context.Context, _ mailroom.Tx) error {
		inner := s.Update(ctx, putThen(kind, func() error { return nil }))
		return errors.Join(inner, wantItem(ctx, s, kind, "a", &mailroom.Item{Kind: kind, Key: "a"}), errRollback)
	})
	if err == nil || err.Error() != errRollback.Error() {
		return fmt.Errorf("result of Update: %w; want only the error of the outer function", err)
	}
	return wantItem(ctx, s, kind, "a", nil)
}

func afterCommit(ctx context.Context, s mailroom.Store, kind string, newStore func() mailroom.Store) error {
	var calls []string
	update := func(name string, result error) error {
		return s.Update(ctx, func(ctx context.Context, tx mailroom.Tx) error {
			s.AfterCommit(ctx, func() {
				if err := wantItem(context.WithoutCancel(ctx), newStore(), kind, "a", &mailroom.Item{Kind: kind, Key: "a"}); err == nil {
					calls = append(calls, name)
				}
			})
			return errors.Join(tx.Put(ctx, mailroom.Item{Kind: kind, Key: "a"}), result)
		})
	}
	failed, succeeded := update("rollback", errRollback), update("commit", nil)
	if !errors.Is(failed, errRollback) || succeeded != nil || !slices.Equal(calls, []string{"commit"}) {
		return fmt.Errorf("%v, %v, calls %q; want one call after the commit", failed, succeeded, calls)
	}
	return nil
}

func insertKeepsExisting(ctx context.Context, s mailroom.Store, kind string, _ func() mailroom.Store) error {
	for i, want := range []bool{true, false} {
		err := s.Update(ctx, func(ctx context.Context, tx mailroom.Tx) error {
			inserted, err := tx.Insert(ctx, mailroom.Item{Kind: kind, Key: "a", Value: fmt.Append(nil, i)})
			if err == nil && inserted != want {
				err = fmt.Errorf("result of Insert %d: %v; want %v", i+1, inserted, want)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return wantItem(ctx, s, kind, "a", &mailroom.Item{Kind: kind, Key: "a", Value: []byte("0")})
}

// keysOf returns the keys of the items, separated by spaces. Its arguments are the results of
// a method of [mailroom.Tx].
func keysOf(items []mailroom.Item, err error) (string, error) {
	keys := make([]string, len(items))
	for i, it := range items {
		keys[i] = it.Key
	}
	return strings.Join(keys, " "), err
}

func wantEqual(what, got, want string, err error) error {
	if err == nil && got != want {
		return fmt.Errorf("%s = %q; want %q", what, got, want)
	}
	return err
}

func dueItems(ctx context.Context, s mailroom.Store, kind string, _ func() mailroom.Store) error {
	now := time.UnixMilli(1_700_000_000_000)
	err := put(ctx, s, mailroom.Item{Kind: kind, Key: "never"},
		mailroom.Item{Kind: kind, Key: "now", Due: now}, mailroom.Item{Kind: kind, Key: "early", Due: now.Add(-time.Millisecond)},
		mailroom.Item{Kind: kind, Key: "late", Due: now.Add(time.Millisecond)}, mailroom.Item{Kind: newKind(), Key: "other", Due: now})
	if err != nil {
		return err
	}
	return s.Update(ctx, func(ctx context.Context, tx mailroom.Tx) error {
		all, err := keysOf(tx.Due(ctx, kind, now, 10))
		one, err2 := keysOf(tx.Due(ctx, kind, now, 1))
		n, earliest, err3 := tx.CountDue(ctx, kind, now)
		none, never, err4 := tx.CountDue(ctx, kind, now.Add(-time.Second))
		return errors.Join(wantEqual("Due", all, "early now", err), wantEqual("Due with limit 1", one, "early", err2),
			wantEqual("CountDue", fmt.Sprint(n, earliest.UnixMilli()), "2 1699999999999", err3),
			wantEqual("CountDue of nothing", fmt.Sprint(none, never.IsZero()), "0 true", err4))
	})
}

func byRef(ctx context.Context, s mailroom.Store, kind string, _ func() mailroom.Store) error {
	items := []mailroom.Item{{Kind: kind, Key: "a", Ref: "r"}, {Kind: kind, Key: "b", Ref: "R"}, {Kind: kind, Key: "c"}, {Kind: newKind(), Key: "d", Ref: "r"}}
	for i := range 101 {
		items = append(items, mailroom.Item{Kind: kind, Key: fmt.Sprint(i), Ref: "many"})
	}
	if err := put(ctx, s, items...); err != nil {
		return err
	}
	return s.Update(ctx, func(ctx context.Context, tx mailroom.Tx) error {
		found, err := keysOf(tx.ByRef(ctx, kind, "r"))
		none, err2 := keysOf(tx.ByRef(ctx, kind, ""))
		many, err3 := tx.ByRef(ctx, kind, "many")
		return errors.Join(wantEqual("ByRef", found, "a", err), wantEqual("ByRef without a ref", none, "", err2),
			wantEqual("number of items with a ref", fmt.Sprint(len(many)), "100", err3))
	})
}

const (
	processes = 4
	itemCount = 100
)

func claimedOnce(ctx context.Context, s mailroom.Store, kind string, newStore func() mailroom.Store) error {
	for i := range itemCount {
		if err := put(ctx, s, mailroom.Item{Kind: kind, Key: fmt.Sprint(i), Due: time.UnixMilli(1)}); err != nil {
			return err
		}
	}
	var mu sync.Mutex
	claimed := map[string]int{}
	err := inProcesses(newStore, func(_ int, s mailroom.Store) error {
		for left := true; left; {
			var key string
			err := s.Update(ctx, func(ctx context.Context, tx mailroom.Tx) error {
				due, err := tx.Due(ctx, kind, time.Now(), 1)
				if left = len(due) > 0; err != nil || !left {
					return err
				}
				key = due[0].Key
				return tx.Delete(ctx, kind, key)
			})
			if err != nil {
				return err
			}
			mu.Lock()
			claimed[key]++
			mu.Unlock()
		}
		return nil
	})
	delete(claimed, "") // of a process that found nothing
	for key, n := range claimed {
		if n != 1 {
			err = errors.Join(err, fmt.Errorf("item %s was claimed %d times", key, n))
		}
	}
	return errors.Join(err, wantEqual("number of claimed items", fmt.Sprint(len(claimed)), fmt.Sprint(itemCount), nil))
}

func insertedOnce(ctx context.Context, _ mailroom.Store, kind string, newStore func() mailroom.Store) error {
	var mu sync.Mutex
	inserted := 0
	err := inProcesses(newStore, func(_ int, s mailroom.Store) error {
		for i := range itemCount {
			var isNew bool
			err := s.Update(ctx, func(ctx context.Context, tx mailroom.Tx) (err error) {
				isNew, err = tx.Insert(ctx, mailroom.Item{Kind: kind, Key: fmt.Sprint(i)})
				return err
			})
			if err != nil {
				return err
			}
			mu.Lock()
			if isNew {
				inserted++
			}
			mu.Unlock()
		}
		return nil
	})
	return errors.Join(err, wantEqual("number of inserts", fmt.Sprint(inserted), fmt.Sprint(itemCount), nil))
}

// inProcesses calls f for several processes at the same time.
func inProcesses(newStore func() mailroom.Store, f func(process int, s mailroom.Store) error) error {
	errs := make([]error, processes)
	var wg sync.WaitGroup
	for i := range errs {
		s := newStore()
		wg.Go(func() { errs[i] = f(i, s) })
	}
	wg.Wait()
	return errors.Join(errs...)
}
