package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"example.com/emailplatform/mockserver"
)

var kills = flag.Int("kills", 1, "how often TestKilled kills the command")

// A killed process loses at most the last second of acknowledged changes. Delays of the machine are added.
func TestKilled(t *testing.T) {
	t.Parallel()
	late := lateness(t)
	for n := 0; n < *kills; n += 10 { // a state of some thousand contacts is enough
		killing(t, min(10, *kills-n), late)
	}
}

// killing kills a series of processes with the same state file.
func killing(t *testing.T, times int, late func() time.Duration) {
	t.Helper()
	dir := t.TempDir()
	state, seed := filepath.Join(dir, "state.json"), filepath.Join(dir, "seed.json")
	must(t, os.WriteFile(seed, []byte(`{"lists":[{"name":"L"}]}`), 0o600))
	acknowledged := map[string]time.Time{"/lists/1": {}} // paths, with the time of the response
	var killed time.Time
	for life := range times + 1 {
		cmd, base := command(t, "-seed", seed, "-state", state, "-quiet")
		for path, at := range acknowledged {
			status, text, err := ask(t.Context(), "GET", base+path, "dev-token", "")
			if lost := killed.Sub(at); err != nil || status != 200 && (status != 404 || lost > time.Second+late()) {
				t.Errorf("life %d: %s was acknowledged %v before the end: %d %s %v", life, path, lost, status, text, err)
			}
			delete(acknowledged, path)
			if status == 200 {
				acknowledged[path] = time.Time{} // and it is never lost any more
			}
		}
		if life < times {
			write(t, base, life, acknowledged)
		}
		must(t, cmd.Process.Kill())
		killed = time.Now()
		_ = cmd.Wait()
	}
}

// write adds contacts for a while, and records when each was acknowledged.
func write(t *testing.T, base string, life int, acknowledged map[string]time.Time) {
	t.Helper()
	ends := time.Now().Add(time.Duration(100+rand.IntN(1400)) * time.Millisecond)
	for n := 0; time.Now().Before(ends); n++ {
		body := fmt.Sprintf(`{"email":"user%d.%d@example.org"}`, life, n)
		status, text, err := ask(t.Context(), "POST", base+"/lists/1/contacts", "dev-token", body)
		if status != 201 {
			t.Fatal(status, text, err)
		}
		var contact struct {
			ID int64 `json:"id"`
		}
		must(t, json.Unmarshal([]byte(text), &contact))
		acknowledged[fmt.Sprintf("/lists/1/contacts/%d", contact.ID)] = time.Now()
	}
}

// lateness returns a function that reports the longest scheduling delay so far.
func lateness(t *testing.T) func() time.Duration {
	t.Helper()
	var worst atomic.Int64
	last, tick := time.Now(), time.NewTicker(saveEvery)
	t.Cleanup(tick.Stop)
	go func() {
		for ctx := t.Context(); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			worst.Store(max(worst.Load(), int64(time.Since(last)-saveEvery)))
			last = time.Now()
		}
	}()
	return func() time.Duration { return time.Duration(worst.Load()) }
}

// A second process with the same state file is rejected, also through a symbolic link.
func TestStateIsLocked(t *testing.T) {
	dir := t.TempDir()
	state, alias := filepath.Join(dir, "state.json"), filepath.Join(dir, "alias.json")
	r := start(t, "-state", state)
	names := []string{state}
	_ = os.Symlink(state, alias) // Windows may forbid it, and Wine creates nothing
	if _, err := os.Lstat(alias); err == nil {
		names = append(names, alias)
	} else if runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	for _, name := range names {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // ends a command that should not have begun
		defer cancel()
		err := run(ctx, []string{"-addr", "127.0.0.1:0", "-state", name}, &output{})
		if err == nil || !strings.Contains(err.Error(), "another process") {
			t.Errorf("%s: %v", name, err)
		}
	}
	must(t, r.stop())
	if err := start(t, "-state", state).stop(); err != nil {
		t.Error(err)
	}
}

// An incomplete last change is reported and omitted. Damage before the end is an error and changes nothing.
func TestStateTruncated(t *testing.T) {
	const whole = "{\"version\":4,\"last_id\":1,\"accounts\":[\n{\"account_id\":1,\"lists\":[{\"list_id\":1,\"name\":\"Whole\"}]}]}\n"
	const change = `{"change":1,"last_id":2,"accounts":[{"account_id":1,"lists":[{"list_id":2,"name":"Change"}]}]}` + "\n"
	for name, tt := range map[string]struct{ file, want string }{
		"whole":                     {whole, "Whole"},
		"no newline":                {strings.TrimSuffix(whole, "\n"), "Whole"},
		"a change":                  {whole + change, "Change"},
		"a change without its end":  {whole + change[:len(change)/2], "Whole"},
		"zeros":                     {whole + change + strings.Repeat("\x00", 100_000), "Change"},
		"another whole without end": {whole + strings.ReplaceAll(whole, "\n", "")[:50], "Whole"},
		"a change before its turn":  {whole + strings.Replace(change, `"change":1`, `"change":2`, 1), ""},
		"a mistake in the middle":   {whole + "{\n" + change, ""},
		"nothing":                   {"", ""},
		"half of the whole":         {whole[:len(whole)/2], ""},
	} {
		t.Run(name, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "state.json")
			must(t, os.WriteFile(state, []byte(tt.file), 0o600))
			if tt.want == "" {
				ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // ends what should not have begun
				defer cancel()
				if err := run(ctx, []string{"-addr", "127.0.0.1:0", "-state", state}, &output{}); err == nil {
					t.Error("it was accepted")
				}
				if left, err := os.ReadFile(state); err != nil || string(left) != tt.file {
					t.Errorf("the file is now %q %v", left, err)
				}
				return
			}
			r := start(t, "-state", state)
			if _, text := r.ask("GET", "/lists", "dev-token", ""); !strings.Contains(text, tt.want) {
				t.Errorf("the lists are %s, want %s", text, tt.want)
			}
			must(t, r.stop())
			cut := strings.Contains(name, "end") || name == "zeros"
			if said := strings.Contains(r.out.String(), "not written completely"); said != cut {
				t.Errorf("it says so: %v\n%s", said, r.out)
			}
		})
	}
}

