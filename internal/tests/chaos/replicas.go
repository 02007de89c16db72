package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver for database/sql
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"example.com/emailplatform/contrib/pgstore"
	"example.com/emailplatform/contrib/redisstore"
	"example.com/emailplatform/contrib/sqlstore"
	"example.com/emailplatform/events"
	"example.com/emailplatform/examples/integrations/jetstream/inbox"
	"example.com/emailplatform/internal/tests/chaos/servers"
	"example.com/emailplatform/internal/tools/must"
	"example.com/emailplatform/mailroom"
	"example.com/emailplatform/webhook"
)

// receive starts n replicas of a receiver.
func receive(env *environment, n int, with settings) []*process {
	with.Redis, with.Postgres = env.rdb.Addr, env.db.URL
	all := slices.Repeat([]settings{with}, n)
	for i := range all {
		all[i].Addr = freeAddr()
	}
	return env.spawn("replica", all...)
}

// restartOne kills a random replica and starts it again.
func restartOne(_ context.Context, replicas []*process) {
	replicas[rand.N(len(replicas))].restart() //nolint:gosec // not a secret
}

// killRun delivers events while processes are killed, and counts the results.
type killRun struct {
	store  string
	events int
	kills  int
	kill   func(context.Context, []*process)
	rows   bool // the effects are in the store's transaction
}

func (g killRun) run(ctx context.Context, env *environment) []figure {
	defer env.end()
	emptyTables(ctx, env)
	run := fmt.Sprintf("%s%d", g.store, time.Now().UnixNano())
	file := filepath.Join(env.dir, run)
	r := receive(env, 3, settings{Store: g.store, File: file, Work: 10 * time.Millisecond, Lease: 2 * time.Second})
	d := newDelivery(run, g.events, r)
	d.twice = true
	g.deliverAndKill(ctx, d, r)
	return g.countResults(ctx, env, file, d)
}

// emptyTables creates the tables of the store and of the effects, and deletes all effects.
func emptyTables(ctx context.Context, env *environment) {
	db := must.Get(pgx.Connect(ctx, env.db.URL))
	defer func() { _ = db.Close(context.WithoutCancel(ctx)) }()
	for _, q := range []string{pgstore.Schema, "CREATE TABLE IF NOT EXISTS effects (id text)", "TRUNCATE effects"} {
		must.Get(db.Exec(ctx, q))
	}
}

// deliverAndKill delivers the events and kills processes at equal intervals of delivered events.
func (g killRun) deliverAndKill(ctx context.Context, d *delivery, replicas []*process) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	every := g.events / (g.kills + 1)
	var one sync.Mutex // for one kill at a time
	must.OK(d.all(ctx, func(done int) error {
		if done%every != 0 || done/every > g.kills {
			return nil
		}
		one.Lock()
		defer one.Unlock()
		return must.Run(func() { g.kill(ctx, replicas) })
	}))
}

func (g killRun) countResults(ctx context.Context, env *environment, file string, d *delivery) []figure {
	calls, twice := countIDs(must.Get(os.ReadFile(file)), d.run), 0
	for _, n := range calls {
		if n > 1 {
			twice++
		}
	}
	figures := []figure{
		{name: "events", value: float64(d.events)},
		{name: "killed", value: float64(g.kills)},
		{name: "attempts that failed, and came again", value: float64(d.again.Load())},
		{name: "lost", value: float64(d.events - len(calls)), bound: equal},
		{name: "handler called more than once", value: float64(twice)},
	}
	if !g.rows {
		return figures
	}
	db := must.Get(pgx.Connect(ctx, env.db.URL)) // a new connection, because the server may have been killed
	defer func() { _ = db.Close(ctx) }()
	var rows, distinct int
	must.OK(db.QueryRow(ctx, "SELECT count(*), count(DISTINCT id) FROM effects").Scan(&rows, &distinct))
	return append(figures,
		figure{name: "effects in the transaction", value: float64(rows), bound: equal, limit: float64(d.events)},
		figure{name: "events that they are of", value: float64(distinct), bound: equal, limit: float64(d.events)})
}

func killedReplicas(store string) func(context.Context, *environment) []figure {
	return func(ctx context.Context, env *environment) []figure {
		return killRun{store, env.pick(1400, 14_000), env.pick(5, 50), restartOne, store != "redis"}.run(ctx, env)
	}
}

