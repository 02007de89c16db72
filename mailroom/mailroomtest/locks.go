package mailroomtest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"example.com/emailplatform/mailroom"
)

const (
	incrementsPerProcess = 10
	transactionDelay     = 2 * time.Millisecond // between the read and the write of a transaction
)

// lockedUntilCommit increments a number in several processes. An increment is lost if another
// transaction reads the number before the commit.
func lockedUntilCommit(ctx context.Context, s mailroom.Store, kind string, newStore func() mailroom.Store) error {
	it := mailroom.Item{Kind: kind, Key: "a", Due: time.UnixMilli(1), Value: []byte("0")}
	if err := put(ctx, s, it); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute) // for a store that never returns the item
	defer cancel()
	err := inProcesses(newStore, func(process int, s mailroom.Store) error {
		read := []func(ctx context.Context, tx mailroom.Tx) ([]mailroom.Item, error){
			func(ctx context.Context, tx mailroom.Tx) ([]mailroom.Item, error) {
				return tx.Due(ctx, kind, time.Now(), 1)
			},
			func(ctx context.Context, tx mailroom.Tx) ([]mailroom.Item, error) {
				it, _, err := tx.Get(ctx, kind, "a")
				return []mailroom.Item{it}, err
			},
		}[process%2]
		for done := 0; done < incrementsPerProcess; time.Sleep(transactionDelay) {
			err := s.Update(ctx, func(ctx context.Context, tx mailroom.Tx) error {
				found, err := read(ctx, tx)
				if err != nil || len(found) == 0 { // locked
					return err
				}
				done++
				return increment(ctx, tx, found[0])
			})
			if err = errors.Join(err, ctx.Err()); err != nil {
				return err
			}
		}
		return nil
	})
	it.Value = fmt.Append(nil, processes*incrementsPerProcess)
	return errors.Join(err, wantItem(ctx, s, kind, "a", &it))
}

func increment(ctx context.Context, tx mailroom.Tx, it mailroom.Item) error {
	n, err := strconv.Atoi(string(it.Value))
	if err != nil {
		return err
	}
	time.Sleep(transactionDelay)
	it.Value = fmt.Append(nil, n+1)
	return tx.Put(ctx, it)
}

// readsCommits inserts an item in two processes. The second transaction begins before the
// first is committed, if the store has several writers.
func readsCommits(ctx context.Context, s mailroom.Store, kind string, newStore func() mailroom.Store) error {
	item := func(value string) mailroom.Item { return mailroom.Item{Kind: kind, Key: "a", Value: []byte(value)} }
	inserted, first := make(chan struct{}), make(chan error, 1)
	go func() {
		first <- s.Update(ctx, func(ctx context.Context, tx mailroom.Tx) error {
			_, err := tx.Insert(ctx, item("1"))
			close(inserted)
			time.Sleep(20 * transactionDelay)
			return err
		})
	}()
	select {
	case <-inserted:
	case err := <-first:
		return err
	}
	err := newStore().Update(ctx, func(ctx context.Context, tx mailroom.Tx) error {
		if _, err := tx.ByRef(ctx, kind, "r"); err != nil { // from now on, some databases ignore commits
			return err
		}
		isNew, err := tx.Insert(ctx, item("2"))
		it, found, err2 := tx.Get(ctx, kind, "a")
		return errors.Join(wantEqual("second Insert and Get", fmt.Sprintf("%v %v %s", isNew, found, it.Value), "false true 1", err), err2)
	})
	return errors.Join(err, <-first)
}