// The file contains each saved change, including while it is rewritten. At the end it is one whole state.
func TestStateFollows(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "state.json")
	srv := mockserver.New(mockserver.Config{SkipValidation: true})
	defer srv.Close()
	s, err := openState(name, slog.New(slog.DiscardHandler))
	must(t, err)
	if s.srv = srv; s.rewrite() != nil {
		t.Fatal("it was not written")
	}
	editions, text := 0, strings.Repeat("x", 200_000)
	for i := range 15 {
		seed := fmt.Sprintf(`{"templates":[{"name":"%d","content":{"html":"%s"}}]}`, i, text)
		must(t, srv.Seed(strings.NewReader(seed)))
		must(t, s.save())
		if !strings.Contains(restorable(t, name), fmt.Sprintf(`"name":"%d"`, i)) {
			t.Fatalf("template %d is not in the file", i)
		}
		if s.next != nil && i%3 == 0 { // the whole was being written during some changes
			made := <-s.next
			s.next = nil
			must(t, s.publish(made))
			editions++
			if !strings.Contains(restorable(t, name), fmt.Sprintf(`"name":"%d"`, i)) {
				t.Fatalf("template %d is not in the new file", i)
			}
		}
	}
	if editions < 2 {
		t.Errorf("the whole was written anew %d times", editions)
	}
	must(t, s.finish())
	s.current.discard()
	saved, err := os.ReadFile(name)
	if err != nil || bytes.Count(saved, []byte(`"version"`)) != 1 || bytes.Contains(saved, []byte(`"change"`)) {
		t.Errorf("in the end the file is no single state: %v", err)
	}
	if err := s.unlock(); err != nil {
		t.Error(err)
	}
}

// restorable returns the state that a file restores.
func restorable(t *testing.T, name string) string {
	t.Helper()
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	state := &stateFile{name: name, log: slog.New(slog.DiscardHandler)}
	must(t, state.load(srv))
	var out bytes.Buffer
	must(t, srv.Snapshot(&out))
	return out.String()
}

// After a disk error the state is rewritten.
func TestStateAfterDiskError(t *testing.T) {
	name := filepath.Join(t.TempDir(), "state.json")
	var said output
	s, err := openState(name, slog.New(slog.NewTextHandler(&said, nil)))
	must(t, err)
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	if s.srv = srv; s.rewrite() != nil {
		t.Fatal("it was not written")
	}
	_ = s.current.file.Close() // so that nothing can be written
	must(t, srv.Seed(strings.NewReader(`{"lists":[{"name":"Late"}]}`)))
	s.check(s.save())
	if s.current != nil || !strings.Contains(said.String(), "the state is not saved") {
		t.Errorf("the error is not noticed: %s", &said)
	}
	s.check(s.save())
	if s.next != nil {
		t.Error("it does not wait before it tries again")
	}
	s.pause = time.Time{}
	s.check(s.save())
	s.check(s.publish(<-s.next))
	if !strings.Contains(restorable(t, name), "Late") {
		t.Error("the change was lost")
	}
	s.current.discard()
	if err := s.unlock(); err != nil {
		t.Error(err)
	}
}

// A second signal ends the command immediately. The saved state is kept.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGINT to send")
	}
	state := filepath.Join(t.TempDir(), "state.json")
	cmd, base := command(t, "-state", state, "-quiet")
	if status, text, err := ask(t.Context(), "POST", base+"/lists", "dev-token", `{"name":"Saved"}`); status != 201 {
		t.Fatal(text, err)
	}
	for !strings.Contains(restorable(t, state), "Saved") {
		time.Sleep(10 * time.Millisecond)
	}
	if _, _, err := ask(t.Context(), "POST", base+"/_mock/faults", "", `{"action":"delay","delay_ms":60000}`); err != nil {
		t.Fatal(err)
	}
	go func() { _, _, _ = ask(t.Context(), "GET", base+"/lists", "dev-token", "") }() // keeps the command for seconds
	for hit := false; !hit; {
		_, text, err := ask(t.Context(), "GET", base+"/_mock/faults", "", "")
		must(t, err)
		hit = strings.Contains(text, `"hits":1`)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	for n := 0; ; n++ {
		if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
			break // it has ended
		}
		select {
		case <-ended:
			if n == 0 {
				t.Error("the first signal did not wait for what is under way")
			}
		case <-time.After(50 * time.Millisecond):
			if n < 50 {
				continue
			}
			t.Error("the second signal did not end it")
		}
		break
	}
	if !strings.Contains(restorable(t, state), "Saved") {
		t.Error("what was saved is lost")
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
