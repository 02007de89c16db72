package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/riverjobs"
	"example.com/emailplatform/mockserver"
)

// post is a shop whose three senders share a queue, and a platform that counts the
// emails about each order.
type post struct {
	mock    *mockserver.Server
	srv     *httptest.Server
	pool    *pgxpool.Pool
	queue   *river.Client[pgx.Tx]
	args    []string
	senders []*process
	orders  int
}

// newPost starts the senders. Its tables are empty.
func newPost(ctx context.Context, s *stage, pause time.Duration) (p *post, err error) {
	p = &post{mock: mockserver.New(mockserver.Config{}), senders: make([]*process, 3)}
	p.srv = httptest.NewServer(p.mock)
	p.args = []string{"sender", "-platform", p.srv.URL, "-token", p.mock.Token(), "-postgres", s.db.URL(), "-pause", pause.String()}
	if p.pool, err = pgxpool.New(ctx, s.db.URL()); err != nil {
		return p, err
	}
	migrator, err := rivermigrate.New(riverpgxv5.New(p.pool), nil)
	if err != nil {
		return p, err
	}
	if _, err := migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return p, err
	}
	if _, err := p.pool.Exec(ctx, riverjobs.Schema+"TRUNCATE emailplatform_sends, emailplatform_pauses, river_job, river_leader"); err != nil {
		return p, err
	}
	if p.queue, err = river.NewClient(riverpgxv5.New(p.pool), &river.Config{}); err != nil {
		return p, err
	}
	for i := range p.senders {
		if err := p.start(i); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (p *post) close() {
	for i := range p.senders {
		p.kill(i)
	}
	p.srv.Close()
	p.mock.Close()
	if p.pool != nil {
		p.pool.Close()
	}
}

func (p *post) start(i int) (err error) {
	if p.senders[i], err = spawn(p.args...); err != nil {
		return err
	}
	_, err = p.senders[i].line()
	return err
}

func (p *post) kill(i int) {
	if p.senders[i] != nil {
		p.senders[i].kill()
	}
}

// stop ends a sender by SIGTERM and waits for it.
func (p *post) stop(i int) error {
	return errors.Join(p.senders[i].cmd.Process.Signal(syscall.SIGTERM), p.senders[i].cmd.Wait())
}

// order inserts the emails about n further orders.
func (p *post) order(ctx context.Context, n int) error {
	params := make([]river.InsertManyParams, n)
	for i := range params {
		p.orders++
		params[i].Args = riverjobs.SendArgs{Key: fmt.Sprint(p.orders), Submission: client.EmailSubmission{
			To: fmt.Sprintf("buyer+%d@example.org", p.orders), Sender: client.Sender{Name: "Shop", Email: "orders@shop.example"},
			Content: client.EmailContent{Subject: fmt.Sprint("Your order ", p.orders), Text: "Thank you.", Type: client.EmailTypeTransactional},
		}}
	}
	_, err := p.queue.InsertMany(ctx, params)
	return err
}

func (p *post) count(ctx context.Context, what string) (n int, err error) {
	err = p.pool.QueryRow(ctx, "SELECT count(*) FROM "+what).Scan(&n)
	return n, err
}

// until waits until that many rows are there.
func (p *post) until(ctx context.Context, what string, want int) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	for {
		n, err := p.count(ctx, what)
		if err != nil {
			return fmt.Errorf("%d of %d %s: %w", n, want, what, err)
		}
		if n >= want {
			return nil
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// settled waits until each email is sent or unknown.
func (p *post) settled(ctx context.Context) error {
	return p.until(ctx, "emailplatform_sends WHERE state <> 'sending'", p.orders)
}

// figures compare what the records of the shop say with the emails that the
// platform sent.
func (p *post) figures(ctx context.Context) ([]figure, error) {
	emails := map[string]int{}
	for _, m := range p.mock.Outbox() {
		emails[m.To]++
	}
	rows, err := p.pool.Query(ctx, `SELECT args->>'key', coalesce(s.state, '') FROM river_job LEFT JOIN emailplatform_sends s ON s.key = args->>'key'
		WHERE kind = 'emailplatform_send'`)
	if err != nil {
		return nil, err
	}
	var key, state string
	counts := map[string]float64{}
	_, err = pgx.ForEachRow(rows, []any{&key, &state}, func() error {
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
	})
	return []figure{
		{name: "orders", value: counts["jobs"], bound: exactly, limit: float64(p.orders)},
		{name: "sent", value: counts["sent"], bound: exactly, limit: float64(p.orders) - counts["unknown"]},
		{name: "reported as unknown", value: counts["unknown"]},
		{name: "sent twice", value: counts["twice"], bound: exactly},
		{name: "neither sent nor reported", value: counts["missing"], bound: exactly},
	}, err
}

// limit sets how many unknown outcomes there may be.
func limit(figures []figure, unknown float64) []figure {
	for i := range figures {
		if figures[i].name == "reported as unknown" {
			figures[i].bound, figures[i].limit = atMost, unknown
			if unknown == 0 {
				figures[i].bound = exactly
			}
		}
	}
	return figures
}

// outage is 503 without Retry-After, for two minutes with the default pause of 30 s. The
// short form scales both to a tenth. An order comes every 2 s, or 200 ms.
func outage(ctx context.Context, s *stage) ([]figure, error) {
	const orders = 60
	unit := time.Duration(s.pick(100, 1000)) * time.Millisecond
	p, err := newPost(ctx, s, 30*unit)
	defer p.close()
	if err != nil {
		return nil, err
	}
	if _, err := p.mock.Inject(mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultStatus}); err != nil {
		return nil, err
	}
	for range orders {
		if err := p.order(ctx, 1); err != nil {
			return nil, err
		}
		time.Sleep(120 * unit / orders)
	}
	p.mock.ClearFaults()
	ended := time.Now()
	if err := p.settled(ctx); err != nil {
		return nil, err
	}
	last := time.Since(ended)
	figures, err := p.figures(ctx)
	return append(limit(figures, 4), figure{name: "outage", value: (120 * unit).Seconds(), unit: "s"},
		figure{name: "first pause", value: (30 * unit).Seconds(), unit: "s"},
		figure{name: "all sent after the outage within", value: last.Seconds(), unit: "s"}), err
}

// killedSenders kills senders while they send, and one that is not killed finds
// what they left.
func killedSenders(ctx context.Context, s *stage) ([]figure, error) {
	kills := s.pick(5, 50)
	p, err := newPost(ctx, s, 100*time.Millisecond)
	defer p.close()
	if err != nil {
		return nil, err
	}
	if err := p.slow(); err != nil {
		return nil, err
	}
	for range kills {
		if err := p.order(ctx, 20); err != nil {
			return nil, err
		}
		if err := p.until(ctx, "emailplatform_sends", p.orders-20+rand.N(15)); err != nil { //nolint:gosec // not a secret
			return nil, err
		}
		i := rand.N(len(p.senders)) //nolint:gosec // as above
		p.kill(i)
		if err := p.start(i); err != nil {
			return nil, err
		}
	}
	figures, err := p.rescued(ctx)
	return append([]figure{{name: "killed", value: float64(kills)}}, figures...), err
}

// killedQueue kills the database of the queue while the senders send.
func killedQueue(ctx context.Context, s *stage) ([]figure, error) {
	kills := s.pick(1, 5)
	p, err := newPost(ctx, s, 100*time.Millisecond)
	defer p.close()
	if err != nil {
		return nil, err
	}
	if err := p.slow(); err != nil {
		return nil, err
	}
	for range kills {
		if err := p.order(ctx, 200); err != nil {
			return nil, err
		}
		if err := p.until(ctx, "emailplatform_sends", p.orders-150); err != nil {
			return nil, err
		}
		if err := errors.Join(s.db.Kill(), s.db.Start(ctx)); err != nil {
			return nil, err
		}
		p.pool.Reset() // its connections are lost
	}
	figures, err := p.rescued(ctx)
	return append([]figure{{name: "killed", value: float64(kills)}}, figures...), err
}

// rescued ends all senders, and starts one that finds what was left by killed ones.
func (p *post) rescued(ctx context.Context) ([]figure, error) {
	for i := range p.senders {
		if err := p.stop(i); err != nil {
			return nil, err
		}
	}
	time.Sleep(released)
	if err := p.start(0); err != nil {
		return nil, err
	}
	if err := p.settled(ctx); err != nil {
		return nil, err
	}
	return p.figures(ctx)
}

// stoppedSenders ends senders by SIGTERM while they send, as a deployment does.
func stoppedSenders(ctx context.Context, s *stage) ([]figure, error) {
	stops := s.pick(4, 30)
	p, err := newPost(ctx, s, 100*time.Millisecond)
	defer p.close()
	if err != nil {
		return nil, err
	}
	if err := p.slow(); err != nil {
		return nil, err
	}
	busy := 0
	for n := range stops {
		if err := p.order(ctx, 40); err != nil {
			return nil, err
		}
		if err := p.until(ctx, "emailplatform_sends", p.orders-40+rand.N(20)); err != nil { //nolint:gosec // not a secret
			return nil, err
		}
		sending, err := p.count(ctx, "emailplatform_sends WHERE state = 'sending'")
		if err := errors.Join(err, p.stop(n%3)); err != nil {
			return nil, err
		}
		busy += sending
		if err := p.start(n % 3); err != nil {
			return nil, err
		}
	}
	if err := p.settled(ctx); err != nil {
		return nil, err
	}
	figures, err := p.figures(ctx)
	return append([]figure{
		{name: "ended by SIGTERM", value: float64(stops)},
		{name: "emails in progress at that time", value: float64(busy), bound: atLeast, limit: float64(stops)},
	}, limit(figures, 0)...), err
}

// slow gives each request a while to be killed in.
func (p *post) slow() error {
	_, err := p.mock.Inject(mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultDelay, Delay: 50 * time.Millisecond})
	return err
}
