package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivertype"

	"example.com/emailplatform/examples/faulttest"
	"example.com/emailplatform/webhook"
)

// TestMain runs a worker that never completes its jobs if the first argument is "hang".
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "hang" {
		hang()
	}
	os.Exit(m.Run())
}

const secret = "whsec_durable_example"

var check = faulttest.Check

// newDatabase creates a database, applies the migrations and returns a pool.
func newDatabase(t *testing.T) *pgxpool.Pool {
	t.Helper()
	server := os.Getenv("POSTGRES_URL")
	if server == "" && os.Getenv("CI") != "true" {
		t.Skip("SKIPPED, nothing was tested: set POSTGRES_URL to a server that the tests can change")
	}
	admin, err := pgx.Connect(t.Context(), server)
	check(t, err)
	name := "durable_" + strings.ToLower(rand.Text())
	_, err = admin.Exec(t.Context(), "CREATE DATABASE "+name)
	check(t, err)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_, err := admin.Exec(ctx, "DROP DATABASE "+name+" WITH (FORCE)")
		check(t, errors.Join(err, admin.Close(ctx)))
	})
	database, err := url.Parse(server)
	check(t, err)
	database.Path = "/" + name
	t.Setenv("POSTGRES_URL", database.String()) // for the processes that a test starts
	pool, err := pgxpool.New(t.Context(), database.String())
	check(t, err)
	t.Cleanup(pool.Close)
	check(t, migrate(t.Context(), pool))
	return pool
}

// deliver delivers each of n events the given number of times and returns the statuses.
func deliver(t *testing.T, pool *pgxpool.Pool, n, times int) (statuses []int) {
	t.Helper()
	for i := range n * times {
		statuses = append(statuses, deliverOne(t, pool, fmt.Sprintf("event-%d", i%n)))
	}
	return statuses
}

func deliverOne(t *testing.T, pool *pgxpool.Pool, id string) (status int) {
	t.Helper()
	h, err := newReceiver(pool, secret, 0)
	check(t, err)
	return deliverTo(t, h, id)
}

func deliverTo(t *testing.T, h http.Handler, id string) (status int) {
	t.Helper()
	parsed, err := webhook.ParseSecret(secret, "")
	check(t, err)
	body := `{"id":"` + id + `","event":"SuppressedEmail.Added","created_on":1700000000,"data":{"suppressedEmail":{"email":"a@example.com"}}}`
	req, err := webhook.NewRequest(t.Context(), "http://receiver.test/hook", parsed, []byte(body))
	check(t, err)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w.Code
}

// TestUnstorableKey: an event is stored even if PostgreSQL cannot store its id.
func TestUnstorableKey(t *testing.T) {
	pool := newDatabase(t)
	for _, id := range []string{`a\u0000`, `\ud800`} {
		if status := deliverOne(t, pool, id); status != http.StatusNoContent {
			t.Errorf("event %s: status %d, want 204", id, status)
		}
	}
	if n := mustCount(t, pool, "river_job"); n != 2 {
		t.Errorf("%d jobs, want 2", n)
	}
}

func mustCount(t *testing.T, pool *pgxpool.Pool, what string) int {
	t.Helper()
	n, err := count(t.Context(), pool, what)
	check(t, err)
	return n
}

// startWorkers runs workers in this process until the test ends.
func startWorkers(t *testing.T, pool *pgxpool.Pool, handle handler, change ...func(*river.Config)) *river.Client[pgx.Tx] {
	t.Helper()
	jobs, err := newWorkers(pool, handle, change...)
	check(t, err)
	check(t, jobs.Start(t.Context()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) //nolint:usetesting // t.Context has ended
		defer cancel()
		_ = jobs.StopAndCancel(ctx)
	})
	return jobs
}

// TestAcknowledgedBeforeWork: even if no worker runs, the receiver acknowledges events. Duplicate deliveries add no
// jobs.
func TestAcknowledgedBeforeWork(t *testing.T) {
	pool := newDatabase(t)
	statuses := deliver(t, pool, 30, 3)
	if slices.Min(statuses) != http.StatusNoContent || slices.Max(statuses) != http.StatusNoContent {
		t.Errorf("statuses %v", statuses)
	}
	if n := mustCount(t, pool, "river_job WHERE state = 'available'"); n != 30 {
		t.Errorf("%d jobs, want 30", n)
	}
	startWorkers(t, pool, noteEvent)
	check(t, workedOff(t.Context(), pool))
	if n := mustCount(t, pool, "event_log"); n != 30 {
		t.Errorf("%d rows of 30 events", n)
	}
}

