package pgstore_test

import (
	"context"
	"crypto/rand"
	"runtime"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/emailplatform/contrib/pgstore"
)

// BenchmarkOnce handles events with 16 callers.
func BenchmarkOnce(b *testing.B) {
	pool := direct(b, func(cfg *pgxpool.Config) { cfg.MaxConns = 24 })
	once := pgstore.NewOnce(pool, pgstore.OnceOptions{})
	b.SetParallelism(max(1, 16/runtime.GOMAXPROCS(0)))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := once.Do(b.Context(), rand.Text(), func(context.Context) error { return nil }); err != nil {
				b.Error(err)
			}
		}
	})
}
