package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"example.com/emailplatform/contrib/riverjobs"
	"example.com/emailplatform/internal/tools/must"
	"example.com/emailplatform/mailroom"
)

// hosts returns the hosts of the webhooks of two releases.
func hosts() []string { return []string{"app.test", "new.test"} }

// sender is a replica that sends emails and receives deliveries. After SIGTERM, it completes the emails in progress and
// exits.
func sender(with settings) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	e := openEngine(ctx, with)
	names := mailroom.DefaultEvents()
	room := must.Get(mailroom.New(newClient(with), skewedClockStore{e.store, with.Skew}, mailroom.Options{
		URL: "http://" + hosts()[max(with.Release-1, 0)] + "/hook", Events: names[:len(names)-max(with.Release-1, 0)],
		SendTimeout: 2 * time.Second, Pause: with.Pause, Workers: 8, External: with.Store == onRiver,
		OnNotice: e.record, Logger: slog.New(slog.DiscardHandler),
	}))
	room.Start()
	end := func(context.Context) error { return nil }
	if with.Store == onRiver {
		slog.SetDefault(slog.New(slog.DiscardHandler))
		queue := newQueue(e.pool, room)
		must.OK(queue.Start(context.WithoutCancel(ctx)))
		end = queue.Stop
	}
	listener := must.Get(net.Listen("tcp", with.Addr))
	srv := &http.Server{Handler: room} //nolint:gosec // no timeouts, because only this program connects
	go func() { _ = srv.Serve(listener) }()
	fmt.Println("started")
	<-ctx.Done()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	must.OK(errors.Join(srv.Shutdown(last), end(last), room.Close()))
}

func newQueue(pool *pgxpool.Pool, room *mailroom.Room) *river.Client[pgx.Tx] {
	workers := river.NewWorkers()
	riverjobs.Register(workers, room)
	return must.Get(river.NewClient(riverpgxv5.New(pool), &river.Config{
		Workers: workers,
		Queues: map[string]river.QueueConfig{
			riverjobs.SendQueue: {MaxWorkers: 8}, riverjobs.LookupQueue: {MaxWorkers: 1}, riverjobs.NoticeQueue: {MaxWorkers: 4},
		},
		JobTimeout:           10 * time.Second, // for jobs that set no timeout
		RescueStuckJobsAfter: released,
		FetchPollInterval:    200 * time.Millisecond,
		TestOnly:             true, // a leader starts to rescue immediately
		Logger:               slog.New(slog.DiscardHandler),
	}))
}

// released is the time after which River gives the jobs of a killed replica to another replica.
const released = 20 * time.Second
