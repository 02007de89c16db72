package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"example.com/emailplatform/events"
	"example.com/emailplatform/examples/integrations/jetstream/inbox"
	"example.com/emailplatform/internal/tools/must"
)

// natsServer is a NATS server with JetStream. It prints a line when it is ready.
func natsServer(with settings) {
	host, port, err := net.SplitHostPort(with.Addr)
	must.OK(err)
	srv := must.Get(server.NewServer(&server.Options{
		Host: host, Port: must.Get(strconv.Atoi(port)), NoLog: true, NoSigs: true, JetStream: true, StoreDir: with.Dir, SyncAlways: with.Sync,
		JetStreamMaxStore: 2 * inbox.Config().MaxBytes, // the default depends on the free space of the disk
	}))
	srv.Start()
	if !srv.ReadyForConnections(time.Minute) {
		must.OK(errors.New("the NATS server does not accept connections"))
	}
	fmt.Println("ready")
	srv.WaitForShutdown()
}

// openStream retries, because the server may have been killed.
func openStream(ctx context.Context, url string) (js jetstream.JetStream) {
	var err error
	for range 60 {
		if js, err = inbox.Open(ctx, url); err == nil {
			return js
		}
	}
	must.OK(err)
	return nil
}

// worker is a worker of examples/integrations/jetstream. Its handler writes a row with the id of the event. If a file is set, the
// handler also appends a line to the file for each call.
func worker(with settings) {
	ctx := context.Background()
	fmt.Println("ready")
	s := open(ctx, with)
	handle := func(ctx context.Context, e *events.Event) error { return s.write(ctx, e.ID) }
	if with.File != "" {
		handle = loggingHandler(with.File, with.Work, s.write)
	}
	js := openStream(ctx, with.NATS)
	for { // as a supervisor restarts a worker
		w := inbox.Worker{Once: s.once, Handle: handle, AckWait: ackWait, Logger: slog.New(slog.DiscardHandler)}
		fmt.Fprintln(os.Stderr, "worker:", w.Run(ctx, js))
	}
}

// ackWait is shorter than the default of the example, because each killed worker delays events by this time.
const ackWait = 2 * time.Second

// stream is a NATS server with its workers.
type stream struct {
	env     *environment
	url     string
	nats    *process
	workers []*process
}

// startStream starts a NATS server with empty streams.
func startStream(env *environment, synced bool) *stream {
	with := settings{Addr: freeAddr(), Dir: must.Get(os.MkdirTemp(env.dir, "nats-")), Sync: synced}
	return &stream{env: env, url: "nats://" + with.Addr, nats: env.spawn("nats", with)[0]}
}

// work starts n workers.
func (st *stream) work(n int, with settings) {
	with.Store, with.NATS, with.Postgres = "pg", st.url, st.env.db.URL
	st.workers = st.env.spawn("worker", slices.Repeat([]settings{with}, n)...)
}

// processed waits until the stream is empty, because an event is deleted when a worker has acknowledged it.
func (st *stream) processed(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	js := must.Get(inbox.Open(ctx, st.url))
	defer js.Conn().Close()
	for {
		left, err := messages(ctx, js)
		if err == nil && left == 0 {
			return
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			must.Failf("%d events remain in the stream: %w", left, errors.Join(err, ctx.Err()))
		}
	}
}

func messages(ctx context.Context, js jetstream.JetStream) (uint64, error) {
	s, err := js.Stream(ctx, inbox.Stream)
	if err != nil {
		return 0, err
	}
	return s.CachedInfo().State.Msgs, nil
}

// killedStream kills receivers, workers and the NATS server in turn.
func killedStream(ctx context.Context, env *environment) []figure {
	events, kills := env.pick(700, 14_000), env.pick(6, 50)
	defer env.end()
	st := startStream(env, !env.short)
	emptyTables(ctx, env)
	run := fmt.Sprintf("stream%d", time.Now().UnixNano())
	file := filepath.Join(env.dir, run)
	st.work(3, settings{File: file, Work: 10 * time.Millisecond})
	r := receive(env, 3, settings{NATS: st.url})
	killed := make([]int, 3)
	g := killRun{"stream", events, kills, func(ctx context.Context, replicas []*process) {
		turn := (killed[0] + killed[1] + killed[2]) % 3
		killed[turn]++
		restartOne(ctx, [][]*process{replicas, st.workers, {st.nats}}[turn])
	}, true}
	d := newDelivery(run, events, r)
	d.twice = true
	g.deliverAndKill(ctx, d, r)
	st.processed(ctx)
	return append(g.countResults(ctx, env, file, d), figure{name: "receivers killed", value: float64(killed[0])},
		figure{name: "workers killed", value: float64(killed[1])},
		figure{name: "NATS server killed", value: float64(killed[2])})
}
