package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http/httptest"
	"os/signal"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/riverjobs"
	"example.com/emailplatform/internal/tools/must"
	"example.com/emailplatform/mockserver"
)

// post is a shop with three senders that share a queue, and a mock server that records the emails of each order.
type post struct {
	fixture *fixture
	mock    *mockserver.Server
	srv     *httptest.Server
	pool    *pgxpool.Pool
	queue   *river.Client[pgx.Tx]
	senders []*process
	orders  int
}

// newPost starts the senders. Its tables are empty.
func newPost(ctx context.Context, s *fixture, pause time.Duration) *post {
	p := &post{fixture: s, mock: mockserver.New(mockserver.Config{}), pool: must.Get(pgxpool.New(ctx, s.db.URL))}
	p.srv = httptest.NewServer(p.mock)
	migrator := must.Get(rivermigrate.New(riverpgxv5.New(p.pool), nil))
	must.Get(migrator.Migrate(ctx, rivermigrate.DirectionUp, nil))
	must.Get(p.pool.Exec(ctx, riverjobs.Schema+"TRUNCATE emailplatform_sends, emailplatform_pauses, river_job, river_leader"))
	p.queue = must.Get(river.NewClient(riverpgxv5.New(p.pool), &river.Config{}))
	with := settings{Platform: p.srv.URL, Token: p.mock.Token(), Postgres: s.db.URL, Pause: pause}
	p.senders = s.spawn("sender", with, with, with)
	return p
}

func (p *post) close() {
	p.fixture.end()
	p.srv.Close()
	p.mock.Close()
	p.pool.Close()
}

// stop ends a sender by SIGTERM and waits for it.
func (p *post) stop(i int) {
	must.OK(errors.Join(p.senders[i].cmd.Process.Signal(syscall.SIGTERM), p.senders[i].cmd.Wait()))
}

// order inserts the emails about n further orders.
func (p *post) order(ctx context.Context, n int) {
	params := make([]river.InsertManyParams, n)
	for i := range params {
		p.orders++
		params[i].Args = riverjobs.SendArgs{Key: fmt.Sprint(p.orders), Submission: client.EmailSubmission{
			To: fmt.Sprintf("buyer+%d@example.org", p.orders), Sender: client.Sender{Name: "Shop", Email: "orders@shop.example"},
			Content: client.EmailContent{Subject: fmt.Sprint("Your order ", p.orders), Text: "Thank you.", Type: client.EmailTypeTransactional},
		}}
	}
	must.Get(p.queue.InsertMany(ctx, params))
}

func (p *post) count(ctx context.Context, what string) (n int) {
	if err := p.pool.QueryRow(ctx, "SELECT count(*) FROM "+what).Scan(&n); err != nil {
		must.Failf("%s: %w", what, err)
	}
	return n
}

// until waits until the table has at least want rows.
func (p *post) until(ctx context.Context, what string, want int) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	for p.count(ctx, what) < want {
		time.Sleep(20 * time.Millisecond)
	}
}

// settled waits until each email is sent or unknown.
func (p *post) settled(ctx context.Context) {
	p.until(ctx, "emailplatform_sends WHERE state <> 'sending'", p.orders)
}

// figures compares the records of the shop with the emails that the platform sent. mostUnknown limits the number of
// unknown outcomes; a negative number sets no limit.
func (p *post) figures(ctx context.Context, mostUnknown float64) []figure {
	emails := map[string]int{}
	for _, m := range p.mock.Outbox() {
		emails[m.To]++
	}
	rows := must.Get(p.pool.Query(ctx, `SELECT args->>'key', coalesce(s.state, '') FROM river_job LEFT JOIN emailplatform_sends s ON s.key = args->>'key'
		WHERE kind = 'emailplatform_send'`))
	var key, state string
	counts := map[string]float64{}
	must.Get(pgx.ForEachRow(rows, []any{&key, &state}, func() error {
		n := emails["buyer+"+key+"@example.org"]
		counts["jobs"]++
		counts[state]++
		if n > 1 {
			counts["twice"]++
		}
		if state != "unknown" && (state != "sent" || n == 0) {
			counts["missing"]++
		}
		return nil
	}))
	unknown := figure{name: "reported as unknown", value: counts["unknown"]}
	if mostUnknown >= 0 {
		unknown.bound, unknown.limit = atMost, mostUnknown
	}
	return []figure{
		{name: "orders", value: counts["jobs"], bound: equal, limit: float64(p.orders)},
		{name: "sent", value: counts["sent"], bound: equal, limit: float64(p.orders) - counts["unknown"]},
		unknown,
		{name: "sent twice", value: counts["twice"], bound: equal},
		{name: "neither sent nor reported", value: counts["missing"], bound: equal},
	}
}

