package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/internal/tests/chaos/servers"
	"example.com/emailplatform/internal/tools/must"
	"example.com/emailplatform/webhook"
)

// TestMain also runs the child programs of chaos.
func TestMain(m *testing.M) {
	runChild()
	os.Exit(m.Run())
}

// newStage starts Redis and PostgreSQL. Outside CI, it skips the test if one of them does not start.
func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{short: true, dir: t.TempDir()}
	var err, err2 error
	s.rdb, err = servers.StartRedis(t.Context())
	s.db, err2 = servers.StartPostgres(t.Context())
	t.Cleanup(func() {
		s.end()
		if s.rdb != nil {
			_ = s.rdb.Close()
		}
		if s.db != nil {
			_ = s.db.Close()
		}
	})
	switch err := errors.Join(err, err2); {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatal(err)
	default:
		t.Skip("SKIPPED, nothing was tested: ", err)
	}
	return s
}

func value(t *testing.T, figures []figure, name string) figure {
	t.Helper()
	for _, f := range figures {
		if f.name == name {
			return f
		}
	}
	t.Fatalf("no figure %q in %v", name, figures)
	return figure{}
}

// TestFiguresReportLoss: the figures report lost events for a store that loses events, and none for pgstore.
func TestFiguresReportLoss(t *testing.T) {
	s := newStage(t)
	for _, tt := range []struct {
		store string
		lost  bool
	}{{"careless", true}, {"pg", false}} {
		figures := siege{tt.store, 600, 6, restartOne, tt.store == "pg"}.run(t.Context(), s)
		if lost := value(t, figures, "lost"); lost.met() == tt.lost {
			t.Errorf("%s: %v lost", tt.store, lost.value)
		}
	}
}

// TestFiguresReportDuplicates: replicas with separate memory stores handle duplicates, and the figures report them.
func TestFiguresReportDuplicates(t *testing.T) {
	s := newStage(t)
	noKills := func(context.Context, []*process) {}
	figures := siege{"memory", 400, 1, noKills, false}.run(t.Context(), s)
	if twice := value(t, figures, "handler called more than once"); twice.value == 0 {
		t.Error("every fourth event was delivered twice, to three receivers without a shared store, but none was handled twice")
	}
}

// TestStreamFiguresFindErrors: the figures find events that a receiver did not store, and events that a worker wrote
// more than once.
func TestStreamFiguresFindErrors(t *testing.T) {
	s := newStage(t)
	for _, tt := range []struct {
		name             string
		receiver, worker settings
		lost, duplicated bool
	}{
		{"correct", settings{}, settings{}, false, false},
		{"receiver responds too early", settings{Careless: true}, settings{}, true, false},
		{"worker does not deduplicate", settings{}, settings{Careless: true}, false, true},
	} {
		figures := streamSiege(t.Context(), s, 300, 4, tt.receiver, tt.worker)
		rows, events := value(t, figures, "effects in the transaction").value, value(t, figures, "events that they are of").value
		if lost, duplicated := events < 300, rows > events; lost != tt.lost || duplicated != tt.duplicated {
			t.Errorf("%s: %v rows of %v events", tt.name, rows, events)
		}
	}
}

// TestFiguresReportWrongSends: the figures report a duplicate email, and an email that is recorded as sent but was not
// sent.
func TestFiguresReportWrongSends(t *testing.T) {
	s := newStage(t)
	p := newPost(t.Context(), s, time.Second)
	defer p.close()
	p.order(t.Context(), 4)
	p.settled(t.Context())
	figures := p.figures(t.Context(), -1)
	if slices.ContainsFunc(figures, func(f figure) bool { return !f.met() }) {
		t.Errorf("figures %+v", figures)
	}
	again, missing := p.mock.OutboxTo("buyer+1@example.org"), p.mock.OutboxTo("buyer+2@example.org")
	if len(again) != 1 || len(missing) != 1 {
		t.Fatalf("%d and %d emails", len(again), len(missing))
	}
	c := must.Get(client.New(client.Config{BaseURL: p.srv.URL, Token: p.mock.Token()}))
	must.Get(c.Emails.Send(t.Context(), client.EmailSubmission{
		To: again[0].To, Sender: client.Sender{Email: "orders@shop.example"}, Content: client.EmailContent{Subject: "S", Text: "T"},
	}))
	must.OK(p.mock.DeleteMessage(missing[0].ID))
	figures = p.figures(t.Context(), -1)
	if value(t, figures, "sent twice").value != 1 || value(t, figures, "neither sent nor reported").value != 1 {
		t.Errorf("figures %+v", figures)
	}
}

