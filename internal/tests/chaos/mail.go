package main

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
	_ "modernc.org/sqlite"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/riverjobs"
	"example.com/emailplatform/contrib/sqlstore"
	"example.com/emailplatform/internal/tools/must"
	"example.com/emailplatform/mailroom"
	"example.com/emailplatform/mockserver"
)

// The engines of package mailroom that the groups compare.
const (
	onSQLite     = "sqlite"
	onPostgreSQL = "postgres"
	onRiver      = "river"
)

// engine is a store of package mailroom with its database.
type engine struct {
	store mailroom.Store
	pool  *pgxpool.Pool                                      // with River
	tell  func(ctx context.Context, n mailroom.Notice) error // writes a row in the transaction of the notice
}

func openEngine(ctx context.Context, with settings) engine {
	switch with.Store {
	case onRiver:
		pool := must.Get(pgxpool.New(ctx, with.Postgres))
		store := must.Get(riverjobs.NewStore(pool, ""))
		return engine{store, pool, func(ctx context.Context, n mailroom.Notice) error {
			_, err := store.Tx(ctx).Exec(ctx, tell, string(n.Reason), n.Key, n.EmailID)
			return err
		}}
	case onPostgreSQL:
		return sqlEngine(sqlstore.PostgreSQL, openSQL(with))
	}
	return sqlEngine(sqlstore.SQLite, openSQL(with))
}

const tell = "INSERT INTO told (reason, email_key, email_id) VALUES ($1, $2, $3)"