// outage simulates 503 responses for two minutes, every second one with Retry-After, with the default pause of 30 s. The
// shop gets an order every 2 s. The short form divides all times by 10.
func outage(ctx context.Context, s *fixture) []figure {
	const orders = 60
	unit := time.Duration(s.pick(100, 1000)) * time.Millisecond
	p := newPost(ctx, s, 30*unit)
	defer p.close()
	must.Get(p.mock.Inject(
		mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultStatus, RetryAfter: "1", Every: 2},
		mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultStatus},
	))
	for range orders {
		p.order(ctx, 1)
		time.Sleep(120 * unit / orders)
	}
	p.mock.ClearFaults()
	ended := time.Now()
	p.settled(ctx)
	last := time.Since(ended)
	return append(p.figures(ctx, 4), figure{name: "outage", value: (120 * unit).Seconds(), unit: "s"},
		figure{name: "first pause", value: (30 * unit).Seconds(), unit: "s"},
		figure{name: "all sent after the outage within", value: last.Seconds(), unit: "s"})
}

// newSlowPost returns a shop with a platform that delays each response, so senders are killed during requests.
func newSlowPost(ctx context.Context, s *fixture) *post {
	p := newPost(ctx, s, 100*time.Millisecond)
	must.Get(p.mock.Inject(mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultDelay, Delay: 50 * time.Millisecond}))
	return p
}

// killedSenders kills senders while they send. rescued starts a sender that finds their emails.
func killedSenders(ctx context.Context, s *fixture) []figure {
	kills := s.pick(5, 50)
	p := newSlowPost(ctx, s)
	defer p.close()
	for range kills {
		p.order(ctx, 20)
		p.until(ctx, "emailplatform_sends", p.orders-20+rand.N(15)) //nolint:gosec // not a secret
		restartOne(ctx, p.senders)
	}
	return p.rescued(ctx, kills)
}

// killedQueue kills the database of the queue while the senders send.
func killedQueue(ctx context.Context, s *fixture) []figure {
	kills := s.pick(1, 5)
	p := newSlowPost(ctx, s)
	defer p.close()
	for range kills {
		p.order(ctx, 200)
		p.until(ctx, "emailplatform_sends", p.orders-150)
		must.OK(errors.Join(s.db.Kill(), s.db.Start(ctx)))
		p.pool.Reset() // its connections are lost
	}
	return p.rescued(ctx, kills)
}

// rescued stops all senders and starts a sender that finds the emails in the state "sending".
func (p *post) rescued(ctx context.Context, kills int) []figure {
	for i := range p.senders {
		p.stop(i)
	}
	time.Sleep(released)
	p.senders[0].restart()
	p.settled(ctx)
	return append([]figure{{name: "killed", value: float64(kills)}}, p.figures(ctx, -1)...)
}

// stoppedSenders ends senders by SIGTERM while they send, as a deployment does.
func stoppedSenders(ctx context.Context, s *fixture) []figure {
	stops := s.pick(4, 30)
	p := newSlowPost(ctx, s)
	defer p.close()
	busy := 0
	for n := range stops {
		p.order(ctx, 40)
		p.until(ctx, "emailplatform_sends", p.orders-40+rand.N(20)) //nolint:gosec // not a secret
		busy += p.count(ctx, "emailplatform_sends WHERE state = 'sending'")
		p.stop(n % 3)
		p.senders[n%3].restart()
	}
	p.settled(ctx)
	return append([]figure{
		{name: "ended by SIGTERM", value: float64(stops)},
		{name: "emails in progress at that time", value: float64(busy), bound: atLeast, limit: float64(stops)},
	}, p.figures(ctx, 0)...)
}

// released is the time after which another sender gets the jobs of a killed sender. It exceeds the SendTimeout of 2
// s and the rest of a job.
const released = 20 * time.Second

// sender is a replica that sends the emails of the queue. After SIGTERM, it completes the emails in progress and
// exits.
func sender(with settings) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	pool := must.Get(pgxpool.New(ctx, with.Postgres))
	defer pool.Close()
	silent := slog.New(slog.DiscardHandler)
	c := must.Get(client.New(client.Config{BaseURL: with.Platform, Token: with.Token, Logger: silent}))
	jobs := must.Get(riverjobs.New(pool, c, riverjobs.Options{SendTimeout: 2 * time.Second, Pause: with.Pause, Logger: silent}))
	queue := newSender(pool, jobs)
	must.OK(queue.Start(context.WithoutCancel(ctx)))
	fmt.Println("started")
	<-ctx.Done()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	must.OK(queue.Stop(last))
}

func newSender(pool *pgxpool.Pool, jobs *riverjobs.Jobs) *river.Client[pgx.Tx] {
	workers := river.NewWorkers()
	jobs.Register(workers)
	return must.Get(river.NewClient(riverpgxv5.New(pool), &river.Config{
		Workers:              workers,
		Queues:               map[string]river.QueueConfig{riverjobs.SendQueue: {MaxWorkers: 8}, riverjobs.LookupQueue: {MaxWorkers: 1}},
		JobTimeout:           10 * time.Second, // for jobs that set no timeout
		RescueStuckJobsAfter: released,
		FetchPollInterval:    200 * time.Millisecond,
		TestOnly:             true, // a leader starts to rescue immediately
		Logger:               slog.New(slog.DiscardHandler),
	}))
}
