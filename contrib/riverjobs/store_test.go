package riverjobs_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/contrib/riverjobs"
	"example.com/emailplatform/mailroom"
	"example.com/emailplatform/mailroom/mailroomtest"
	"example.com/emailplatform/webhook"
	"example.com/emailplatform/webhook/webhooktest"
)

func TestStore(t *testing.T) {
	f := newFixture(t)
	newStore := func(t *testing.T) mailroom.Store {
		t.Helper()
		store, err := riverjobs.NewStore(f.pool, "")
		require.NoError(t, err)
		return store
	}
	mailroomtest.TestStore(t, newStore)
	webhooktest.TestOnce(t, func(t *testing.T) webhook.Once { t.Helper(); return mailroom.NewOnce(newStore(t), time.Hour) })
}

// TestCreate: several processes create the table at the same time.
func TestCreate(t *testing.T) {
	f := newFixture(t)
	_, err := f.pool.Exec(t.Context(), "DROP TABLE emailplatform_items")
	require.NoError(t, err)
	store, err := riverjobs.NewStore(f.pool, "")
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() { assert.NoError(t, store.Create(t.Context())) })
	}
	wg.Wait()
}

func TestNewStoreInvalid(t *testing.T) {
	_, err := riverjobs.NewStore(nil, "")
	require.ErrorContains(t, err, "must not be nil")
	assert.PanicsWithValue(t, "riverjobs: Register needs the workers and a Room", func() { riverjobs.Register(river.NewWorkers(), nil) })
	_, err = riverjobs.NewStore(newFixture(t).pool, "a b")
	require.ErrorContains(t, err, "Schema")
}

// TestEnqueueInTransaction: the email and its job are in the transaction of the application.
func TestEnqueueInTransaction(t *testing.T) {
	f := newFixture(t)
	store, err := riverjobs.NewStore(f.pool, "")
	require.NoError(t, err)
	room, err := mailroom.New(f.client(), store, mailroom.Options{External: true, OnNotice: func(context.Context, mailroom.Notice) error { return nil }})
	require.NoError(t, err)
	for i, result := range []error{errors.New("rollback"), nil, nil} {
		err := pgx.BeginFunc(t.Context(), f.pool, func(tx pgx.Tx) error {
			ctx := store.With(t.Context(), tx)
			assert.Equal(t, tx, store.Tx(ctx))
			return errors.Join(room.Enqueue(ctx, "A-1", order("A-1")), result)
		})
		require.Equal(t, result == nil, err == nil)
		assert.Equal(t, min(i, 1), f.count("river_job"), "jobs")
		assert.Equal(t, min(i, 1), f.count("emailplatform_items WHERE kind = 'send'"), "items")
	}
	assert.PanicsWithValue(t, "riverjobs: the context has no transaction of this Store", func() { store.Tx(t.Context()) })
}
