package riverjobs_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/riverjobs"
	"example.com/emailplatform/mockserver"
)

// shop is a database with a mock server that limits lookups strictly. Requests to the mock server pass through front if it is set.
type shop struct {
	t        *testing.T
	pool     *pgxpool.Pool
	platform *mockserver.Server
	url      string
	front    atomic.Pointer[http.HandlerFunc]
}

// newShop runs the test in parallel with other tests, because tests mostly wait.
func newShop(t *testing.T) *shop {
	t.Helper()
	t.Parallel()
	s := &shop{t: t, pool: newDatabase(t), platform: mockserver.New(mockserver.Config{Lookups: mockserver.LookupMinInterval})}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if front := s.front.Load(); front != nil {
			front.ServeHTTP(w, r)
			return
		}
		s.platform.ServeHTTP(w, r)
	}))
	s.url = srv.URL
	t.Cleanup(func() { srv.Close(); s.platform.Close() })
	return s
}

// newDatabase returns a database of its own, with all tables.
func newDatabase(t *testing.T) *pgxpool.Pool {
	t.Helper()
	address := os.Getenv("POSTGRES_URL")
	if address == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("POSTGRES_URL is not set: CI needs a PostgreSQL")
		}
		t.Skip("SKIPPED, nothing was tested: set POSTGRES_URL to a PostgreSQL server where the user can create databases")
	}
	server, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	name := fmt.Sprintf("riverjobs_%d", time.Now().UnixNano())
	_, err = server.Exec(t.Context(), "CREATE DATABASE "+name)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx := context.Background() //nolint:usetesting // t.Context has ended
		_, err := server.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
		assert.NoError(t, errors.Join(err, server.Close(ctx)))
	})
	u, err := url.Parse(address)
	require.NoError(t, err)
	u.Path = "/" + name
	pool, err := pgxpool.New(t.Context(), u.String())
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	require.NoError(t, err)
	_, err = migrator.Migrate(t.Context(), rivermigrate.DirectionUp, nil)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), riverjobs.Schema)
	require.NoError(t, err)
	return pool
}

// client returns a client that sends each request once.
func (s *shop) client(change ...func(*client.Config)) *client.Client {
	s.t.Helper()
	cfg := client.Config{
		BaseURL: s.url, Token: s.platform.Token(), Retry: client.RetryConfig{MaxAttempts: 1}, Logger: slog.New(slog.DiscardHandler),
	}
	for _, c := range change {
		c(&cfg)
	}
	c, err := client.New(cfg)
	require.NoError(s.t, err)
	s.t.Cleanup(c.CloseIdleConnections)
	return c
}

// jobs returns Jobs with short pauses unless opts sets them.
func (s *shop) jobs(c *client.Client, opts riverjobs.Options) *riverjobs.Jobs {
	s.t.Helper()
	if opts.Pause == 0 {
		opts.Pause, opts.MaxPause = 50*time.Millisecond, 50*time.Millisecond
	}
	if opts.Logger == nil {
		opts.Logger = slog.New(slog.DiscardHandler)
	}
	j, err := riverjobs.New(s.pool, c, opts)
	require.NoError(s.t, err)
	return j
}

// inserter returns a River client that only inserts jobs.
func (s *shop) inserter() *river.Client[pgx.Tx] {
	s.t.Helper()
	c, err := river.NewClient(riverpgxv5.New(s.pool), &river.Config{})
	require.NoError(s.t, err)
	return c
}

// start works on all jobs until the test ends.
func (s *shop) start(j *riverjobs.Jobs) *river.Client[pgx.Tx] {
	s.t.Helper()
	workers := river.NewWorkers()
	j.Register(workers)
	c, err := river.NewClient(riverpgxv5.New(s.pool), &river.Config{
		Workers:           workers,
		Queues:            map[string]river.QueueConfig{riverjobs.SendQueue: {MaxWorkers: 4}, riverjobs.LookupQueue: {MaxWorkers: 1}},
		FetchCooldown:     5 * time.Millisecond,
		FetchPollInterval: 20 * time.Millisecond,
		RetryPolicy:       atOnce{},
		TestOnly:          true,
		Logger:            slog.New(slog.DiscardHandler),
	})
	require.NoError(s.t, err)
	require.NoError(s.t, c.Start(s.t.Context()))
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = c.StopAndCancel(ctx)
	})
	return c
}

