package inbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"example.com/emailplatform/contrib/pgstore"
	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// check ends the test if there is an error.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// startServer starts a NATS server that stores its streams in dir.
func startServer(t *testing.T, dir string) (*server.Server, jetstream.JetStream) {
	t.Helper()
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: dir,
		// The test needs little space, but the default depends on the free disk space.
		JetStreamMaxStore: 2 * Config().MaxBytes,
	})
	check(t, err)
	srv.Start()
	t.Cleanup(func() { srv.Shutdown(); srv.WaitForShutdown() })
	if !srv.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not accept connections")
	}
	js, err := Open(t.Context(), srv.ClientURL())
	check(t, err)
	t.Cleanup(js.Conn().Close)
	return srv, js
}

// newReceiver returns a receiver and the secret that it accepts.
func newReceiver(t *testing.T, js jetstream.JetStream) (http.Handler, webhook.Secret) {
	t.Helper()
	secret, err := webhook.ParseSecret("whsec_jetstream_example", "")
	check(t, err)
	v, err := webhook.NewVerifier(secret)
	check(t, err)
	return NewReceiver(js, v, webhook.Options{Logger: slog.New(slog.DiscardHandler)}), secret
}

// deliver delivers n events to a new receiver and returns the statuses. The event ids start with the text run.
func deliver(t *testing.T, js jetstream.JetStream, run string, n int) (statuses []int) {
	t.Helper()
	h, secret := newReceiver(t, js)
	for i := range n {
		statuses = append(statuses, post(t, h, secret, fmt.Sprintf("%s %d", run, i), ""))
	}
	return statuses
}

func post(t *testing.T, h http.Handler, secret webhook.Secret, id, padding string) int {
	t.Helper()
	body := fmt.Sprintf(`{"id":"%s","event":"SuppressedEmail.Added","created_on":1700000000,"data":{"suppressedEmail":{"email":"a@example.com"}},"padding":"%s"}`, id, padding)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	req, err := webhook.NewRequest(ctx, "http://receiver.test/hook", secret, []byte(body))
	check(t, err)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w.Code
}

// stored returns the number of messages in the stream.
func stored(t *testing.T, js jetstream.JetStream) int {
	t.Helper()
	s, err := js.Stream(t.Context(), Stream)
	check(t, err)
	return int(s.CachedInfo().State.Msgs)
}

// work runs a worker until done returns true.
func work(t *testing.T, js jetstream.JetStream, w Worker, done func() bool) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	w.Logger = slog.New(slog.DiscardHandler)
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx, js) }()
	for !done() && ctx.Err() == nil {
		time.Sleep(10 * time.Millisecond)
	}
	if ctx.Err() != nil {
		t.Error("the worker is not done after a minute")
	}
	stop()
	check(t, <-ended)
}

// TestStoredBeforeResponse: the receiver reports success only after the server has stored the event. Several
// receivers store the same event once, even after a restart of the server.
func TestStoredBeforeResponse(t *testing.T) {
	dir := t.TempDir()
	srv, js := startServer(t, dir)
	for range 3 {
		if statuses := deliver(t, js, "event", 30); slices.Min(statuses) != http.StatusNoContent || slices.Max(statuses) != http.StatusNoContent {
			t.Errorf("statuses %v", statuses)
		}
	}
	if n := stored(t, js); n != 30 {
		t.Errorf("%d messages, want 30", n)
	}
	srv.Shutdown()
	srv.WaitForShutdown()
	if statuses := deliver(t, js, "event", 1); statuses[0]/100 == 2 {
		t.Errorf("status %d without a server", statuses[0])
	}
	_, js = startServer(t, dir)
	if n := stored(t, js); n != 30 {
		t.Errorf("%d messages after a restart, want 30", n)
	}
	deliver(t, js, "event", 31)
	if n := stored(t, js); n != 31 {
		t.Errorf("%d messages after further deliveries, want 31", n)
	}
}

