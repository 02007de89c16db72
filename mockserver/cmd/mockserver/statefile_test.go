package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/internal/checksum"
)

var kills = flag.Int("kills", 1, "the number of times that TestKilled kills the command")

// A killed process loses at most the last second of acknowledged changes, plus scheduling delays of the machine.
func TestKilled(t *testing.T) {
	t.Parallel()
	late := lateness(t)
	for n := 0; n < *kills; n += 10 { // a new state after 10 kills limits its size
		killing(t, min(10, *kills-n), late)
	}
}

// killing kills a series of processes with the same state file.
func killing(t *testing.T, times int, late func() time.Duration) {
	t.Helper()
	dir := t.TempDir()
	state, seed := filepath.Join(dir, "state.json"), filepath.Join(dir, "seed.json")
	require.NoError(t, os.WriteFile(seed, []byte(`{"lists":[{"name":"L"}]}`), 0o600))
	acknowledged := map[string]time.Time{"/lists/1": {}} // paths and the times of their responses
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
				acknowledged[path] = time.Time{} // a saved contact must never be lost
			}
		}
		if life < times {
			write(t, base, life, acknowledged)
		}
		require.NoError(t, cmd.Process.Kill())
		killed = time.Now()
		_ = cmd.Wait()
	}
}

// write adds contacts for up to 1.5 s, and records the time of each response.
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
		require.NoError(t, json.Unmarshal([]byte(text), &contact))
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

// A second process with the same state file is rejected, even if it uses a symbolic link.
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
		if err := rejected(t, "-state", name); err == nil || !strings.Contains(err.Error(), "another process") {
			t.Errorf("%s: %v", name, err)
		}
	}
	require.NoError(t, r.stop())
	assert.NoError(t, start(t, "-state", state).stop())
}

// An incomplete last change is reported and omitted. Damage before the end is an error and changes nothing.
func TestStateTruncated(t *testing.T) {
	const state = "{\"version\":4,\"last_id\":1,\"accounts\":[\n{\"account_id\":1,\"lists\":[{\"list_id\":1,\"name\":\"Whole\"}]}]}\n"
	const change1 = `{"change":1,"last_id":2,"accounts":[{"account_id":1,"lists":[{"list_id":2,"name":"Change"}]}]}` + "\n"
	whole, change := withChecksum(state), withChecksum(change1)
	for name, tt := range map[string]struct{ file, want string }{
		"whole":                      {whole, "Whole"},
		"no checksum":                {state, "Whole"},
		"no newline":                 {strings.TrimSuffix(state, "\n"), "Whole"},
		"a change":                   {whole + change, "Change"},
		"a change without its end":   {whole + change1[:len(change1)/2], "Whole"},
		"a checksum without its end": {whole + strings.TrimSuffix(change, "\n"), "Whole"},
		"zeros":                      {whole + change + strings.Repeat("\x00", 100_000), "Change"},
		"another whole without end":  {whole + strings.ReplaceAll(state, "\n", "")[:50], "Whole"},
		"a change before its turn":   {whole + withChecksum(strings.Replace(change1, `"change":1`, `"change":2`, 1)), ""},
		"an error in the middle":     {whole + withChecksum("{\n") + change, ""},
		"nothing":                    {"", ""},
		"half of the whole":          {whole[:len(whole)/2], ""},
	} {
		t.Run(name, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "state.json")
			require.NoError(t, os.WriteFile(state, []byte(tt.file), 0o600))
			if tt.want == "" {
				assert.Error(t, rejected(t, "-state", state), "the damaged file was accepted")
				if left, err := os.ReadFile(state); err != nil || string(left) != tt.file {
					t.Errorf("the file is now %q %v", left, err)
				}
				return
			}
			r := start(t, "-state", state)
			if _, text := r.ask("GET", "/lists", "dev-token", ""); !strings.Contains(text, tt.want) {
				t.Errorf("the lists are %s, want %s", text, tt.want)
			}
			require.NoError(t, r.stop())
			cut := strings.Contains(name, "end") || name == "zeros"
			if said := strings.Contains(r.out.String(), "incomplete change"); said != cut {
				t.Errorf("reports an incomplete change: %v\n%s", said, r.out)
			}
		})
	}
}