func openSQL(with settings) *sql.DB {
	if with.Store == onSQLite {
		return must.Get(sql.Open("sqlite", "file:"+filepath.ToSlash(with.File)+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)"))
	}
	return must.Get(sql.Open("pgx", with.Postgres))
}

func sqlEngine(d sqlstore.Dialect, db *sql.DB) engine {
	db.SetMaxIdleConns(8)
	store := sqlstore.New(d, db)
	return engine{store: store, tell: func(ctx context.Context, n mailroom.Notice) error {
		_, err := store.Tx(ctx).ExecContext(ctx, tell, string(n.Reason), n.Key, n.EmailID)
		return err
	}}
}

// post is a shop with three replicas that share a store, and a mock server that records the emails of each order.
type post struct {
	env     *environment
	mock    *mockserver.Server
	srv     *httptest.Server
	room    *mailroom.Room // only enqueues
	client  *client.Client // sends the emails without a key
	db      *sql.DB
	senders []*process
	orders  int
}

// newPost starts the replicas with empty tables.
func newPost(ctx context.Context, env *environment, store string, change func(*settings)) *post {
	p := &post{env: env, mock: mockserver.New(mockserver.Config{
		Lookups: mockserver.LookupUnlimited, Logger: slog.New(slog.DiscardHandler),
		RetrySchedule: slices.Repeat([]time.Duration{time.Second}, 600), // a group does not wait for the 10 minutes after five failures
	})}
	p.srv = httptest.NewServer(p.mock)
	with := settings{
		Platform: p.srv.URL, Token: p.mock.Token(), Postgres: env.db.URL, Store: store,
		File: filepath.Join(env.dir, fmt.Sprint(time.Now().UnixNano())), Pause: 100 * time.Millisecond,
	}
	change(&with)
	p.db = openSQL(with)
	createTables(ctx, p.db, with)
	p.client = newClient(with)
	p.room = must.Get(mailroom.New(p.client, openEngine(ctx, with).store, mailroom.Options{OnNotice: func(context.Context, mailroom.Notice) error { return nil }}))
	for _, host := range hosts() {
		p.mock.SetTarget(host, http.HandlerFunc(p.deliver))
	}
	skew := 20 * time.Second // longer than a lease
	if store == onRiver {
		skew = time.Duration(env.pick(2, 20)) * time.Second // jobs wait for it
	}
	var all []settings
	for i := range 3 {
		with.Addr = freeAddr()
		if with.Release > 0 {
			with.Skew = time.Duration(i-1) * skew // the clocks of two replicas are wrong
		}
		all = append(all, with)
	}
	p.senders = env.spawn("sender", all...)
	return p
}

func createTables(ctx context.Context, db *sql.DB, with settings) {
	if with.Store == onSQLite {
		must.OK(sqlstore.New(sqlstore.SQLite, db).Create(ctx))
		must.Get(db.ExecContext(ctx, "CREATE TABLE told (id INTEGER PRIMARY KEY AUTOINCREMENT, reason text, email_key text, email_id text)"))
		return
	}
	if with.Store == onRiver {
		pool := must.Get(pgxpool.New(ctx, with.Postgres))
		defer pool.Close()
		must.Get(must.Get(rivermigrate.New(riverpgxv5.New(pool), nil)).Migrate(ctx, rivermigrate.DirectionUp, nil))
		must.Get(pool.Exec(ctx, "TRUNCATE river_job, river_leader"))
	}
	must.OK(sqlstore.New(sqlstore.PostgreSQL, db).Create(ctx))
	must.Get(db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS told (id bigserial PRIMARY KEY, reason text, email_key text, email_id text)"))
	must.Get(db.ExecContext(ctx, "TRUNCATE told, emailplatform_items"))
}

func newClient(with settings) *client.Client {
	return must.Get(client.New(client.Config{
		BaseURL: with.Platform, Token: with.Token, Logger: slog.New(slog.DiscardHandler), LookupLimiter: client.NoLookupLimit{},
		Retry: client.RetryConfig{MaxAttempts: 1},
	}))
}

func (p *post) close() {
	p.env.end()
	p.srv.Close()
	p.mock.Close()
	_ = p.db.Close()
}

// deliver passes a delivery to a random replica that runs.
func (p *post) deliver(w http.ResponseWriter, r *http.Request) {
	body := must.Get(io.ReadAll(r.Body))
	for _, i := range rand.Perm(len(p.senders)) { //nolint:gosec // not a secret
		req := must.Get(http.NewRequestWithContext(r.Context(), r.Method, "http://"+p.senders[i].with.Addr+"/hook", bytes.NewReader(body)))
		req.Header = r.Header.Clone()
		if resp, err := http.DefaultClient.Do(req); err == nil { //nolint:gosec // the address of a replica
			_ = resp.Body.Close()
			w.WriteHeader(resp.StatusCode)
			return
		}
	}
	w.WriteHeader(http.StatusServiceUnavailable)
}

// stop ends a replica by SIGTERM and waits for it.
func (p *post) stop(i int) {
	must.OK(errors.Join(p.senders[i].cmd.Process.Signal(syscall.SIGTERM), p.senders[i].cmd.Wait()))
}

// order enqueues the emails about n further orders, each email two times. Each third email bounces. With each fifth order, another
// program sends an email to the platform, which bounces and has no key.
func (p *post) order(ctx context.Context, n int) {
	for range n {
		p.orders++
		to := fmt.Sprintf("buyer+%d@example.org", p.orders)
		if p.orders%3 == 0 {
			to = fmt.Sprintf("bounce+hb+%d@mock.test", p.orders)
		}
		for range 2 {
			for p.room.Enqueue(ctx, fmt.Sprint(p.orders), confirmation(to, p.orders)) != nil { // the database may be down
				time.Sleep(20 * time.Millisecond)
			}
		}
		if p.orders%5 == 0 {
			news := confirmation(fmt.Sprintf("bounce+hb+news%d@mock.test", p.orders), p.orders)
			news.Content.Subject = withoutKey
			_, _ = p.client.Emails.Send(ctx, news) // it may fail, with a fault or in an outage
		}
	}
}

// withoutKey is the subject of emails that no Room sends.
const withoutKey = "News"

// emails returns the emails of the orders and their bounces, and the bounces of emails without a key.
func (p *post) emails() (sent []mockserver.Message, bounced, bouncedWithoutKey int) {
	for _, m := range p.mock.Outbox() {
		bounce := 0
		if m.Status == "bounced" {
			bounce = 1
		}
		if m.Subject == withoutKey {
			bouncedWithoutKey += bounce
			continue
		}
		sent = append(sent, m)
		bounced += bounce
	}
	return sent, bounced, bouncedWithoutKey
}

func confirmation(to string, order int) client.EmailSubmission {
	return client.EmailSubmission{
		To: to, Sender: client.Sender{Name: "Shop", Email: "orders@shop.example"},
		Content: client.EmailContent{Subject: fmt.Sprint("Your order ", order), Text: "Thank you.", Type: client.EmailTypeTransactional},
	}
}

// items are the conditions for emails in some states.
const (
	began   = "emailplatform_items WHERE kind = 'mail' AND value NOT LIKE '{\"state\":\"queued\"%'"
	sending = "emailplatform_items WHERE kind = 'mail' AND value LIKE '{\"state\":\"sending\"%'"
)

func (p *post) count(ctx context.Context, what string) (n int) {
	if err := p.db.QueryRowContext(ctx, "SELECT count(*) FROM "+what).Scan(&n); err != nil {
		must.Failf("%s: %w", what, err)
	}
	return n
}

// until waits until the table has at least want rows.
func (p *post) until(ctx context.Context, what string, want int) {
	end := time.Now().Add(5 * time.Minute)
	for n := p.count(ctx, what); n < want; n = p.count(ctx, what) {
		if time.Sleep(20 * time.Millisecond); time.Now().After(end) {
			must.Failf("%s: %d of %d after 5 minutes", what, n, want)
		}
	}
}

// settled waits until each key has an outcome. An event then resolves each unknown outcome: settled makes the
// recipients open their emails, and waits until the shop knows each email and each bounce.
func (p *post) settled(ctx context.Context) {
	p.until(ctx, "(SELECT DISTINCT email_key FROM told WHERE reason IN ('sent', 'unknown')) AS keys", p.orders)
	p.mock.ClearFaults()
	sent, bounced, bouncedWithoutKey := p.emails()
	for _, m := range sent {
		if m.Status != "bounced" {
			must.OK(p.mock.Open(m.ID))
		}
	}
	p.until(ctx, "told WHERE reason = 'sent'", len(sent))
	p.until(ctx, "told WHERE reason = 'hard_bounce'", bounced+bouncedWithoutKey)
	time.Sleep(time.Second) // for notices that are told again
}

// figures compares what the replicas have written with the emails that the platform sent. mostUnknown limits the number of
// outcomes that were unknown at first; a negative number sets no limit.
func (p *post) figures(ctx context.Context, mostUnknown float64) []figure {
	emails := map[string]int{}
	sent, bounced, bouncedWithoutKey := p.emails()
	for _, m := range sent {
		emails[m.Subject]++
	}
	twice := 0
	for _, n := range emails {
		if n > 1 {
			twice++
		}
	}
	told := func(where string) float64 { return float64(p.count(ctx, "told WHERE "+where)) }
	unknown := figure{name: "unknown at first", value: told("reason = 'unknown'")}
	if mostUnknown >= 0 {
		unknown.bound, unknown.limit = atMost, mostUnknown
	}
	return []figure{
		{name: "orders", value: float64(p.orders)},
		{name: "emails", value: float64(len(emails))},
		unknown,
		{name: "sent two times", value: float64(twice), bound: equal},
		{
			name:  "orders without an outcome",
			value: float64(p.orders - p.count(ctx, "(SELECT DISTINCT email_key FROM told WHERE reason IN ('sent', 'unknown')) AS keys")),
			bound: equal,
		},
		{name: "told as sent", value: told("reason = 'sent'"), bound: equal, limit: float64(len(emails))},
		{name: "told as bounced", value: told("reason = 'hard_bounce' AND email_key <> ''"), bound: equal, limit: float64(bounced)},
		{name: "bounces without a key", value: float64(bouncedWithoutKey)},
		{name: "told as bounced without a key", value: told("reason = 'hard_bounce' AND email_key = ''"), bound: equal, limit: float64(bouncedWithoutKey)},
		{name: "notices told more than once", value: float64(p.count(ctx, `(SELECT 1 FROM told
			GROUP BY reason, email_key, CASE WHEN email_key = '' THEN email_id END HAVING count(*) > 1) AS again`)), bound: equal},
		{name: "notices before their outcome", value: told(`reason = 'hard_bounce' AND email_key <> '' AND id < (SELECT min(id) FROM told AS first
			WHERE first.email_key = told.email_key AND reason <> 'hard_bounce')`), bound: equal},
	}
}

// outage simulates 503 responses for two minutes. Every second response has a Retry-After header. Each Room has the
// default pause, 30 s, and the shop gets an order every 2 s. The short form divides all times by 10.
func outage(store string) func(context.Context, *environment) []figure {
	return func(ctx context.Context, env *environment) []figure {
		if env.short && store != onRiver {
			return nil
		}
		const orders = 60
		unit := time.Duration(env.pick(100, 1000)) * time.Millisecond
		p := newPost(ctx, env, store, func(with *settings) { with.Pause = 30 * unit })
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
		p.settled(ctx)
		return append(p.figures(ctx, 4), figure{name: "outage", value: (120 * unit).Seconds(), unit: "s"},
			figure{name: "first pause", value: (30 * unit).Seconds(), unit: "s"})
	}
}

// killedSenders kills replicas while they send. Two of them have wrong clocks. The platform loses requests, responses
// and lookups, and duplicates, reorders and rejects deliveries. Halfway, another release with another URL and other
// events replaces all replicas, and later the first release replaces them again.
func killedSenders(store string) func(context.Context, *environment) []figure {
	return func(ctx context.Context, env *environment) []figure {
		kills := env.pick(6, 50)
		if env.short && store == onRiver {
			kills = 3 // because each new leader takes up to 20 s
		}
		p := newPost(ctx, env, store, func(with *settings) { with.Release = 1 })
		defer p.close()
		p.fail()
		for i := range kills {
			switch i {
			case kills / 3:
				p.release(2)
			case 2 * kills / 3:
				p.release(1)
			}
			p.order(ctx, 15)
			p.until(ctx, began, p.orders-15+rand.N(12)) //nolint:gosec // not a secret
			restartOne(ctx, p.senders)
		}
		return p.rescued(ctx, kills)
	}
}

func (p *post) fail() {
	for operation, rate := range map[string]float64{"submitEmail": 0.02, "getEmail": 0.1} {
		must.Get(p.mock.Inject(
			mockserver.Fault{Operation: operation, Action: mockserver.FaultReset, AfterProcessing: true, Probability: rate},
			mockserver.Fault{Operation: operation, Action: mockserver.FaultReset, Probability: rate},
			mockserver.Fault{Operation: operation, Action: mockserver.FaultStatus, Probability: rate},
			mockserver.Fault{Operation: operation, Action: mockserver.FaultTruncate, Probability: rate},
			mockserver.Fault{Operation: operation, Action: mockserver.FaultDelay, Delay: 50 * time.Millisecond}))
	}
	for _, action := range []mockserver.FaultAction{mockserver.FaultReorder, mockserver.FaultDuplicate, mockserver.FaultStatus} {
		must.Get(p.mock.Inject(mockserver.Fault{Event: "*", Action: action, Probability: 0.2}))
	}
}

// release replaces all replicas by another release.
func (p *post) release(n int) {
	for i := range p.senders {
		p.stop(i)
		p.senders[i].with.Release = n
		p.senders[i].restart()
	}
}

// killedQueue kills the database while the replicas send.
func killedQueue(store string) func(context.Context, *environment) []figure {
	return func(ctx context.Context, env *environment) []figure {
		if env.short && store != onRiver {
			return nil
		}
		kills := env.pick(1, 5)
		p := newPost(ctx, env, store, func(*settings) {})
		defer p.close()
		must.Get(p.mock.Inject(mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultDelay, Delay: 50 * time.Millisecond}))
		for range kills {
			p.order(ctx, 100)
			p.until(ctx, began, p.orders-70)
			must.OK(errors.Join(env.db.Kill(), env.db.Start(ctx)))
		}
		return p.rescued(ctx, kills)
	}
}

// rescued stops all replicas, and starts them again when the leases of the killed replicas have expired.
func (p *post) rescued(ctx context.Context, kills int) []figure {
	for i := range p.senders {
		p.stop(i)
	}
	p.expire(ctx)
	for i := range p.senders {
		p.senders[i].restart()
	}
	p.settled(ctx)
	return append([]figure{{name: "killed", value: float64(kills)}}, p.figures(ctx, -1)...)
}

// expire changes the database as if minutes had passed: the leases of killed replicas have expired.
func (p *post) expire(ctx context.Context) {
	must.Get(p.db.ExecContext(ctx, "UPDATE emailplatform_items SET due = 1 WHERE due IS NOT NULL AND kind IN ('mail', 'lookup')"))
	if p.senders[0].with.Store == onRiver {
		must.Get(p.db.ExecContext(ctx, "UPDATE river_job SET attempted_at = attempted_at - interval '1 hour' WHERE state = 'running'"))
		must.Get(p.db.ExecContext(ctx, "UPDATE river_job SET scheduled_at = now() WHERE state = 'scheduled'"))
	}
}

// stoppedSenders ends replicas by SIGTERM while they send, as a deployment does.
func stoppedSenders(store string) func(context.Context, *environment) []figure {
	return func(ctx context.Context, env *environment) []figure {
		if env.short && store != onRiver {
			return nil
		}
		stops := env.pick(4, 30)
		p := newPost(ctx, env, store, func(*settings) {})
		defer p.close()
		must.Get(p.mock.Inject(mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultDelay, Delay: 50 * time.Millisecond}))
		busy := 0
		for n := range stops {
			p.order(ctx, 40)
			p.until(ctx, began, p.orders-40+rand.N(20)) //nolint:gosec // not a secret
			busy += p.count(ctx, sending)
			p.stop(n % 3)
			p.senders[n%3].restart()
		}
		p.settled(ctx)
		return append([]figure{
			{name: "ended by SIGTERM", value: float64(stops)},
			{name: "emails in progress at that time", value: float64(busy)},
		}, p.figures(ctx, 0)...)
	}
}

