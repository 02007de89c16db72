package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/emailplatform/contrib/pgstore"
)

// receivers are replicas of a receiver. Each can be killed and restarted.
type receivers struct {
	args []string
	to   []string

	mu   sync.Mutex
	live []*process
}

func receive(ctx context.Context, s *stage, n int, args ...string) (*receivers, error) {
	r := &receivers{args: append([]string{"replica", "-redis", s.rdb.Addr(), "-postgres", s.db.URL()}, args...)}
	for i := range n {
		addr, err := freeAddr()
		if err != nil {
			return nil, errors.Join(err, r.close())
		}
		r.to, r.live = append(r.to, addr), append(r.live, nil)
		if err := r.start(i); err != nil {
			return nil, errors.Join(err, r.close())
		}
	}
	for _, addr := range r.to {
		if err := listening(ctx, addr); err != nil {
			return nil, errors.Join(err, r.close())
		}
	}
	return r, nil
}

func (r *receivers) start(i int) error {
	p, err := spawn(append(r.args, "-addr", r.to[i])...)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.live[i] = p
	return nil
}

// replace kills any of them, and starts another in its place.
func (r *receivers) replace() error {
	i := rand.N(len(r.to)) //nolint:gosec // not a secret
	r.mu.Lock()
	p := r.live[i]
	r.mu.Unlock()
	p.kill()
	return r.start(i)
}

func (r *receivers) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.live {
		if p != nil {
			p.kill()
		}
	}
	return nil
}

// siege delivers events while processes are killed, and counts the results.
type siege struct {
	store  string
	events int
	kills  int
	kill   func(context.Context, *receivers) error
	rows   bool // the effects are in the store's transaction
}

func (g siege) run(ctx context.Context, s *stage) (_ []figure, err error) {
	if err := emptyTables(ctx, s); err != nil {
		return nil, err
	}
	run := fmt.Sprintf("%s%d", g.store, time.Now().UnixNano())
	file := filepath.Join(s.dir, run)
	r, err := receive(ctx, s, 3, "-store", g.store, "-file", file, "-work", "10ms", "-lease", "2s")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	d := newDelivery(run, g.events, r.to)
	d.twice = true
	if err := g.attack(ctx, d, r); err != nil {
		return nil, err
	}
	return g.count(ctx, s, file, d)
}

// emptyTables creates the tables of the store and of the effects.
func emptyTables(ctx context.Context, s *stage) error {
	db, err := pgx.Connect(ctx, s.db.URL())
	if err != nil {
		return err
	}
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }()
	for _, q := range []string{pgstore.Schema, "CREATE TABLE IF NOT EXISTS effects (id text)", "TRUNCATE effects"} {
		if _, err := db.Exec(ctx, q); err != nil {
			return err
		}
	}
	return nil
}

// attack kills at even intervals of what was delivered, so that all of it happens in the middle.
func (g siege) attack(ctx context.Context, d *delivery, r *receivers) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	every := g.events / (g.kills + 1)
	due, killed := make(chan struct{}, g.kills), make(chan error, 1)
	go func() {
		for range g.kills {
			select {
			case <-due:
			case <-ctx.Done():
				killed <- ctx.Err()
				return
			}
			if err := g.kill(ctx, r); err != nil {
				killed <- err
				cancel()
				return
			}
		}
		killed <- nil
	}()
	err := d.all(ctx, func(done int) {
		if done%every == 0 && done/every <= g.kills {
			due <- struct{}{}
		}
	})
	return errors.Join(err, <-killed)
}

func (g siege) count(ctx context.Context, s *stage, file string, d *delivery) ([]figure, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	calls := tally(text, d.run)
	lost, twice := 0, 0
	for n := range int64(d.events) {
		switch k := calls[d.id(n+1)]; {
		case k == 0:
			lost++
		case k > 1:
			twice++
		}
	}
	figures := []figure{
		{name: "events", value: float64(d.events)},
		{name: "killed", value: float64(g.kills)},
		{name: "attempts that failed, and came again", value: float64(d.again.Load())},
		{name: "lost", value: float64(lost), bound: exactly},
		{name: "handler called more than once", value: float64(twice)},
	}
	if !g.rows {
		return figures, nil
	}
	db, err := pgx.Connect(ctx, s.db.URL()) // another one: the server may have been killed
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close(ctx) }()
	var rows, distinct int
	if err := db.QueryRow(ctx, "SELECT count(*), count(DISTINCT id) FROM effects").Scan(&rows, &distinct); err != nil {
		return nil, err
	}
	return append(figures,
		figure{name: "effects in the transaction", value: float64(rows), bound: exactly, limit: float64(d.events)},
		figure{name: "events that they are of", value: float64(distinct), bound: exactly, limit: float64(d.events)}), nil
}

func killedReplicas(store string) func(context.Context, *stage) ([]figure, error) {
	return func(ctx context.Context, s *stage) ([]figure, error) {
		replace := func(_ context.Context, r *receivers) error { return r.replace() }
		return siege{store, s.pick(1400, 14_000), s.pick(5, 50), replace, store != "redis"}.run(ctx, s)
	}
}

func killedPostgres(ctx context.Context, s *stage) ([]figure, error) {
	return siege{"pg", s.pick(1400, 14_000), s.pick(1, 5), func(ctx context.Context, _ *receivers) error {
		return errors.Join(s.db.Kill(), s.db.Start(ctx))
	}, true}.run(ctx, s)
}

func killedRedis(ctx context.Context, s *stage) ([]figure, error) {
	return siege{"redis", s.pick(1400, 14_000), s.pick(1, 5), func(ctx context.Context, _ *receivers) error {
		return errors.Join(s.rdb.Kill(), s.rdb.Start(ctx))
	}, false}.run(ctx, s)
}