// work processes all jobs with a new client until the test ends.
func (s *shop) work(opts riverjobs.Options) (*riverjobs.Jobs, *river.Client[pgx.Tx]) {
	s.t.Helper()
	j := s.jobs(s.client(), opts)
	return j, s.start(j)
}

type atOnce struct{}

func (atOnce) NextRetry(*rivertype.JobRow) time.Time { return time.Now().Add(10 * time.Millisecond) }

// order is the email about an order.
func order(key string) client.EmailSubmission {
	return client.EmailSubmission{
		To:      "ada+" + key + "@example.org",
		Sender:  client.Sender{Name: "Shop", Email: "orders@shop.example"},
		Content: client.EmailContent{Subject: "Your order " + key, Text: "Thank you.", Type: client.EmailTypeTransactional},
	}
}

// insert inserts the job of an order and returns its id.
func (s *shop) insert(key string) int64 {
	s.t.Helper()
	res, err := s.inserter().Insert(s.t.Context(), riverjobs.SendArgs{Key: key, Submission: order(key)}, nil)
	require.NoError(s.t, err)
	return res.Job.ID
}

// until waits until the job meets a condition.
func (s *shop) until(id int64, what string, met func(*rivertype.JobRow) bool) *rivertype.JobRow {
	s.t.Helper()
	jobs := s.inserter()
	var row *rivertype.JobRow
	s.wait(what, func() bool {
		var err error
		row, err = jobs.JobGet(s.t.Context(), id)
		require.NoError(s.t, err)
		return met(row)
	})
	return row
}

// reaches waits until the job has the given state.
func (s *shop) reaches(id int64, state rivertype.JobState) *rivertype.JobRow {
	s.t.Helper()
	return s.until(id, string(state), func(row *rivertype.JobRow) bool { return row.State == state })
}

func (s *shop) wait(what string, met func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !met(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("after 30 s: not %s", what)
		}
	}
}

// ended waits until the job is completed, canceled or unknown.
func (s *shop) ended(id int64) (*rivertype.JobRow, riverjobs.Output) {
	s.t.Helper()
	var out riverjobs.Output
	row := s.until(id, "ended", func(row *rivertype.JobRow) bool {
		out = riverjobs.Output{}
		if row.Output() != nil {
			require.NoError(s.t, json.Unmarshal(row.Output(), &out))
		}
		return row.State == rivertype.JobStateCompleted || row.State == rivertype.JobStateCancelled ||
			row.State == rivertype.JobStateScheduled && out.State == riverjobs.StateUnknown
	})
	return row, out
}

func (s *shop) inject(f mockserver.Fault) {
	s.t.Helper()
	if f.Action != mockserver.FaultInternalError { // which is about emails
		f.Operation = "submitEmail"
	}
	_, err := s.platform.Inject(f)
	require.NoError(s.t, err)
}

// hold makes requests wait until the returned function is called. arrived gets a
// value for each.
func (s *shop) hold() (arrived <-chan struct{}, release func()) {
	s.t.Helper()
	came, free := make(chan struct{}, 100), make(chan struct{})
	front := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		came <- struct{}{}
		<-free
		s.platform.ServeHTTP(w, r)
	})
	s.front.Store(&front)
	release = sync.OnceFunc(func() { close(free) })
	s.t.Cleanup(release)
	return came, release
}

func (s *shop) exec(sql string, args ...any) {
	s.t.Helper()
	_, err := s.pool.Exec(s.t.Context(), sql, args...)
	require.NoError(s.t, err)
}

func (s *shop) count(what string, args ...any) (n int) {
	s.t.Helper()
	require.NoError(s.t, s.pool.QueryRow(s.t.Context(), "SELECT count(*) FROM "+what, args...).Scan(&n))
	return n
}

// requests returns the number of emails that were submitted, or attempted.
func (s *shop) requests() (n int) {
	for _, r := range s.platform.Requests() {
		if r.Method == http.MethodPost && r.Path == "/v2/emails" {
			n++
		}
	}
	return n
}
