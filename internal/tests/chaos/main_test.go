package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"example.com/emailplatform/internal/tests/chaos/servers"
	"example.com/emailplatform/internal/tools/must"
	"example.com/emailplatform/webhook"
)

// TestMain also runs the child programs of chaos.
func TestMain(m *testing.M) {
	runChild()
	os.Exit(m.Run())
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

func TestCountIDs(t *testing.T) {
	text := []byte("run-0000001\nrun-0000001\nrun-0000002\nother-0000001\nrun-00000")
	got := countIDs(text, "run")
	if len(got) != 2 || got["run-0000001"] != 2 || got["run-0000002"] != 1 {
		t.Errorf("got %v", got)
	}
}

// TestServersLeaveNothing: closed servers leave no directory.
func TestServersLeaveNothing(t *testing.T) {
	t.Setenv("TMPDIR", open0755(t))
	rdb, err := servers.StartRedis(t.Context())
	requireServer(t, err)
	db, err := servers.StartPostgres(t.Context())
	requireServer(t, err)
	for _, end := range []func() error{rdb.Close, db.Close} {
		if err := end(); err != nil {
			t.Error(err)
		}
	}
	left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*-[0-9]*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left %q, %v", left, err)
	}
}

// requireServer skips the test if a server does not start. In CI the test fails.
func requireServer(t *testing.T, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatal(err)
	default:
		t.Skip("SKIPPED, nothing was tested: ", err)
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
	requireServer(t, err)
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