// hang starts jobs and never completes them.
func hang() {
	pool, err := pgxpool.New(context.Background(), os.Getenv("POSTGRES_URL"))
	if err != nil {
		panic(err)
	}
	if err := work(context.Background(), pool, func(ctx context.Context, j job) error {
		if err := noteEvent(ctx, j); err != nil {
			return err
		}
		fmt.Println("has a job")
		select {}
	}); err != nil {
		panic(err)
	}
}

// TestKilledWorker: if a worker is killed, its rows are rolled back, and another worker gets its jobs.
func TestKilledWorker(t *testing.T) {
	pool := newDatabase(t)
	deliver(t, pool, 5, 1)
	self, err := os.Executable()
	check(t, err)
	cmd := exec.Command(self, "hang")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	_, readErr := out.Read(make([]byte, 10))
	err = becomes(t.Context(), pool, 5, "river_job WHERE state = 'running'")
	check(t, errors.Join(readErr, err, cmd.Process.Kill()))
	_ = cmd.Wait()
	startWorkers(t, pool, noteEvent, trySoon, func(cfg *river.Config) { cfg.JobTimeout, cfg.RescueStuckJobsAfter = 2*time.Second, 3*time.Second })
	check(t, workedOff(t.Context(), pool))
	if n := mustCount(t, pool, "event_log"); n != 5 {
		t.Errorf("%d rows, want 5", n)
	}
}

// TestFailuresAreRetried: failed attempts leave no rows.
func TestFailuresAreRetried(t *testing.T) {
	pool := newDatabase(t)
	deliver(t, pool, 3, 1)
	startWorkers(t, pool, func(ctx context.Context, j job) error {
		if err := noteEvent(ctx, j); err != nil {
			return err
		}
		var attempt int
		if err := pool.QueryRow(ctx, "SELECT max(attempt) FROM river_job WHERE args->>'key' = $1", j.key).Scan(&attempt); err != nil {
			return err
		}
		if attempt < 3 {
			return errors.New("not yet")
		}
		return nil
	}, trySoon)
	check(t, workedOff(t.Context(), pool))
	if n := mustCount(t, pool, "event_log"); n != 3 {
		t.Errorf("%d rows, want 3", n)
	}
}

// TestInvalidEvent: an invalid body is not retried.
func TestInvalidEvent(t *testing.T) {
	pool := newDatabase(t)
	jobs, err := river.NewClient(riverpgxv5.New(pool), &river.Config{})
	check(t, err)
	_, err = jobs.Insert(t.Context(), Delivery{Key: "k", Body: []byte("no event")}, nil)
	check(t, err)
	startWorkers(t, pool, noteEvent, trySoon)
	check(t, workedOff(t.Context(), pool))
	if n := mustCount(t, pool, "river_job WHERE state = 'cancelled' AND attempt = 1"); n != 1 {
		t.Errorf("%d jobs are canceled after one attempt, want 1", n)
	}
}

// TestDeadLetter: an event that fails on each attempt is discarded, and handled when its job is retried.
func TestDeadLetter(t *testing.T) {
	pool := newDatabase(t)
	h, err := newReceiver(pool, secret, 3)
	check(t, err)
	deliverTo(t, h, "event")
	var fixed atomic.Bool
	jobs := startWorkers(t, pool, func(ctx context.Context, j job) error {
		if !fixed.Load() {
			return errors.New("a bug")
		}
		return noteEvent(ctx, j)
	}, trySoon)
	check(t, workedOff(t.Context(), pool))
	discarded, err := jobs.JobList(t.Context(), river.NewJobListParams().States(rivertype.JobStateDiscarded))
	check(t, err)
	if len(discarded.Jobs) != 1 || discarded.Jobs[0].Attempt != 3 {
		t.Fatalf("%d dead letters, want 1 after 3 attempts", len(discarded.Jobs))
	}
	fixed.Store(true)
	_, err = jobs.JobRetry(t.Context(), discarded.Jobs[0].ID)
	check(t, err)
	check(t, becomes(t.Context(), pool, 1, "event_log"))
}

// trySoon retries immediately.
func trySoon(cfg *river.Config) { cfg.RetryPolicy = soon{} }

type soon struct{}

func (soon) NextRetry(*rivertype.JobRow) time.Time { return time.Now() }

// workedOff waits until no job is queued or running.
func workedOff(ctx context.Context, pool *pgxpool.Pool) error {
	return becomes(ctx, pool, 0, "river_job WHERE state IN ('available', 'running', 'retryable', 'scheduled')")
}

func count(ctx context.Context, pool *pgxpool.Pool, what string) (n int, err error) {
	err = pool.QueryRow(ctx, "SELECT count(*) FROM "+what).Scan(&n)
	return n, err
}

// becomes waits up to a minute until the table contains this number of rows.
func becomes(ctx context.Context, pool *pgxpool.Pool, want int, what string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		if n, err := count(ctx, pool, what); n == want || err != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}
