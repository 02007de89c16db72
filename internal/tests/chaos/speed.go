package main

import (
	"context"
	"fmt"
	"time"

	"example.com/emailplatform/internal/tools/must"
)

// candidate is a receiver in a speed comparison.
type candidate struct {
	name  string
	with  settings
	least float64 // minimum events per second; 0 means no minimum
	share float64 // minimum rate relative to the memory store in the same run
	works bool    // a worker processes the events, and the time includes its work

	stream, synced bool // a NATS server stores the events; it syncs its files for each event
}

// The handlers do nothing, so only the stores limit the speed. The short form of the test compares
// them only with the store in memory, because other load on the machine slows all candidates equally.
var candidates = []candidate{
	{name: "memory", with: settings{Store: "memory"}},
	{name: "redisstore", with: settings{Store: "redis"}, least: 4000, share: 0.1},
	{name: "pgstore", with: settings{Store: "pg"}, least: 2000, share: 0.05},
	{name: "sqlstore", with: settings{Store: "sql"}, share: 0.05},
	{name: "pgstore and a row", with: settings{Store: "pg", Rows: true}},
}

func oneReplica(ctx context.Context, env *environment) []figure {
	return compareSpeed(ctx, env, candidates, env.pick(3, 5), env.pick(1500, 6000))
}

// streamCandidates contains two kinds of receivers. Some process an event before they respond. The others respond after
// they have added the event to a stream. If works is true, a worker then writes a row for each event, and the measured
// time includes these writes. In a power failure, some of the receivers can lose more events than others. By default, a
// NATS server syncs its files only every 2 minutes, but PostgreSQL syncs each commit.
var streamCandidates = []candidate{
	{name: "redisstore", with: settings{Store: "redis"}},
	{name: "pgstore", with: settings{Store: "pg"}},
	{name: "pgstore and a row", with: settings{Store: "pg", Rows: true}},
	{name: "stream", stream: true},
	{name: "stream with sync", stream: true, synced: true},
	{name: "stream and worker", stream: true, works: true},
	{name: "stream with sync, and worker", stream: true, synced: true, works: true},
}

func streamThroughput(ctx context.Context, env *environment) []figure {
	if env.short {
		return nil
	}
	return compareSpeed(ctx, env, streamCandidates, 3, 6000)
}

// compareSpeed runs the candidates in turn and keeps the best round of each, because other load only slows a round.
func compareSpeed(ctx context.Context, env *environment, all []candidate, rounds, events int) []figure {
	emptyTables(ctx, env)
	best := make([]roundResult, len(all))
	for round := range rounds {
		for i, c := range all {
			var r roundResult
			if err := must.Run(func() { r = c.run(ctx, env, fmt.Sprint(round), events) }); err != nil {
				must.Failf("%s: %w", c.name, err)
			}
			if r.rate > best[i].rate {
				best[i] = r
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
	return figures
}

type roundResult struct {
	rate     float64
	p50, p99 time.Duration
}

func (c candidate) run(ctx context.Context, env *environment, round string, events int) roundResult {
	defer env.end()
	processed := func(context.Context) {}
	if c.stream {
		st := startStream(env, c.synced)
		c.with.NATS = st.url
		if c.works {
			st.work(1, settings{})
			processed = st.processed
		}
	}
	r := receive(env, 1, c.with)
	run := fmt.Sprintf("%s-%s-%d", c.name, round, time.Now().UnixNano())
	must.OK(newDelivery(run+"-warm", 200, r).all(ctx, nil))
	processed(ctx)
	d := newDelivery(run, events, r)
	start := time.Now()
	must.OK(d.all(ctx, nil))
	processed(ctx)
	return roundResult{float64(events) / time.Since(start).Seconds(), d.percentile(0.5), d.percentile(0.99)}
}
