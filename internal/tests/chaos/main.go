// Command chaos starts processes that share lookups, events and emails through Redis
// and PostgreSQL, and events through NATS JetStream, kills them and the servers, and prints what was lost, what was done
// twice and how fast it went, each figure beside the one that it must reach:
//
//	go run -C internal/tests/chaos .          # all figures, about 22 minutes
//	go run -C internal/tests/chaos . -short   # the same on less, about two minutes
//
// It starts a Redis and a PostgreSQL of its own (see package servers) and exits
// with 1 if a figure is missed. -only chooses by what a group's name begins with.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"time"

	"example.com/emailplatform/internal/tests/chaos/servers"
)

func main() {
	if len(os.Args) > 1 {
		if child, ok := children[os.Args[1]]; ok {
			exit(child(os.Args[2:]))
		}
	}
	short := flag.Bool("short", false, "less of everything, and judge no speed that a busy machine spoils")
	only := flag.String("only", "", "run the groups whose name begins with this")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	exit(run(ctx, *short, *only))
}

// children are what the program starts of itself.
var children = map[string]func([]string) error{
	"looker":  looker,
	"nats":    natsServer,
	"replica": replica,
	"sender":  sender,
	"worker":  worker,
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// stage is what all groups share.
type stage struct {
	short bool
	rdb   *servers.Redis
	db    *servers.Postgres
	dir   string // for what must outlive a process
}

// pick returns how much of something there is to be.
func (s *stage) pick(short, full int) int {
	if s.short {
		return short
	}
	return full
}

var groups = []struct {
	name string
	run  func(context.Context, *stage) ([]figure, error)
}{
	{"lookups: turns", turns},
	{"lookups: a process is killed that has the turn", killedHolder},
	{"lookups: Redis is killed and comes back empty", redisRestarts},
	{"events: replicas are killed, pgstore", killedReplicas("pg")},
	{"events: replicas are killed, sqlonce", killedReplicas("sql")},
	{"events: replicas are killed, redisstore", killedReplicas("redis")},
	{"events: PostgreSQL is killed", killedPostgres},
	{"events: Redis is killed and comes back empty", killedRedis},
	{"sends: an outage", outage},
	{"sends: replicas are killed", killedSenders},
	{"sends: replicas end by SIGTERM", stoppedSenders},
	{"sends: PostgreSQL is killed", killedQueue},
	{"stream: receivers, workers and the server are killed", killedStream},
	{"stream: throughput", streamThroughput},
	{"speed: one replica", oneReplica},
	{"speed: three replicas", threeReplicas},
}

func run(ctx context.Context, short bool, only string) (err error) {
	s := &stage{short: short}
	if s.dir, err = os.MkdirTemp("", "chaos-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	if s.rdb, err = servers.StartRedis(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.rdb.Close()) }()
	if s.db, err = servers.StartPostgres(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.db.Close()) }()
	missed := 0
	for _, g := range groups {
		if !strings.HasPrefix(g.name, only) {
			continue
		}
		start := time.Now()
		figures, err := g.run(ctx, s)
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		fmt.Printf("%s (%.0f s)\n", g.name, time.Since(start).Seconds())
		missed += report(figures, short)
	}
	if missed > 0 {
		return fmt.Errorf("%d figures are missed", missed)
	}
	return nil
}