func TestFigures(t *testing.T) {
	for _, tt := range []struct {
		f    figure
		met  bool
		text string
	}{
		{figure{value: 1, bound: equal, limit: 1}, true, "= 1"},
		{figure{value: 2, bound: equal, limit: 1}, false, "= 1"},
		{figure{value: 1.02, bound: atMost, limit: 1.02}, true, "≤ 1.020"},
		{figure{value: 1.021, bound: atMost, limit: 1.02}, false, "≤ 1.020"},
		{figure{value: 1999, bound: atLeast, limit: 2000}, false, "≥ 2000"},
		{figure{value: 7}, true, ""},
	} {
		if tt.f.met() != tt.met || tt.f.wanted() != tt.text {
			t.Errorf("%+v: %v, %q", tt.f, tt.f.met(), tt.f.wanted())
		}
	}
	missed := []figure{{value: 2, bound: equal, limit: 1}, {value: 2, bound: equal, limit: 1, speed: true}}
	if short, full := report(missed, true), report(missed, false); short != 1 || full != 2 {
		t.Errorf("%d missed targets in the short form, %d in the full form; want 1 and 2", short, full)
	}
}

func TestTally(t *testing.T) {
	text := []byte("run-0000001\nrun-0000001\nrun-0000002\nother-0000001\nrun-00000")
	got := tally(text, "run")
	if len(got) != 2 || got["run-0000001"] != 2 || got["run-0000002"] != 1 {
		t.Errorf("got %v", got)
	}
}

// TestServersLeaveNothing: closed servers leave no directory.
func TestServersLeaveNothing(t *testing.T) {
	t.Setenv("TMPDIR", open0755(t))
	s := newStage(t)
	for _, end := range []func() error{s.rdb.Close, s.db.Close} {
		if err := end(); err != nil {
			t.Error(err)
		}
	}
	left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*-[0-9]*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left %q, %v", left, err)
	}
}

// open0755 returns a directory that the user of PostgreSQL can enter.
func open0755(t *testing.T) string {
	t.Helper()
	dir := must.Get(os.MkdirTemp("", "chaos-")) //nolint:usetesting // another user cannot enter a directory of t.TempDir
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must.OK(os.Chmod(dir, 0o755))
	return dir
}

// TestFullRedis: with noeviction, a full Redis returns an error and keeps the stored keys.
func TestFullRedis(t *testing.T) {
	full, err := servers.StartRedis(t.Context(), "--maxmemory", "3mb")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("SKIPPED, nothing was tested: ", err)
	}
	defer func() { _ = full.Close() }()
	s := open(t.Context(), settings{Store: "redis", Redis: full.Addr})
	nothing := func(context.Context) error { return nil }
	remembered := 0
	for ; remembered < 100_000; remembered++ {
		if _, err = s.once.Do(t.Context(), fmt.Sprint("event-", remembered), nothing); err != nil {
			break
		}
	}
	if err == nil || errors.Is(err, webhook.ErrInFlight) || remembered == 0 {
		t.Fatalf("%v after %d events, want an error because the store is full", err, remembered)
	}
	for i := range remembered {
		if ran, err := s.once.Do(t.Context(), fmt.Sprint("event-", i), nothing); ran || err != nil {
			t.Fatalf("event %d of %d: %v, %v; want a duplicate", i, remembered, ran, err)
		}
	}
}
