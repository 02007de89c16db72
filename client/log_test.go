package client

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestMain discards the records of clients without a logger.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// TestDefaultLogger: without Config.Logger, records go to slog.Default at the time of
// the call.
func TestDefaultLogger(t *testing.T) {
	c := newTestClient(t, answer(503, "text/html", "<h1>down</h1>"), func(cfg *Config) { cfg.Logger = nil })
	var log bytes.Buffer
	defer slog.SetDefault(slog.Default())
	slog.SetDefault(slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	_, _ = c.Templates.Get(t.Context(), 1)
	var got []string
	for line := range strings.Lines(log.String()) {
		got = append(got, checkRecord(t, line))
	}
	if len(got) != 5 {
		t.Errorf("got the records %q, want three requests and two retries", got)
	}
}

// TestLogger compares the records of a call with three attempts with the documentation of Config.Logger.
func TestLogger(t *testing.T) {
	for name, tc := range map[string]struct {
		level slog.Level
		want  []string // messages
	}{
		"debug": {slog.LevelDebug, []string{
			"platform request", "retrying platform request", "platform request",
			"retrying platform request", "platform request",
		}},
		"info": {slog.LevelInfo, []string{"retrying platform request", "retrying platform request"}},
		"warn": {slog.LevelWarn, nil},
	} {
		var log bytes.Buffer
		c := newTestClient(t, answer(503, "text/html", "<h1>down</h1>"), func(cfg *Config) {
			cfg.Logger = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: tc.level}))
		})
		_, _ = c.Templates.Get(t.Context(), 1)
		var got []string
		for line := range strings.Lines(log.String()) {
			got = append(got, checkRecord(t, line))
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: got the records %q, want %q", name, got, tc.want)
		}
	}
}

func TestLoggerOfSuccess(t *testing.T) {
	for status, failed := range map[int]bool{200: false, 404: true} {
		var log bytes.Buffer
		c := newTestClient(t, answer(status, "application/json", `{"template_id":1}`), func(cfg *Config) {
			cfg.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		})
		if _, err := c.Templates.Get(t.Context(), 1); (err != nil) != failed {
			t.Fatal(err)
		}
		if strings.Count(log.String(), "\n") != 1 || strings.Contains(log.String(), "error") != failed {
			t.Errorf("status %d: %s", status, log.String())
		}
	}
}

// checkRecord checks the keys of a record, and returns its message.
func checkRecord(t *testing.T, line string) string {
	t.Helper()
	var record map[string]any
	fatal(t, json.Unmarshal([]byte(line), &record))
	message := record["msg"].(string)
	want := []string{"attempt", "duration", "error", "level", "method", "msg", "op", "path", "request_id", "status", "time"}
	if message == "retrying platform request" {
		want[1] = "delay"
		slices.Sort(want)
	}
	if got := slices.Sorted(maps.Keys(record)); !slices.Equal(got, want) {
		t.Errorf("%s: has the keys %q, want %q", message, got, want)
	}
	if record["op"] != "getTemplate" || record["method"] != "GET" || record["path"] != "/templates/1" ||
		record["status"] != 503.0 || record["request_id"] != "req-1" {
		t.Errorf("record %s", line)
	}
	return message
}
