package pgstore_test

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/contrib/pgstore"
)

// TestCannotStoreKey: if the key of an event cannot be stored, Do does not call the handler. Do still recognizes
// events that were handled earlier.
func TestCannotStoreKey(t *testing.T) {
	pool := direct(t)
	role := "reader_" + strings.ToLower(rand.Text())
	_, err := pool.Exec(t.Context(), "CREATE ROLE "+role+"; GRANT SELECT ON emailplatform_handled TO "+role)
	require.NoError(t, err)
	t.Cleanup(func() { _, _ = pool.Exec(context.Background(), "DROP OWNED BY "+role+"; DROP ROLE "+role) }) //nolint:usetesting // t.Context has ended
	handled := rand.Text()
	_, err = pgstore.NewOnce(pool, pgstore.OnceOptions{}).Do(t.Context(), handled, func(context.Context) error { return nil })
	require.NoError(t, err)
	for name, tt := range map[string]struct{ parameter, value, want string }{
		"read-only":    {"default_transaction_read_only", "on", "the transaction is read-only"},
		"no privilege": {"role", role, "the role must have the privilege INSERT"},
	} {
		set := func(cfg *pgx.ConnConfig) { cfg.RuntimeParams[tt.parameter] = tt.value }
		cfg := pool.Config()
		set(cfg.ConnConfig)
		limited, err := pgxpool.NewWithConfig(t.Context(), cfg)
		require.NoError(t, err)
		t.Cleanup(limited.Close)
		once := pgstore.NewOnce(limited, pgstore.OnceOptions{})
		t.Run(name, func(t *testing.T) {
			ran, err := once.Do(t.Context(), rand.Text(), func(context.Context) error { panic("the handler was called") })
			assert.False(t, ran)
			assert.ErrorContains(t, err, "pgstore: "+tt.want)
			ran, err = once.Do(t.Context(), handled, nil)
			assert.False(t, ran)
			assert.NoError(t, err)
		})
	}
}