// mailSpeed measures the emails per second of one replica. Each email bounces and is looked up, and has two notices.
func mailSpeed(store string) func(context.Context, *environment) []figure {
	return func(ctx context.Context, env *environment) []figure {
		if env.short {
			return nil
		}
		sent, all := 0.0, 0.0
		for range 2 {
			a, b := sendAll(ctx, env, store, 1000)
			sent, all = max(sent, a), max(all, b)
		}
		return []figure{{name: "emails sent", value: sent, unit: "/s"}, {name: "emails with bounce, lookup and notices", value: all, unit: "/s"}}
	}
}

// sendAll returns the rates of sent emails, and of emails with both notices.
func sendAll(ctx context.Context, env *environment, store string, emails int) (sent, all float64) {
	p := newPost(ctx, env, store, func(*settings) {})
	defer p.close()
	for i := range p.senders[1:] {
		p.stop(i + 1)
	}
	p.stop(0)
	for i := range emails {
		must.OK(p.room.Enqueue(ctx, fmt.Sprint(i), confirmation(fmt.Sprintf("bounce+hb+%d@mock.test", i), i)))
	}
	p.senders[0].restart()
	start := time.Now()
	p.until(ctx, "emailplatform_items WHERE kind = 'mail' AND value LIKE '{\"state\":\"sent\"%'", emails)
	sent = float64(emails) / time.Since(start).Seconds()
	p.until(ctx, "told", 2*emails)
	return sent, float64(emails) / time.Since(start).Seconds()
}