func killedPostgres(ctx context.Context, env *environment) []figure {
	return killedServer(ctx, env, "pg", env.db)
}

func killedRedis(ctx context.Context, env *environment) []figure {
	return killedServer(ctx, env, "redis", env.rdb)
}

func killedServer(ctx context.Context, env *environment, store string, server *servers.Server) []figure {
	restart := func(ctx context.Context, _ []*process) { must.OK(errors.Join(server.Kill(), server.Start(ctx))) }
	return killRun{store, env.pick(1400, 14_000), env.pick(1, 5), restart, store != "redis"}.run(ctx, env)
}

const (
	secret = "whsec_chaos_0123456789" //nolint:gosec // of a platform that lives for minutes
	effect = "INSERT INTO effects (id) VALUES ($1)"
)

// store is a deduplication store. The function write writes a row in the transaction of the key, if the
// store has transactions.
type store struct {
	once  webhook.Once
	write func(ctx context.Context, id string) error
}

func nothing(context.Context, string) error { return nil }

// open connects to a store: memory, redis, pg or sql.
func open(ctx context.Context, with settings) store {
	switch with.Store {
	case "memory":
		return store{webhook.NewMemoryOnce(webhook.MemoryOnceOptions{}), nothing}
	case "redis":
		logging.Disable()
		rdb := redis.NewClient(&redis.Options{Addr: with.Redis})
		return store{redisstore.NewOnce(rdb, redisstore.OnceOptions{Lease: with.Lease, Logger: slog.New(slog.DiscardHandler)}), nothing}
	case "pg":
		pool := must.Get(pgxpool.New(ctx, with.Postgres+"&pool_max_conns=24"))
		return store{pgstore.NewOnce(pool, pgstore.OnceOptions{}), func(ctx context.Context, id string) error {
			tx, err := pgstore.Tx(ctx)
			if err == nil {
				_, err = tx.Exec(ctx, effect, id)
			}
			return err
		}}
	case "sql":
		db := must.Get(sql.Open("pgx", with.Postgres))
		db.SetMaxOpenConns(24)
		db.SetMaxIdleConns(24)
		items := sqlstore.New(sqlstore.PostgreSQL, db)
		must.OK(items.Create(ctx))
		return store{mailroom.NewOnce(items, time.Hour), func(ctx context.Context, id string) error {
			_, err := items.Tx(ctx).ExecContext(ctx, effect, id)
			return err
		}}
	}
	panic("no store " + with.Store)
}

// replica receives webhooks, and prints a line when it is ready. What the replica does with an event
// depends on the settings:
//
//   - NATS: it stores the event in the stream.
//   - File: it appends a line to this file, writes a row with the event's id, and sleeps to simulate work.
//   - Rows: it only writes the row.
//   - None of these: it does nothing.
func replica(with settings) {
	ctx := context.Background()
	v := must.Get(webhook.NewVerifier(must.Get(webhook.ParseSecret(secret, ""))))
	var h http.Handler
	if with.NATS != "" {
		h = inbox.NewReceiver(openStream(ctx, with.NATS), v, webhook.Options{Logger: slog.New(slog.DiscardHandler)})
	} else {
		s := open(ctx, with)
		handle := func(context.Context, *events.Event) error { return nil }
		switch {
		case with.File != "":
			handle = loggingHandler(with.File, with.Work, s.write)
		case with.Rows:
			handle = func(ctx context.Context, e *events.Event) error { return s.write(ctx, e.ID) }
		}
		h = webhook.NewHandler(v, handle, webhook.Options{Once: s.once, Logger: slog.New(slog.DiscardHandler)})
	}
	listener := must.Get(net.Listen("tcp", with.Addr))
	fmt.Println("ready")
	must.OK(http.Serve(listener, h)) //nolint:gosec // no timeouts, because only this program connects
}

// loggingHandler returns a handler that appends a line to file and then writes a row.
func loggingHandler(file string, work time.Duration, write func(context.Context, string) error) func(context.Context, *events.Event) error {
	out := must.Get(os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600))
	return func(ctx context.Context, e *events.Event) error {
		time.Sleep(work / 2)
		if _, err := out.WriteString(e.ID + "\n"); err != nil {
			return err
		}
		err := write(ctx, e.ID)
		time.Sleep(work / 2)
		return err
	}
}
