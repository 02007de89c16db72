package riverjobs_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // for testservers
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/riverjobs"
	"example.com/emailplatform/internal/tests/testservers"
	"example.com/emailplatform/mailroom"
	"example.com/emailplatform/mockserver"
)

// fixture is a database with a mock server that limits lookups strictly. If the field front is set, requests to the mock
// server pass through this handler.
type fixture struct {
	t        *testing.T
	pool     *pgxpool.Pool
	platform *mockserver.Server
	url      string
	front    atomic.Pointer[http.HandlerFunc]
}

// newFixture runs the test in parallel with other tests, because tests mostly wait.
func newFixture(t *testing.T) *fixture {
	t.Helper()
	t.Parallel()
	f := &fixture{t: t, pool: newDatabase(t), platform: mockserver.New(mockserver.Config{LookupLimit: mockserver.LookupMinInterval})}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if front := f.front.Load(); front != nil {
			front.ServeHTTP(w, r)
			return
		}
		f.platform.ServeHTTP(w, r)
	}))
	f.url = srv.URL
	t.Cleanup(func() { srv.Close(); f.platform.Close() })
	return f
}

// newDatabase returns a database of its own, with all tables.
func newDatabase(t *testing.T) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), testservers.NewDatabase(t))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	require.NoError(t, err)
	_, err = migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil)
	require.NoError(t, err)
	store, err := riverjobs.NewStore(pool, "")
	require.NoError(t, err)
	require.NoError(t, store.Create(t.Context()))
	_, err = pool.Exec(t.Context(), "CREATE TABLE notices (notice text)")
	require.NoError(t, err)
	return pool
}

// client returns a client that sends each request once.
func (f *fixture) client(change ...func(*client.Config)) *client.Client {
	f.t.Helper()
	cfg := client.Config{
		BaseURL: f.url, Token: f.platform.Token(), Retry: client.RetryConfig{MaxAttempts: 1}, Logger: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&cfg)
	}
	c, err := client.New(cfg)
	require.NoError(f.t, err)
	f.t.Cleanup(c.CloseIdleConnections)
	return c
}

// replica is a process with a Room and a River client.
type replica struct {
	store *riverjobs.Store
	room  *mailroom.Room
	queue *river.Client[pgx.Tx]
}

// start starts a replica that works on all jobs until the test ends. The pauses are short unless the argument change
// sets them.
func (f *fixture) start(change ...func(*mailroom.Options)) *replica {
	f.t.Helper()
	store, err := riverjobs.NewStore(f.pool, "")
	require.NoError(f.t, err)
	opts := mailroom.Options{
		URL: "http://app.test/hook", External: true, Logger: slog.New(slog.DiscardHandler),
		Pause: 50 * time.Millisecond,
		OnNotice: func(ctx context.Context, n mailroom.Notice) error {
			_, err := store.Tx(ctx).Exec(ctx, "INSERT INTO notices VALUES ($1)", string(n.Reason)+" "+n.Key)
			return err
		},
	}
	for _, c := range change {
		c(&opts)
	}
	room, err := mailroom.New(f.client(), store, opts)
	require.NoError(f.t, err)
	f.platform.SetTarget("app.test", room)
	workers := river.NewWorkers()
	riverjobs.Register(workers, room)
	queue, err := river.NewClient(riverpgxv5.New(f.pool), &river.Config{
		Workers: workers,
		Queues: map[string]river.QueueConfig{
			riverjobs.SendQueue: {MaxWorkers: 4}, riverjobs.LookupQueue: {MaxWorkers: 1}, riverjobs.NoticeQueue: {MaxWorkers: 2},
		},
		FetchCooldown:     5 * time.Millisecond,
		FetchPollInterval: 20 * time.Millisecond,
		TestOnly:          true,
		Logger:            slog.New(slog.DiscardHandler),
	})
	require.NoError(f.t, err)
	room.Start()
	require.NoError(f.t, queue.Start(f.t.Context()))
	f.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		_ = queue.StopAndCancel(ctx)
		_ = room.Close()
	})
	return &replica{store, room, queue}
}

// order is the email about an order.
func order(key string) client.EmailSubmission {
	return client.EmailSubmission{
		To:      "ada+" + key + "@example.org",
		Sender:  client.Sender{Name: "Shop", Email: "orders@shop.example"},
		Content: client.EmailContent{Subject: "Your order " + key, Text: "Thank you.", Type: client.EmailTypeTransactional},
	}
}

func (r *replica) enqueue(t *testing.T, key string) {
	t.Helper()
	require.NoError(t, r.room.Enqueue(t.Context(), key, order(key)))
}

func (f *fixture) waitUntil(what string, met func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(60 * time.Second); !met(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatalf("after 60 s: not %s", what)
		}
	}
}

func (f *fixture) inject(fault mockserver.Fault) {
	f.t.Helper()
	fault.Operation = "submitEmail"
	_, err := f.platform.Inject(fault)
	require.NoError(f.t, err)
}

// holdRequests makes send requests wait until the returned function release is called. The channel arrived gets a value for
// each request.
func (f *fixture) holdRequests() (arrived <-chan struct{}, release func()) {
	f.t.Helper()
	came, free := make(chan struct{}, 100), make(chan struct{})
	front := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == "/v2/emails" {
			came <- struct{}{}
			<-free
		}
		f.platform.ServeHTTP(w, r)
	})
	f.front.Store(&front)
	release = sync.OnceFunc(func() { close(free) })
	f.t.Cleanup(release)
	return came, release
}

func (f *fixture) count(what string, args ...any) (n int) {
	f.t.Helper()
	require.NoError(f.t, f.pool.QueryRow(f.t.Context(), "SELECT count(*) FROM "+what, args...).Scan(&n))
	return n
}

// notices returns the number of notices with a reason. Each notice was recorded as a row in its own transaction.
func (f *fixture) notices(reason mailroom.Reason) int {
	f.t.Helper()
	return f.count("notices WHERE notice LIKE $1", string(reason)+" %")
}

// requests returns the number of requests to submit an email, including failed requests.
func (f *fixture) requests() (n int) {
	for _, r := range f.platform.Requests() {
		if r.Method == http.MethodPost && r.Path == "/v2/emails" {
			n++
		}
	}
	return n
}
