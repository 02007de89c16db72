package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"example.com/emailplatform/events"
	"example.com/emailplatform/examples/jetstream/inbox"
	"example.com/emailplatform/webhook"
)

// natsServer is a NATS server with JetStream. It prints a line when it is ready.
func natsServer(args []string) error {
	f := flag.NewFlagSet("nats", flag.ExitOnError)
	addr := f.String("addr", "", "address that the server listens on")
	dir := f.String("dir", "", "directory of the streams")
	sync := f.Bool("sync", true, "sync each message to the disk before the response")
	_ = f.Parse(args)
	host, port, err := net.SplitHostPort(*addr)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	srv, err := server.NewServer(&server.Options{Host: host, Port: n, JetStream: true, StoreDir: *dir, SyncAlways: *sync, NoLog: true, NoSigs: true})
	if err != nil {
		return err
	}
	srv.Start()
	if !srv.ReadyForConnections(time.Minute) {
		return errors.New("the NATS server does not accept connections")
	}
	fmt.Println("ready")
	srv.WaitForShutdown()
	return nil
}

// openStream retries, because the server may have been killed.
func openStream(ctx context.Context, url string) (jetstream.JetStream, error) {
	for range 60 {
		if js, err := inbox.Open(ctx, url); err == nil {
			return js, nil
		}
	}
	return nil, errors.New("no connection to the NATS server")
}

// receiveStream is a receiver of examples/jetstream. A careless receiver responds before it stores an event.
func receiveStream(ctx context.Context, v *webhook.Verifier, url string, careless bool) (http.Handler, error) {
	js, err := openStream(ctx, url)
	if err != nil {
		return nil, err
	}
	opts := webhook.Options{Logger: slog.New(slog.DiscardHandler)}
	if !careless {
		return inbox.NewReceiver(js, v, opts), nil
	}
	return webhook.NewHandler(v, func(ctx context.Context, _ *events.Event) error {
		d, _ := webhook.FromContext(ctx)
		time.AfterFunc(time.Second, func() {
			_, _ = js.Publish(context.Background(), inbox.Config().Subjects[0], d.Body, jetstream.WithMsgID(d.Key))
		})
		return nil
	}, opts), nil
}

// worker is a worker of examples/jetstream. It writes a line to -file for each call of its handler, and a row with the
// id of the event.
func worker(args []string) error {
	f := flag.NewFlagSet("worker", flag.ExitOnError)
	url := f.String("nats", "", "URL of the NATS server")
	postgresURL := f.String("postgres", "", "URL of PostgreSQL")
	careless := f.Bool("careless", false, "do not deduplicate")
	file := f.String("file", "", "file that gets a line for each call; empty: none")
	work := f.Duration("work", 0, "duration of the handler")
	_ = f.Parse(args)
	ctx := context.Background()
	s, err := open(ctx, "pg", "", *postgresURL, 0)
	if err != nil {
		return err
	}
	handle := func(ctx context.Context, e *events.Event) error { return s.write(ctx, e.ID) }
	if *file != "" {
		if handle, err = logged(*file, *work, s.write); err != nil {
			return err
		}
	}
	if *careless {
		s.once = unkeyed{s.once}
	}
	js, err := openStream(ctx, *url)
	if err != nil {
		return err
	}
	for { // as a supervisor restarts a worker
		w := inbox.Worker{Once: s.once, Handle: handle, AckWait: ackWait, Logger: slog.New(slog.DiscardHandler)}
		fmt.Fprintln(os.Stderr, "worker:", w.Run(ctx, js))
	}
}

// ackWait is shorter than the default of the example, because each killed worker delays events by this time.
const ackWait = 2 * time.Second

// unkeyed is a store that finds no duplicates. The pause makes it probable that a worker is killed between commit and
// acknowledgement.
type unkeyed struct{ webhook.Once }

func (u unkeyed) Do(ctx context.Context, _ string, fn func(context.Context) error) (bool, error) {
	defer time.Sleep(300 * time.Millisecond)
	return u.Once.Do(ctx, rand.Text(), fn)
}

// stream is a NATS server with its workers.
type stream struct {
	url     string
	server  []string // arguments of the server
	worker  []string // arguments of the workers
	nats    *process
	workers []*process
}

// startStream starts a NATS server whose streams are empty.
func startStream(s *stage, flags ...string) (*stream, error) {
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(s.dir, "nats-")
	if err != nil {
		return nil, err
	}
	st := &stream{url: "nats://" + addr, server: append([]string{"nats", "-addr", addr, "-dir", dir}, flags...)}
	st.worker = []string{"worker", "-nats", st.url, "-postgres", s.db.URL()}
	return st, st.startServer()
}

func (st *stream) startServer() (err error) {
	if st.nats, err = spawn(st.server...); err != nil {
		return err
	}
	_, err = st.nats.line()
	return err
}

// work starts n workers.
func (st *stream) work(n int, flags ...string) error {
	st.worker = append(st.worker, flags...)
	for range n {
		p, err := spawn(st.worker...)
		if err != nil {
			return err
		}
		st.workers = append(st.workers, p)
	}
	return nil
}

// replaceWorker kills the oldest worker and starts another.
func (st *stream) replaceWorker() error {
	st.workers[0].kill()
	p, err := spawn(st.worker...)
	st.workers = append(st.workers[1:], p)
	return err
}

// restart kills the server and starts it again with the same files.
func (st *stream) restart() error {
	st.nats.kill()
	return st.startServer()
}

func (st *stream) close() {
	for _, p := range append(st.workers, st.nats) {
		if p != nil {
			p.kill()
		}
	}
}

// processed waits until the stream is empty. An event is deleted when a worker has acknowledged it.
func (st *stream) processed(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	js, err := inbox.Open(ctx, st.url)
	if err != nil {
		return err
	}
	defer js.Conn().Close()
	for {
		left, err := messages(ctx, js)
		if err == nil && left == 0 {
			return nil
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-ctx.Done():
			return fmt.Errorf("%d events are left in the stream: %w", left, errors.Join(err, ctx.Err()))
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
func killedStream(ctx context.Context, s *stage) ([]figure, error) {
	return streamSiege(ctx, s, s.pick(700, 14_000), s.pick(6, 50), nil, nil)
}

func streamSiege(ctx context.Context, s *stage, events, kills int, receiver, worker []string) (_ []figure, err error) {
	st, err := startStream(s, fmt.Sprintf("-sync=%t", !s.short))
	if err != nil {
		return nil, err
	}
	defer st.close()
	if err := emptyTables(ctx, s); err != nil {
		return nil, err
	}
	run := fmt.Sprintf("stream%d", time.Now().UnixNano())
	file := filepath.Join(s.dir, run)
	if err := st.work(3, append(worker, "-file", file, "-work", "10ms")...); err != nil {
		return nil, err
	}
	r, err := receive(ctx, s, 3, append(receiver, "-nats", st.url)...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close()) }()
	killed := make([]int, 3)
	g := siege{"stream", events, kills, func(_ context.Context, r *receivers) error {
		turn := (killed[0] + killed[1] + killed[2]) % 3
		killed[turn]++
		return []func() error{r.replace, st.replaceWorker, st.restart}[turn]()
	}, true}
	d := newDelivery(run, events, r.to)
	d.twice = true
	if err := errors.Join(g.attack(ctx, d, r), st.processed(ctx)); err != nil {
		return nil, err
	}
	figures, err := g.count(ctx, s, file, d)
	return append(figures, figure{name: "receivers killed", value: float64(killed[0])},
		figure{name: "workers killed", value: float64(killed[1])},
		figure{name: "NATS server killed", value: float64(killed[2])}), err
}
