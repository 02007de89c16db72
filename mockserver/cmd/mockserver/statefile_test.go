package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver"
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
			status, text, err := ask(t, "GET", base+path, "dev-token", "")
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
		status, text, err := ask(t, "POST", base+"/lists/1/contacts", "dev-token", body)
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
	last, tick := time.Now(), time.NewTicker(checkEvery)
	t.Cleanup(tick.Stop)
	go func() {
		for ctx := t.Context(); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			worst.Store(max(worst.Load(), int64(time.Since(last)-checkEvery)))
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
	_ = os.Symlink(state, alias) // Windows may forbid it
	if _, err := os.Lstat(alias); err == nil {
		names = append(names, alias)
	} else if runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	for _, name := range names {
		err := rejected(t, "-state", name)
		assert.ErrorContains(t, err, "another process", name)
	}
	require.NoError(t, r.stop())
	assert.NoError(t, start(t, "-state", state).stop())
}

// A damaged file is an error, and is not changed.
func TestStateDamaged(t *testing.T) {
	const whole = "{\"version\":4,\"last_id\":1,\"accounts\":[\n{\"account_id\":1,\"lists\":[{\"list_id\":1,\"name\":\"Whole\"}]}]}\n"
	for name, text := range map[string]string{
		"nothing": "", "half": whole[:len(whole)/2], "zeros": strings.Repeat("\x00", 1000), "more": whole + "{}",
		"another field": strings.Replace(whole, "lists", "lasts", 1),
	} {
		t.Run(name, func(t *testing.T) {
			state := filepath.Join(t.TempDir(), "state.json")
			require.NoError(t, os.WriteFile(state, []byte(text), 0o600))
			err := rejected(t, "-state", state)
			assert.ErrorContains(t, err, state)
			assert.Equal(t, text == "", strings.HasSuffix(err.Error(), "the file is empty; remove it to start without data"))
			left, err := os.ReadFile(state)
			require.NoError(t, err)
			assert.Equal(t, text, string(left))
		})
	}
}

// If a helper file of the state file is a symbolic link, the server does not follow it.
func TestStateHelperLinks(t *testing.T) {
	dir := t.TempDir()
	state, victim := filepath.Join(dir, "state.json"), filepath.Join(dir, "victim.txt")
	require.NoError(t, os.WriteFile(victim, []byte("important"), 0o600))
	if err := os.Symlink(victim, state+".new"); err != nil {
		t.Skip(err) // Windows may forbid it
	}
	require.NoError(t, start(t, "-state", state).stop())
	assert.NotEmpty(t, restorable(t, state))
	require.NoError(t, os.Symlink(filepath.Join(dir, "created.txt"), state+".lock"))
	require.ErrorContains(t, rejected(t, "-state", state), "state.json.lock must be a regular file")
	_, err := lock(state + ".lock") // even if the link is created after the check
	require.Error(t, err)
	assert.NoFileExists(t, filepath.Join(dir, "created.txt"))
	text, err := os.ReadFile(victim)
	require.NoError(t, err)
	assert.Equal(t, "important", string(text))
}

// A state file that an editor or Git for Windows has changed is restored. It is not rewritten until the state
// changes.
func TestStateOfEditor(t *testing.T) {
	const text = "\ufeff{\r\n  \"version\": 4,\r\n  \"last_id\": 1,\r\n  \"accounts\": [{\"account_id\": 1, \"lists\": [{\"list_id\": 1, \"name\": \"Edited\"}]}]\r\n}"
	state := filepath.Join(t.TempDir(), "state.json")
	require.NoError(t, os.WriteFile(state, []byte(text), 0o600))
	content := func() string {
		content, err := os.ReadFile(state)
		require.NoError(t, err)
		return string(content)
	}
	r := start(t, "-state", state)
	_, lists := r.ask("GET", "/lists", "dev-token", "")
	require.Contains(t, lists, "Edited")
	require.NoError(t, r.stop())
	require.Equal(t, text, content())
	r = start(t, "-state", state)
	r.ask("POST", "/lists", "dev-token", `{"name":"Added"}`)
	require.NoError(t, r.stop())
	assert.Contains(t, content(), "Added")
}

// Requests that only read do not cause a save. After each save, there is a pause.
func TestStateSavedAfterChanges(t *testing.T) {
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	s := &stateFile{name: filepath.Join(t.TempDir(), "state.json")}
	require.NoError(t, s.load(srv))
	saved := func(method, body string) bool {
		require.NoError(t, os.Remove(s.name))
		r := httptest.NewRequest(method, "/lists", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+srv.Token())
		r.Header.Set("Content-Type", "application/json")
		srv.ServeHTTP(httptest.NewRecorder(), r)
		s.saveChanges()
		_, err := os.Stat(s.name)
		return err == nil
	}
	assert.True(t, saved("POST", `{"name":"L"}`), "saved after a change")
	assert.False(t, saved("GET", ""), "saved after a request that reads")
	assert.Equal(t, checkEvery, pauseAfter(0))
	assert.Equal(t, 9*time.Second, pauseAfter(time.Second))
}