// TestFullStream: a full stream rejects new events and keeps the old ones. Events that differ only in white space are
// different events.
func TestFullStream(t *testing.T) {
	_, js := startServer(t, t.TempDir())
	cfg := Config()
	cfg.MaxBytes = 1 << 20
	_, err := js.UpdateStream(t.Context(), cfg)
	check(t, err)
	h, secret := newReceiver(t, js)
	half := strings.Repeat("x", 450_000)
	for _, tt := range []struct {
		id, padding string
		want        int
	}{
		{"a", half, http.StatusNoContent},
		{`a `, half, http.StatusNoContent},
		{"b", half, http.StatusInternalServerError},
		{"a", half, http.StatusNoContent},
		{"b", "", http.StatusNoContent},
		{`b\r\nNats-Msg-Id: c`, "", http.StatusNoContent},
		{"c", "", http.StatusNoContent},
		{"d", strings.Repeat("x", maxBody), http.StatusRequestEntityTooLarge},
	} {
		if got := post(t, h, secret, tt.id, tt.padding); got != tt.want {
			t.Errorf("event %q with %d bytes: status %d, want %d", tt.id, len(tt.padding), got, tt.want)
		}
	}
	if n := stored(t, js); n != 5 {
		t.Errorf("%d messages, want 5", n)
	}
}

// TestDeadLetter: an event that fails MaxDeliver times stays in the stream. If its consumer is then deleted, the next
// worker processes it.
func TestDeadLetter(t *testing.T) {
	_, js := startServer(t, t.TempDir())
	deliver(t, js, "event", 1)
	var calls atomic.Int64
	w := Worker{Once: webhook.NewMemoryOnce(webhook.MemoryOnceOptions{}), MaxDeliver: 2, Handle: func(context.Context, *events.Event) error {
		if calls.Add(1) <= 2 {
			return errors.New("not yet")
		}
		return nil
	}}
	advisory, err := js.Conn().SubscribeSync("$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES." + Stream + "." + Consumer)
	check(t, err)
	work(t, js, w, func() bool { n, _, err := advisory.Pending(); return err == nil && n == 1 })
	if n := stored(t, js); n != 1 || calls.Load() != 2 {
		t.Errorf("%d messages after %d calls, want 1 after 2", n, calls.Load())
	}
	check(t, js.DeleteConsumer(t.Context(), Stream, Consumer))
	work(t, js, w, func() bool { return stored(t, js) == 0 })
	if calls.Load() != 3 {
		t.Errorf("%d calls, want 3", calls.Load())
	}
}

// forgetful processes each event once and reports a failure for it, so the event is delivered again.
type forgetful struct {
	webhook.Once
	failed atomic.Int64
}

func (f *forgetful) Do(ctx context.Context, key string, fn func(context.Context) error) (bool, error) {
	ran, err := f.Once.Do(ctx, key, fn)
	if ran && err == nil {
		f.failed.Add(1)
		return true, errors.New("response lost")
	}
	return ran, err
}

// TestEffectsAreWrittenOnce: even if an event is delivered again after its commit, it has one effect. A failed
// attempt leaves no effect.
func TestEffectsAreWrittenOnce(t *testing.T) {
	server := os.Getenv("POSTGRES_URL")
	if server == "" && os.Getenv("CI") != "true" {
		t.Skip("SKIPPED, nothing was tested: set POSTGRES_URL to a server that the tests can change")
	}
	pool, err := pgxpool.New(t.Context(), server)
	check(t, err)
	t.Cleanup(pool.Close)
	effects := fmt.Sprintf("effects_%d", time.Now().UnixNano())
	_, err = pool.Exec(t.Context(), pgstore.Schema+"; CREATE TABLE "+effects+" (id text)")
	check(t, err)
	_, js := startServer(t, t.TempDir())
	const n = 20
	deliver(t, js, effects, n)
	once := &forgetful{Once: pgstore.NewOnce(pool, pgstore.OnceOptions{})}
	var calls atomic.Int64
	work(t, js, Worker{Once: once, Handle: func(ctx context.Context, e *events.Event) error {
		tx, err := pgstore.Tx(ctx)
		if err == nil {
			_, err = tx.Exec(ctx, "INSERT INTO "+effects+" VALUES ($1)", e.ID)
		}
		if err == nil && calls.Add(1) <= n/2 {
			err = errors.New("not yet")
		}
		return err
	}}, func() bool { return stored(t, js) == 0 })
	var rows, distinct int
	check(t, pool.QueryRow(t.Context(), "SELECT count(*), count(DISTINCT id) FROM "+effects).Scan(&rows, &distinct))
	if rows != n || distinct != n || once.failed.Load() != n || calls.Load() != n+n/2 {
		t.Errorf("%d effects of %d events, %d deliveries after the commit, %d calls", rows, distinct, once.failed.Load(), calls.Load())
	}
}