// withChecksum returns a part of a state file.
func withChecksum(text string) string {
	var out strings.Builder
	w := checksum.NewWriter(&out)
	_, _ = io.WriteString(w, text)
	_ = w.End() // a strings.Builder returns no error
	return out.String()
}

// The file contains each saved change, even during a rewrite. After a shutdown, it contains one complete state.
func TestStateFollows(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "state.json")
	srv := mockserver.New(mockserver.Config{SkipValidation: true})
	defer srv.Close()
	s, err := openState(name, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	if s.srv = srv; s.rewrite() != nil {
		t.Fatal("the state was not written")
	}
	segments, text := 0, strings.Repeat("x", 200_000)
	for i := range 15 {
		seed := fmt.Sprintf(`{"templates":[{"name":"%d","content":{"html":"%s"}}]}`, i, text)
		require.NoError(t, srv.Seed(strings.NewReader(seed)))
		require.NoError(t, s.save())
		require.Contains(t, restorable(t, name), fmt.Sprintf(`"name":"%d"`, i), "template %d is not in the file", i)
		if s.next != nil && i%3 == 0 { // changes were saved during this rewrite
			made := <-s.next
			s.next = nil
			require.NoError(t, s.publish(made))
			segments++
			require.Contains(t, restorable(t, name), fmt.Sprintf(`"name":"%d"`, i), "template %d is not in the new file", i)
		}
	}
	if segments < 2 {
		t.Errorf("the whole state was rewritten %d times, want 2 or more", segments)
	}
	require.NoError(t, s.finish())
	s.current.discard()
	saved, err := os.ReadFile(name)
	if err != nil || bytes.Count(saved, []byte(`"version"`)) != 1 || bytes.Contains(saved, []byte(`"change"`)) {
		t.Errorf("at the end the file is not a single state: %v", err)
	}
	assert.NoError(t, s.unlock())
}

// restorable returns the state that a file restores.
func restorable(t *testing.T, name string) string {
	t.Helper()
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	state := &stateFile{name: name, log: slog.New(slog.DiscardHandler)}
	require.NoError(t, state.load(srv))
	var out bytes.Buffer
	require.NoError(t, srv.Snapshot(&out))
	return out.String()
}

// After a disk error the state is rewritten.
func TestStateAfterDiskError(t *testing.T) {
	name := filepath.Join(t.TempDir(), "state.json")
	var said output
	s, err := openState(name, slog.New(slog.NewTextHandler(&said, nil)))
	require.NoError(t, err)
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	if s.srv = srv; s.rewrite() != nil {
		t.Fatal("the state was not written")
	}
	_ = s.current.file.Close() // makes each write fail
	require.NoError(t, srv.Seed(strings.NewReader(`{"lists":[{"name":"Late"}]}`)))
	s.check(s.save())
	if s.current != nil || !strings.Contains(said.String(), "state not saved") {
		t.Errorf("the error is not reported: %s", &said)
	}
	s.check(s.save())
	if s.next != nil {
		t.Error("save retries without waiting")
	}
	s.pause = time.Time{}
	s.check(s.save())
	s.check(s.publish(<-s.next))
	assert.Contains(t, restorable(t, name), "Late", "the change was lost")
	s.current.discard()
	assert.NoError(t, s.unlock())
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
	inProgress(t, base, time.Minute) // keeps the command running
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()
	signals := 0
	for running := true; running; signals++ {
		_ = cmd.Process.Signal(syscall.SIGINT) // an error if the command has ended
		select {
		case <-ended:
			running = false
		case <-time.After(50 * time.Millisecond):
		}
	}
	if status := cmd.ProcessState.Sys().(syscall.WaitStatus); signals == 1 || status.Signal() != syscall.SIGINT {
		t.Errorf("after %d signals: %v, want that the second signal ends the command", signals, cmd.ProcessState)
	}
	assert.Contains(t, restorable(t, state), "Saved", "the saved state is lost")
}

var damages = flag.Int("state.damages", 1000, "how many bytes of a state file TestStateDamage changes, one at a time")