// After an error, the state is saved later.
func TestStateAfterDiskError(t *testing.T) {
	name := filepath.Join(t.TempDir(), "state.json")
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	s := &stateFile{name: name, srv: srv, log: slog.New(slog.DiscardHandler)}
	require.NoError(t, s.save())
	require.NoError(t, os.Mkdir(name+".new", 0o700)) // makes each write fail
	require.NoError(t, srv.Seed(strings.NewReader(`{"lists":[{"name":"Late"}]}`)))
	require.Equal(t, tryAgain, s.saveChanges())
	require.NoError(t, os.Remove(name+".new"))
	require.NoError(t, s.save())
	assert.Contains(t, restorable(t, name), "Late", "the change was lost")
}

// On Windows, a file cannot be replaced while another process has opened it, so the replacement is retried. If it
// still fails, the changes stay in the new file.
func TestStateNotReplaced(t *testing.T) {
	for name, freed := range map[string]bool{"for a short time": true, "for a long time": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "state.json") // a file cannot replace a directory
				require.NoError(t, os.Mkdir(dir, 0o700))
				srv := mockserver.New(mockserver.Config{})
				defer srv.Close()
				require.NoError(t, srv.Seed(strings.NewReader(`{"lists":[{"name":"Late"}]}`)))
				s := &stateFile{name: dir, srv: srv}
				if freed {
					time.AfterFunc(250*time.Millisecond, func() { assert.NoError(t, os.Remove(dir)) })
				}
				err := s.save()
				if freed {
					require.NoError(t, err)
					assert.Contains(t, restorable(t, dir), "Late")
					assert.Equal(t, srv.Revision(), s.saved)
					return
				}
				require.ErrorContains(t, err, dir+".new")
				assert.Contains(t, restorable(t, dir+".new"), "Late")
				assert.NotEqual(t, srv.Revision(), s.saved)
			})
		})
	}
}

// A restore resumes deliveries, and a delivery can change the state during the restore. Such a change is saved.
// Without such a change, the file is not rewritten.
func TestStateChangedDuringRestore(t *testing.T) {
	receiver := func(handle http.HandlerFunc) mockserver.Config {
		return mockserver.Config{Targets: map[string]http.Handler{"hook.test": handle}}
	}
	entered, end := make(chan struct{}), make(chan struct{})
	before := mockserver.New(receiver(func(http.ResponseWriter, *http.Request) { close(entered); <-end }))
	defer before.Close()
	defer close(end)
	name := filepath.Join(t.TempDir(), "state.json")
	idle := &stateFile{name: name, srv: before}
	require.NoError(t, idle.save())
	require.NoError(t, idle.restore())
	assert.Equal(t, before.Revision(), idle.saved, "a restored state without pending work is already saved")
	require.NoError(t, before.Seed(strings.NewReader(`{"webhooks":[{"url":"http://hook.test/","events":["SuppressedEmail.Added"]}]}`)))
	r := httptest.NewRequest(http.MethodPost, "/suppressed-emails", strings.NewReader(`{"email":"ada@example.org"}`))
	r.Header.Set("Authorization", "Bearer "+before.Token())
	r.Header.Set("Content-Type", "application/json")
	before.ServeHTTP(httptest.NewRecorder(), r)
	<-entered // the attempt is in progress, so the delivery is pending in the file
	require.NoError(t, (&stateFile{name: name, srv: before}).save())
	srv := mockserver.New(receiver(func(http.ResponseWriter, *http.Request) {}))
	defer srv.Close()
	s := &stateFile{name: name, srv: slowRestore{srv}}
	require.NoError(t, s.restore())
	require.Equal(t, mockserver.DeliveryDelivered, srv.Deliveries()[0].State)
	assert.NotEqual(t, srv.Revision(), s.saved, "the result of the delivery is not saved")
}

// slowRestore is a server whose Restore returns after the resumed deliveries are done.
type slowRestore struct{ *mockserver.Server }

func (s slowRestore) Restore(r io.Reader) error {
	return errors.Join(s.Server.Restore(r), s.Wait(context.Background()))
}

// A symbolic link without a target is an error that names the link.
func TestStateDanglingLink(t *testing.T) {
	dir := t.TempDir()
	state := filepath.Join(dir, "state.json")
	if err := os.Symlink(filepath.Join(dir, "elsewhere.json"), state); err != nil {
		t.Skip(err) // Windows may forbid it
	}
	require.ErrorContains(t, rejected(t, "-state", state), "-state or MOCKSERVER_STATE: the target of the symbolic link "+state+" must exist")
	assert.NoFileExists(t, state+".lock")
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

// A second signal ends the command immediately, but the state that was saved before is kept.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGINT to send")
	}
	state := filepath.Join(t.TempDir(), "state.json")
	cmd, base := command(t, "-state", state, "-quiet")
	if status, text, err := ask(t, "POST", base+"/lists", "dev-token", `{"name":"Saved"}`); status != 201 {
		t.Fatal(text, err)
	}
	for !strings.Contains(restorable(t, state), "Saved") {
		time.Sleep(10 * time.Millisecond)
	}
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(base, "http://"))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, "POST /lists HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer dev-token\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n")
	require.NoError(t, err)
	_, err = conn.Read(make([]byte, 1)) // the command reads the body, which keeps it running
	require.NoError(t, err)
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
