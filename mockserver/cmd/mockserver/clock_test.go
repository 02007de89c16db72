package main

import (
	"io"
	"strings"
	"testing"
	"time"
)

func TestClockFlags(t *testing.T) {
	o, err := parse([]string{"-clock", "frozen", "-now", "2026-01-02T03:04:05+01:00"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2026, 1, 2, 2, 4, 5, 0, time.UTC); !o.config.FreezeClock || !o.config.Now.Equal(want) {
		t.Errorf("frozen %v at %v, want true at %v", o.config.FreezeClock, o.config.Now, want)
	}
	if o, err = parse([]string{"-clock", "running"}, io.Discard); err != nil || o.config.FreezeClock || !o.config.Now.IsZero() {
		t.Errorf("running: frozen %v at %v, %v", o.config.FreezeClock, o.config.Now, err)
	}
	for _, args := range [][]string{
		{"-clock", "stopped"}, {"-now", "noon"}, {"-now", "1969-01-01T00:00:00Z"}, {"-now", "2200-01-01T00:00:00Z"},
	} {
		if _, err := parse(args, io.Discard); err == nil || !strings.Contains(err.Error(), "want ") {
			t.Errorf("%q: %v", args, err)
		}
	}
}
