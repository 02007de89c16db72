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
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/internal/tools/must"
	"example.com/emailplatform/mailroom"
	"example.com/emailplatform/mockserver"
)

// shop is a shop with three replicas that share a store, and a mock server that records the emails of each order.
type shop struct {
	env     *environment
	mock    *mockserver.Server
	srv     *httptest.Server
	room    *mailroom.Room // only enqueues
	client  *client.Client // sends the emails without a key
	db      *sql.DB
	senders []*process
	orders  int
}

// newShop starts the replicas with empty tables.
func newShop(ctx context.Context, env *environment, store string, change func(*settings)) *shop {
	s := &shop{env: env, mock: mockserver.New(mockserver.Config{
		LookupLimit: mockserver.LookupUnlimited, Logger: slog.New(slog.DiscardHandler),
		RetrySchedule: slices.Repeat([]time.Duration{time.Second}, 600), // a group does not wait for the 10 minutes after five failures
	})}
	s.srv = httptest.NewServer(s.mock)
	with := settings{
		Platform: s.srv.URL, Token: s.mock.Token(), Postgres: env.db.URL, Store: store,
		File: filepath.Join(env.dir, fmt.Sprint(time.Now().UnixNano())), Pause: 100 * time.Millisecond,
	}
	change(&with)
	s.db = openSQL(with)
	createTables(ctx, s.db, with)
	s.client = newClient(with)
	s.room = must.Get(mailroom.New(s.client, openEngine(ctx, with).store, mailroom.Options{OnNotice: func(context.Context, mailroom.Notice) error { return nil }}))
	for _, host := range hosts() {
		s.mock.SetTarget(host, http.HandlerFunc(s.deliver))
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
	s.senders = env.spawn("sender", all...)
	return s
}

func (s *shop) close() {
	s.env.end()
	s.srv.Close()
	s.mock.Close()
	_ = s.db.Close()
}

// order enqueues the emails about n further orders, each email two times. Each third email bounces. With each fifth order, another
// program sends an email without a key, which also bounces.
func (s *shop) order(ctx context.Context, n int) {
	for range n {
		s.orders++
		to := fmt.Sprintf("buyer+%d@example.org", s.orders)
		if s.orders%3 == 0 {
			to = fmt.Sprintf("bounce+hb+%d@mock.test", s.orders)
		}
		for range 2 {
			for s.room.Enqueue(ctx, fmt.Sprint(s.orders), confirmation(to, s.orders)) != nil { // the database may be down
				time.Sleep(20 * time.Millisecond)
			}
		}
		if s.orders%5 == 0 {
			news := confirmation(fmt.Sprintf("bounce+hb+news%d@mock.test", s.orders), s.orders)
			news.Content.Subject = withoutKey
			_, _ = s.client.Emails.Send(ctx, news) // it may fail, with a fault or in an outage
		}
	}
}

// withoutKey is the subject of emails that no Room sends.
const withoutKey = "News"

func confirmation(to string, order int) client.EmailSubmission {
	return client.EmailSubmission{
		To: to, Sender: client.Sender{Name: "Shop", Email: "orders@shop.example"},
		Content: client.EmailContent{Subject: fmt.Sprint("Your order ", order), Text: "Thank you.", Type: client.EmailTypeTransactional},
	}
}

func newClient(with settings) *client.Client {
	return must.Get(client.New(client.Config{
		BaseURL: with.Platform, Token: with.Token, Logger: slog.New(slog.DiscardHandler), LookupLimiter: client.NoLookupLimit{},
		Retry: client.RetryConfig{MaxAttempts: 1},
	}))
}

// deliver passes a delivery to a random replica that runs.
func (s *shop) deliver(w http.ResponseWriter, r *http.Request) {
	body := must.Get(io.ReadAll(r.Body))
	for _, i := range rand.Perm(len(s.senders)) { //nolint:gosec // not a secret
		req := must.Get(http.NewRequestWithContext(r.Context(), r.Method, "http://"+s.senders[i].with.Addr+"/hook", bytes.NewReader(body)))
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
func (s *shop) stop(i int) {
	must.OK(errors.Join(s.senders[i].cmd.Process.Signal(syscall.SIGTERM), s.senders[i].cmd.Wait()))
}

// release replaces each replica with a replica of the release n.
func (s *shop) release(n int) {
	for i := range s.senders {
		s.stop(i)
		s.senders[i].with.Release = n
		s.senders[i].restart()
	}
}

func (s *shop) fail() {
	for operation, rate := range map[string]float64{"submitEmail": 0.02, "getEmail": 0.1} {
		must.Get(s.mock.Inject(
			mockserver.Fault{Operation: operation, Action: mockserver.FaultReset, AfterProcessing: true, Probability: rate},
			mockserver.Fault{Operation: operation, Action: mockserver.FaultReset, Probability: rate},
			mockserver.Fault{Operation: operation, Action: mockserver.FaultStatus, Probability: rate},
			mockserver.Fault{Operation: operation, Action: mockserver.FaultTruncate, Probability: rate},
			mockserver.Fault{Operation: operation, Action: mockserver.FaultDelay, Delay: 50 * time.Millisecond}))
	}
	for _, action := range []mockserver.FaultAction{mockserver.FaultReorder, mockserver.FaultDuplicate, mockserver.FaultStatus} {
		must.Get(s.mock.Inject(mockserver.Fault{Event: "*", Action: action, Probability: 0.2}))
	}
}

// rescued stops all replicas, and starts them again when the leases of the killed replicas have expired.
func (s *shop) rescued(ctx context.Context, kills int) []figure {
	for i := range s.senders {
		s.stop(i)
	}
	s.expire(ctx)
	for i := range s.senders {
		s.senders[i].restart()
	}
	s.settled(ctx)
	return append([]figure{{name: "killed", value: float64(kills)}}, s.figures(ctx, -1)...)
}

// expire changes the database as if minutes had passed: the leases of killed replicas have expired.
func (s *shop) expire(ctx context.Context) {
	must.Get(s.db.ExecContext(ctx, "UPDATE emailplatform_items SET due = 1 WHERE due IS NOT NULL AND kind IN ('mail', 'lookup')"))
	if s.senders[0].with.Store == onRiver {
		must.Get(s.db.ExecContext(ctx, "UPDATE river_job SET attempted_at = attempted_at - interval '1 hour' WHERE state = 'running'"))
		must.Get(s.db.ExecContext(ctx, "UPDATE river_job SET scheduled_at = now() WHERE state = 'scheduled'"))
	}
}

// emails returns the emails of the orders, the number of their bounces, and the number of bounces of emails without a
// key.
func (s *shop) emails() (sent []mockserver.Message, bounced, bouncedWithoutKey int) {
	for _, m := range s.mock.Outbox() {
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

// The items of emails whose sending began, and of those that are being sent.
const (
	began   = "emailplatform_items WHERE kind = 'mail' AND value NOT LIKE '{\"state\":\"queued\"%'"
	sending = "emailplatform_items WHERE kind = 'mail' AND value LIKE '{\"state\":\"sending\"%'"
)

func (s *shop) count(ctx context.Context, what string) (n int) {
	if err := s.db.QueryRowContext(ctx, "SELECT count(*) FROM "+what).Scan(&n); err != nil {
		must.Failf("%s: %w", what, err)
	}
	return n
}

// until waits until the table has at least want rows.
func (s *shop) until(ctx context.Context, what string, want int) {
	end := time.Now().Add(5 * time.Minute)
	for n := s.count(ctx, what); n < want; n = s.count(ctx, what) {
		if time.Sleep(20 * time.Millisecond); time.Now().After(end) {
			must.Failf("%s: %d of %d after 5 minutes", what, n, want)
		}
	}
}

// settled waits until each key has an outcome, which may be "unknown". It then makes the recipients open their emails,
// because the events of these openings resolve the unknown outcomes. Then it waits until the shop knows each email and
// each bounce. The platform may send another email in the meantime, because it can still process a request of a killed
// replica. In this case, settled repeats all steps except the first.
func (s *shop) settled(ctx context.Context) {
	s.until(ctx, "(SELECT DISTINCT email_key FROM notices WHERE reason IN ('sent', 'unknown')) AS keys", s.orders)
	s.mock.ClearFaults()
	for known := -1; ; {
		sent, bounced, bouncedWithoutKey := s.emails()
		if len(sent) == known {
			return
		}
		known = len(sent)
		for _, m := range sent {
			if m.Status != "bounced" {
				must.OK(s.mock.Open(m.ID))
			}
		}
		s.until(ctx, "notices WHERE reason = 'sent'", known)
		s.until(ctx, "notices WHERE reason = 'hard_bounce'", bounced+bouncedWithoutKey)
		time.Sleep(time.Second) // for notices that a Room repeats
	}
}

// figures compares what the replicas have written with the emails that the platform sent. mostUnknown limits the number of
// outcomes that were unknown at first; a negative number sets no limit.
func (s *shop) figures(ctx context.Context, mostUnknown float64) []figure {
	emails := map[string]int{}
	sent, bounced, bouncedWithoutKey := s.emails()
	for _, m := range sent {
		emails[m.Subject]++
	}
	twice := 0
	for _, n := range emails {
		if n > 1 {
			twice++
		}
	}
	notices := func(where string) float64 { return float64(s.count(ctx, "notices WHERE "+where)) }
	unknown := figure{name: "unknown at first", value: notices("reason = 'unknown'")}
	if mostUnknown >= 0 {
		unknown.bound, unknown.limit = atMost, mostUnknown
	}
	return []figure{
		{name: "orders", value: float64(s.orders)},
		{name: "emails", value: float64(len(emails))},
		unknown,
		{name: "sent two times", value: float64(twice), bound: equal},
		{
			name:  "orders without an outcome",
			value: float64(s.orders - s.count(ctx, "(SELECT DISTINCT email_key FROM notices WHERE reason IN ('sent', 'unknown')) AS keys")),
			bound: equal,
		},
		{name: "notices of sent emails", value: notices("reason = 'sent'"), bound: equal, limit: float64(len(emails))},
		{name: "notices of bounces", value: notices("reason = 'hard_bounce' AND email_key <> ''"), bound: equal, limit: float64(bounced)},
		{name: "bounces without a key", value: float64(bouncedWithoutKey)},
		{name: "notices of bounces without a key", value: notices("reason = 'hard_bounce' AND email_key = ''"), bound: equal, limit: float64(bouncedWithoutKey)},
		{name: "repeated notices", value: float64(s.count(ctx, `(SELECT 1 FROM notices
			GROUP BY reason, email_key, CASE WHEN email_key = '' THEN email_id END HAVING count(*) > 1) AS again`)), bound: equal},
		{name: "notices before their outcome", value: notices(`reason = 'hard_bounce' AND email_key <> '' AND id < (SELECT min(id) FROM notices AS first
			WHERE first.email_key = notices.email_key AND reason <> 'hard_bounce')`), bound: equal},
	}
}