// savedState returns a state file with several changes, and the state that it restores.
func savedState(t *testing.T) (file []byte, state string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "state.json")
	srv := mockserver.New(mockserver.Config{FreezeClock: true})
	defer srv.Close()
	s := &stateFile{name: name, log: slog.New(slog.DiscardHandler), srv: srv}
	seed := func(i int) string {
		return fmt.Sprintf(`{"templates":[{"name":"T%d","content":{"html":"<p>{{name}}</p>"}}], "tokens":[{"token":"t%d"}],
			"lists":[{"name":"L%d","policy_accepted":true,"contacts":[{"email":"ada%d@example.com","status":"active"}]}],
			"webhooks":[{"url":"http://127.0.0.1:9/hook","events":["Contact.Added"],"secret":"whsec%d"}]}`, i, i, i, i, i)
	}
	for i := range 5 {
		require.NoError(t, srv.Seed(strings.NewReader(seed(i))))
		save := s.rewrite
		if i > 1 {
			save = s.save
		}
		require.NoError(t, save())
	}
	s.current.discard()
	file, err := os.ReadFile(name)
	require.NoError(t, err)
	return file, restorable(t, name)
}

// TestStateDamage: if a single byte is changed, the file is rejected or restores the same state. The file is not
// modified.
func TestStateDamage(t *testing.T) {
	file, state := savedState(t)
	if bytes.Count(file, []byte(`{"crc32c":`)) < 3 {
		t.Fatalf("the file has no changes:\n%s", file)
	}
	name := filepath.Join(t.TempDir(), "state.json")
	random := rand.New(rand.NewPCG(1, 2))
	rejected := 0
	for range *damages {
		damaged := bytes.Clone(file)
		at, to := random.IntN(len(file)), byte(random.IntN(256))
		if damaged[at] == to {
			continue
		}
		damaged[at] = to
		require.NoError(t, os.WriteFile(name, damaged, 0o600))
		srv := mockserver.New(mockserver.Config{FreezeClock: true})
		err := (&stateFile{name: name, log: slog.New(slog.DiscardHandler)}).load(srv)
		var now bytes.Buffer
		if err == nil {
			err = srv.Snapshot(&now)
			if err != nil || now.String() != state {
				t.Errorf("byte %d: %q instead of %q is not detected: %v", at, to, file[at], err)
			}
		} else {
			rejected++
		}
		srv.Close()
		if left, err := os.ReadFile(name); err != nil || !bytes.Equal(left, damaged) {
			t.Fatalf("byte %d: the file has changed: %v", at, err)
		}
	}
	t.Logf("%d of %d changes rejected, the others without effect", rejected, *damages)
}

func TestStateSalvage(t *testing.T) {
	file, state := savedState(t)
	for name, tt := range map[string]struct {
		damage func([]byte) []byte
		want   func(string) bool // checks the salvaged state
		error  string            // expected at a start with the damaged file
	}{
		"another value": {
			func(b []byte) []byte { return bytes.Replace(b, []byte("whsec4"), []byte("whsec9"), 1) },
			func(s string) bool { return s == strings.Replace(state, "whsec4", "whsec9", 1) },
			"the checksum does not match",
		},
		"a bad change": {
			func(b []byte) []byte { return bytes.Replace(b, []byte(`{"change":2,`), []byte(`{"chance":2,`), 1) },
			func(s string) bool { return strings.Contains(s, "whsec2") && !strings.Contains(s, "whsec3") },
			"lines ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			old, salvaged := filepath.Join(dir, "old.json"), filepath.Join(dir, "new.json")
			require.NoError(t, os.WriteFile(old, tt.damage(file), 0o600))
			err := rejected(t, "-state", old)
			if err == nil || !strings.Contains(err.Error(), tt.error) || !strings.Contains(err.Error(), "-state-salvage") {
				t.Errorf("a start with the damaged file: %v", err)
			}
			var out output
			require.NoError(t, run(t.Context(), []string{"-state", old, "-state-salvage", salvaged}, nil, &out))
			if got := restorable(t, salvaged); !tt.want(got) {
				t.Errorf("%s\ngot %s", out.String(), got)
			}
			assert.Error(t, run(t.Context(), []string{"-state", old, "-state-salvage", salvaged}, nil, &out), "an existing file is overwritten")
		})
	}
}