// released is the time after which River gives the jobs of a killed replica to another.
const released = 20 * time.Second

// hosts returns the hosts of the webhooks of two releases.
func hosts() []string { return []string{"app.test", "new.test"} }

// sender is a replica that sends emails and receives deliveries. After SIGTERM, it completes the emails in progress and
// exits.
func sender(with settings) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	e := openEngine(ctx, with)
	names := mailroom.DefaultEvents()
	room := must.Get(mailroom.New(newClient(with), skewed{e.store, with.Skew}, mailroom.Options{
		URL: "http://" + hosts()[max(with.Release-1, 0)] + "/hook", Events: names[:len(names)-min(with.Release, 1)],
		SendTimeout: 2 * time.Second, Pause: with.Pause, Workers: 8, External: with.Store == onRiver,
		OnNotice: e.tell, Logger: slog.New(slog.DiscardHandler),
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

// skewed is the store of a process whose clock is wrong: the times that it stores and reads differ from the times of the
// other processes.
type skewed struct {
	mailroom.Store
	by time.Duration
}

func (s skewed) Update(ctx context.Context, fn func(ctx context.Context, tx mailroom.Tx) error) error {
	return s.Store.Update(ctx, func(ctx context.Context, tx mailroom.Tx) error { return fn(ctx, skewedTx{tx, s.by}) })
}

type skewedTx struct {
	mailroom.Tx
	by time.Duration
}

func (skewedTx) move(by time.Duration, items ...mailroom.Item) []mailroom.Item {
	for i := range items {
		if !items[i].Due.IsZero() {
			items[i].Due = items[i].Due.Add(by)
		}
	}
	return items
}

func (tx skewedTx) Get(ctx context.Context, kind, key string) (mailroom.Item, bool, error) {
	it, found, err := tx.Tx.Get(ctx, kind, key)
	return tx.move(-tx.by, it)[0], found, err
}

func (tx skewedTx) Due(ctx context.Context, kind string, now time.Time, limit int) ([]mailroom.Item, error) {
	items, err := tx.Tx.Due(ctx, kind, now.Add(tx.by), limit)
	return tx.move(-tx.by, items...), err
}

func (tx skewedTx) Insert(ctx context.Context, it mailroom.Item) (bool, error) {
	return tx.Tx.Insert(ctx, tx.move(tx.by, it)[0])
}

func (tx skewedTx) Put(ctx context.Context, it mailroom.Item) error {
	return tx.Tx.Put(ctx, tx.move(tx.by, it)[0])
}
