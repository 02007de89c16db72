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
	"example.com/emailplatform/webhook"
)

// TestMain is the program too, when that starts itself.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if child, ok := children[os.Args[1]]; ok {
			exit(child(os.Args[2:]))
		}
	}
	os.Exit(m.Run())
}

// newStage starts what it can, and needs what is asked for.
func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{short: true, dir: t.TempDir()}
	var err, err2 error
	s.rdb, err = servers.StartRedis(t.Context())
	s.db, err2 = servers.StartPostgres(t.Context())
	t.Cleanup(func() {
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
		t.Skip("SKIPPED, nothing was proven: ", err)
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

// TestLossIsSeen: a store that loses events is found out, one that does not is not.
func TestLossIsSeen(t *testing.T) {
	s := newStage(t)
	replace := func(_ context.Context, r *receivers) error { return r.replace() }
	for _, tt := range []struct {
		store string
		lost  bool
	}{{"careless", true}, {"pg", false}} {
		figures, err := siege{tt.store, 600, 6, replace, tt.store == "pg"}.run(t.Context(), s)
		must(t, err)
		if lost := value(t, figures, "lost"); lost.met() == tt.lost {
			t.Errorf("%s: %v lost", tt.store, lost.value)
		}
	}
}

// TestRepetitionIsSeen: a memory is not shared, so that what comes twice is handled twice.
func TestRepetitionIsSeen(t *testing.T) {
	s := newStage(t)
	nobody := func(context.Context, *receivers) error { return nil }
	figures, err := siege{"memory", 400, 1, nobody, false}.run(t.Context(), s)
	must(t, err)
	if twice := value(t, figures, "handler called more than once"); twice.value == 0 {
		t.Error("every fourth event came twice, to three memories, and none was handled twice")
	}
}

// TestStreamFiguresFindErrors: the figures find events that a receiver did not store, and events that a worker wrote
// more than once.
func TestStreamFiguresFindErrors(t *testing.T) {
	s := newStage(t)
	for _, tt := range []struct {
		name             string
		receiver, worker []string
		lost, duplicated bool
	}{
		{"correct", nil, nil, false, false},
		{"receiver responds too early", []string{"-careless"}, nil, true, false},
		{"worker does not deduplicate", nil, []string{"-careless"}, false, true},
	} {
		figures, err := streamSiege(t.Context(), s, 300, 4, tt.receiver, tt.worker)
		must(t, err)
		rows, events := value(t, figures, "effects in the transaction").value, value(t, figures, "events that they are of").value
		if lost, duplicated := events < 300, rows > events; lost != tt.lost || duplicated != tt.duplicated {
			t.Errorf("%s: %v rows of %v events", tt.name, rows, events)
		}
	}
}

// TestWrongSendsAreSeen: an email that is sent twice, and one that is recorded as
// sent and is not.
func TestWrongSendsAreSeen(t *testing.T) {
	s := newStage(t)
	p, err := newPost(t.Context(), s, time.Second)
	defer p.close()
	must(t, errors.Join(err, p.order(t.Context(), 4), p.settled(t.Context())))
	figures, err := p.figures(t.Context())
	if err != nil || slices.ContainsFunc(figures, func(f figure) bool { return !f.met() }) {
		t.Errorf("figures %+v, %v", figures, err)
	}
	again, missing := p.mock.OutboxTo("buyer+1@example.org"), p.mock.OutboxTo("buyer+2@example.org")
	c, err := client.New(client.Config{BaseURL: p.srv.URL, Token: p.mock.Token()})
	if err != nil || len(again) != 1 || len(missing) != 1 {
		t.Fatalf("%d and %d emails, %v", len(again), len(missing), err)
	}
	_, err = c.Emails.Send(t.Context(), client.EmailSubmission{
		To: again[0].To, Sender: client.Sender{Email: "orders@shop.example"}, Content: client.EmailContent{Subject: "S", Text: "T"},
	})
	must(t, errors.Join(err, p.mock.DeleteMessage(missing[0].ID)))
	figures, err = p.figures(t.Context())
	if err != nil || value(t, figures, "sent twice").value != 1 || value(t, figures, "neither sent nor reported").value != 1 {
		t.Errorf("figures %+v, %v", figures, err)
	}
}

func TestFigures(t *testing.T) {
	for _, tt := range []struct {
		f    figure
		met  bool
		text string
	}{
		{figure{value: 1, bound: exactly, limit: 1}, true, "= 1"},
		{figure{value: 2, bound: exactly, limit: 1}, false, "= 1"},
		{figure{value: 1.02, bound: atMost, limit: 1.02}, true, "≤ 1.020"},
		{figure{value: 1.021, bound: atMost, limit: 1.02}, false, "≤ 1.020"},
		{figure{value: 1999, bound: atLeast, limit: 2000}, false, "≥ 2000"},
		{figure{value: 7}, true, ""},
	} {
		if tt.f.met() != tt.met || tt.f.wanted() != tt.text {
			t.Errorf("%+v: %v, %q", tt.f, tt.f.met(), tt.f.wanted())
		}
	}
	missed := []figure{{value: 2, bound: exactly, limit: 1}, {value: 2, bound: exactly, limit: 1, speed: true}}
	if short, full := report(missed, true), report(missed, false); short != 1 || full != 2 {
		t.Errorf("%d missed in the short form, %d in the full one; want 1 and 2", short, full)
	}
}

func TestTally(t *testing.T) {
	text := []byte("run-0000001\nrun-0000001\nrun-0000002\nother-0000001\nrun-00000")
	got := tally(text, "run")
	if len(got) != 2 || got["run-0000001"] != 2 || got["run-0000002"] != 1 {
		t.Errorf("got %v", got)
	}
}

// TestServersLeaveNothing: neither a process nor a directory.
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

// open0755 is a directory that the user of PostgreSQL can enter.
func open0755(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "chaos-") //nolint:usetesting // another user cannot enter that
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// TestFullRedis: with noeviction a Redis without room is an error, and what it has said to remember it does.
func TestFullRedis(t *testing.T) {
	full, err := servers.StartRedis(t.Context(), "--maxmemory", "3mb")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("SKIPPED, nothing was proven: ", err)
	}
	defer func() { _ = full.Close() }()
	s, err := open(t.Context(), "redis", full.Addr(), "", 0)
	must(t, err)
	nothing := func(context.Context) error { return nil }
	remembered := 0
	for ; remembered < 100_000; remembered++ {
		if _, err = s.once.Do(t.Context(), fmt.Sprint("event-", remembered), nothing); err != nil {
			break
		}
	}
	if err == nil || errors.Is(err, webhook.ErrInFlight) || remembered == 0 {
		t.Fatalf("%v after %d events, want an error when it is full", err, remembered)
	}
	for i := range remembered {
		if ran, err := s.once.Do(t.Context(), fmt.Sprint("event-", i), nothing); ran || err != nil {
			t.Fatalf("event %d of %d: %v, %v; want it to be remembered", i, remembered, ran, err)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
