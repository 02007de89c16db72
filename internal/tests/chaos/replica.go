package main

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver for database/sql
	"github.com/redis/go-redis/v9"

	"example.com/emailplatform/contrib/pgstore"
	"example.com/emailplatform/contrib/pgstore/sqlonce"
	"example.com/emailplatform/contrib/redisstore"
	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

const (
	secret = "whsec_chaos_0123456789" //nolint:gosec // of a platform that lives for minutes
	effect = "INSERT INTO effects (id) VALUES ($1)"
)

// store is a Once, and how a handler writes what is committed with the key.
type store struct {
	once  webhook.Once
	write func(ctx context.Context, id string) error
}

func nothing(context.Context, string) error { return nil }

// open connects to where what names is kept.
func open(ctx context.Context, what, redisAddr, postgresURL string, lease time.Duration) (store, error) {
	switch what {
	case "memory":
		return store{webhook.NewMemoryOnce(webhook.MemoryOnceOptions{}), nothing}, nil
	case "redis":
		redis.SetLogger(silent{})
		rdb := redis.NewClient(&redis.Options{Addr: redisAddr})
		return store{redisstore.NewOnce(rdb, redisstore.OnceOptions{Lease: lease, Logger: slog.New(slog.DiscardHandler)}), nothing}, nil
	case "careless":
		return store{careless{redis.NewClient(&redis.Options{Addr: redisAddr})}, nothing}, nil
	case "pg":
		pool, err := pgxpool.New(ctx, postgresURL+"&pool_max_conns=24")
		return store{pgstore.NewOnce(pool, pgstore.OnceOptions{}), func(ctx context.Context, id string) error {
			tx, err := pgstore.Tx(ctx)
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, effect, id)
			return err
		}}, err
	case "sql":
		db, err := sql.Open("pgx", postgresURL)
		if err != nil {
			return store{}, err
		}
		db.SetMaxOpenConns(24)
		db.SetMaxIdleConns(24)
		return store{sqlonce.NewOnce(db, sqlonce.OnceOptions{}), func(ctx context.Context, id string) error {
			tx, err := sqlonce.Tx(ctx)
			if err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, effect, id)
			return err
		}}, nil
	}
	return store{}, fmt.Errorf("no store %q", what)
}

// careless takes what it is asked for as handled before it is: a store that loses events, to see that this is seen.
type careless struct{ rdb *redis.Client }

func (c careless) Do(ctx context.Context, key string, fn func(context.Context) error) (bool, error) {
	first, err := c.rdb.SetNX(ctx, "careless:"+key, 1, time.Hour).Result()
	if err != nil || !first {
		return false, err
	}
	return true, fn(ctx)
}

// replica is a receiver of webhooks. With -file it writes a line there for each
// call of its handler, works, and writes a row with the event's key.
func replica(args []string) error {
	f := flag.NewFlagSet("replica", flag.ExitOnError)
	what := f.String("store", "memory", "memory, pg, sql or redis")
	addr := f.String("addr", "", "to listen on")
	redisAddr := f.String("redis", "", "address of Redis")
	postgresURL := f.String("postgres", "", "URL of PostgreSQL")
	file := f.String("file", "", "gets a line for each call; empty: the handler does nothing")
	work := f.Duration("work", 0, "how long the handler takes")
	lease := f.Duration("lease", 0, "of an event in Redis")
	rows := f.Bool("rows", false, "write a row with each key")
	natsURL := f.String("nats", "", "URL of a NATS server; not empty: store the events in its stream")
	careless := f.Bool("careless", false, "respond before an event is stored")
	_ = f.Parse(args)
	ctx := context.Background()
	s, err := open(ctx, *what, *redisAddr, *postgresURL, *lease)
	if err != nil {
		return err
	}
	parsed, err := webhook.ParseSecret(secret, "")
	if err != nil {
		return err
	}
	v, err := webhook.NewVerifier(parsed)
	if err != nil {
		return err
	}
	handle := func(ctx context.Context, e *events.Event) error {
		if !*rows {
			return nil
		}
		return s.write(ctx, e.ID)
	}
	if *file != "" {
		if handle, err = logged(*file, *work, s.write); err != nil {
			return err
		}
	}
	h := webhook.NewHandler(v, handle, webhook.Options{Once: s.once, Logger: slog.New(slog.DiscardHandler)})
	if *natsURL != "" {
		if h, err = receiveStream(ctx, v, *natsURL, *careless); err != nil {
			return err
		}
	}
	srv := &http.Server{Addr: *addr, Handler: h, ReadHeaderTimeout: time.Minute}
	return srv.ListenAndServe()
}

// logged returns a handler that appends a line to file and then writes a row.
func logged(file string, work time.Duration, write func(context.Context, string) error) (func(context.Context, *events.Event) error, error) {
	out, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, e *events.Event) error {
		time.Sleep(work / 2)
		if _, err := out.WriteString(e.ID + "\n"); err != nil {
			return err
		}
		err := write(ctx, e.ID)
		time.Sleep(work / 2)
		return err
	}, nil
}
