package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/emailplatform/contrib/pgstore"
)

// contender is a receiver whose speed is measured.
type contender struct {
	name  string
	args  []string
	least float64  // events a second; 0 asks for nothing
	share float64  // of what the memory store does in the same run
	nats  []string // flags of a NATS server that stores the events; nil: none
	works bool     // a worker processes the events, and the time includes its work
}

// What a replica must do is for handlers that do nothing. The shares are what is
// asked for in the short form as well: noise slows all of them.
var contenders = []contender{
	{name: "memory", args: []string{"-store", "memory"}},
	{name: "redisstore", args: []string{"-store", "redis"}, least: 4000, share: 0.1},
	{name: "pgstore", args: []string{"-store", "pg"}, least: 2000, share: 0.05},
	{name: "sqlonce", args: []string{"-store", "sql"}, share: 0.05},
	{name: "pgstore and a row", args: []string{"-store", "pg", "-rows"}},
}

func oneReplica(ctx context.Context, s *stage) ([]figure, error) {
	return race(ctx, s, 1, contenders, s.pick(3, 5), s.pick(1500, 6000))
}

func threeReplicas(ctx context.Context, s *stage) ([]figure, error) {
	if s.short {
		return nil, nil
	}
	var shared []contender // a memory is not
	for _, c := range contenders[1:] {
		c.least, c.share = 0, 0
		shared = append(shared, c)
	}
	return race(ctx, s, 3, shared, 3, 6000)
}

// inStream compares a stream with stores that process events before the response. By default, a NATS server syncs its
// files every 2 minutes, but PostgreSQL syncs each commit. The worker writes a row for each event.
var inStream = []contender{
	{name: "redisstore", args: []string{"-store", "redis"}},
	{name: "pgstore", args: []string{"-store", "pg"}},
	{name: "pgstore and a row", args: []string{"-store", "pg", "-rows"}},
	{name: "stream", nats: []string{"-sync=false"}},
	{name: "stream with sync", nats: []string{"-sync=true"}},
	{name: "stream and worker", nats: []string{"-sync=false"}, works: true},
	{name: "stream with sync, and worker", nats: []string{"-sync=true"}, works: true},
}

func streamThroughput(ctx context.Context, s *stage) ([]figure, error) {
	if s.short {
		return nil, nil
	}
	return race(ctx, s, 1, inStream, 3, 6000)
}

// race lets them run by turns, and takes the best round of each: noise only slows.
func race(ctx context.Context, s *stage, replicas int, all []contender, rounds, events int) ([]figure, error) {
	db, err := pgx.Connect(ctx, s.db.URL())
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }()
	for _, q := range []string{pgstore.Schema, "CREATE TABLE IF NOT EXISTS effects (id text)"} {
		if _, err := db.Exec(ctx, q); err != nil {
			return nil, err
		}
	}
	best := make([]heat, len(all))
	for round := range rounds {
		for i, c := range all {
			h, err := c.run(ctx, s, replicas, fmt.Sprint(round), events)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			if h.rate > best[i].rate {
				best[i] = h
			}
		}
	}
	var figures []figure
	for i, c := range all {
		f := figure{name: c.name, value: best[i].rate, unit: "ev/s"}
		if c.least > 0 {
			f.bound, f.limit, f.speed = atLeast, c.least, true
		}
		figures = append(figures, f,
			figure{name: c.name + ", half of them within", value: best[i].p50.Seconds() * 1000, unit: "ms"},
			figure{name: c.name + ", 99 % within", value: best[i].p99.Seconds() * 1000, unit: "ms"})
		if c.share > 0 {
			figures = append(figures, figure{name: c.name + " to memory", value: best[i].rate / best[0].rate, bound: atLeast, limit: c.share})
		}
	}
	return figures, nil
}

type heat struct {
	rate     float64
	p50, p99 time.Duration
}

func (c contender) run(ctx context.Context, s *stage, replicas int, round string, events int) (_ heat, err error) {
	processed := func(context.Context) error { return nil }
	if c.nats != nil {
		st, err := startStream(s, c.nats...)
		if err != nil {
			return heat{}, err
		}
		defer st.close()
		c.args = []string{"-nats", st.url}
		if c.works {
			if err := st.work(1); err != nil {
				return heat{}, err
			}
			processed = st.processed
		}
	}
	r, err := receive(ctx, s, replicas, c.args...)
	if err != nil {
		return heat{}, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	run := fmt.Sprintf("%s-%s-%d", c.name, round, time.Now().UnixNano())
	if err := newDelivery(run+"-warm", 200, r.to).all(ctx, nil); err != nil {
		return heat{}, err
	}
	if err := processed(ctx); err != nil {
		return heat{}, err
	}
	d := newDelivery(run, events, r.to)
	start := time.Now()
	if err := d.all(ctx, nil); err != nil {
		return heat{}, err
	}
	if err := processed(ctx); err != nil {
		return heat{}, err
	}
	return heat{float64(events) / time.Since(start).Seconds(), d.percentile(0.5), d.percentile(0.99)}, nil
}
