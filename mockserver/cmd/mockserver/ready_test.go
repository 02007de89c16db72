package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The ready file contains the addresses and the token. It exists only as long as the server is
// ready.
func TestReadyFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "ready.json")
	require.NoError(t, os.WriteFile(name, []byte("of an earlier one"), 0o600))
	r := start(t, "-ready-file", name, "-token", "key:ann@example.com:7", "-fault-seed", "42")
	var got ready
	for got.BaseURL == "" {
		body, err := os.ReadFile(name)
		if err == nil && json.Unmarshal(body, &got) != nil {
			t.Fatalf("the file is incomplete: %q", body)
		}
		runtime.Gosched()
	}
	want := ready{BaseURL: r.base, ConsoleURL: r.base + "/_mock/", Token: "key", FaultSeed: 42, PID: os.Getpid()}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	status, text, err := ask(t, "GET", got.BaseURL+"/lists", got.Token, "")
	assert.NoError(t, err)
	assert.Equal(t, 200, status, text)
	if info, err := os.Stat(name); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the file, which holds a token: %v %v", info.Mode(), err)
	}
	require.NoError(t, r.stop())
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("files that remain in the folder: %v %v", left, err)
	}
}

// The ready file never replaces a new state file or its lock, even if the two paths differ.
func TestReadyFileOfNewState(t *testing.T) {
	dir := t.TempDir()
	state := filepath.Join(dir, "state.json")
	for _, name := range []string{"state.json", "state.json.lock"} {
		alias := filepath.Join(dir, "alias")
		if err := os.Symlink(dir, alias); err != nil {
			t.Skip(err) // Windows may forbid it
		}
		err := rejected(t, "-state", state, "-ready-file", filepath.Join(alias, name))
		require.ErrorContains(t, err, "must be different files")
		require.ErrorAs(t, err, new(usageError))
		assert.NotEmpty(t, restorable(t, state))
		require.NoError(t, errors.Join(os.Remove(state), os.Remove(alias))) // the state file must not exist at the start
	}
}

// The ready file and the seed must not be the state file, its lock or its new version, even if -state names a
// symbolic link. Otherwise, a save would remove the ready file or the seed.
func TestFilesOfLinkedState(t *testing.T) {
	dir := t.TempDir()
	state, link := filepath.Join(dir, "state.json"), filepath.Join(dir, "link")
	require.NoError(t, start(t, "-state", state).stop()) // creates the file
	if err := os.Symlink(state, link); err != nil {
		t.Skip(err) // Windows may forbid it
	}
	for _, name := range []string{state, state + ".lock", state + ".new"} {
		require.NoError(t, os.WriteFile(name, []byte("{}"), 0o600))
		require.ErrorContains(t, rejected(t, "-state", link, "-ready-file", name), "must be different files", name)
		require.ErrorContains(t, rejected(t, "-state", link, "-seed", name), "must be different files", name)
	}
}

// If several servers use one ready file, the first one that ends does not remove the file of the latest one.
func TestReadyFileOfAnotherServer(t *testing.T) {
	name := filepath.Join(t.TempDir(), "ready.json")
	first := start(t, "-ready-file", name)
	second := start(t, "-ready-file", name)
	require.NoError(t, first.stop())
	body, err := os.ReadFile(name)
	require.NoError(t, err)
	assert.Contains(t, string(body), second.base)
	require.NoError(t, second.stop())
	assert.NoFileExists(t, name)
}

// With -log json, each line is a JSON record. The first record contains the addresses.
func TestLogJSON(t *testing.T) {
	dir := t.TempDir()
	seed := filepath.Join(dir, "seed.json")
	require.NoError(t, os.WriteFile(seed, []byte(`{"lists":[{"name":"News"}],"suppressed_emails":["ada@example.org"]}`), 0o600))
	r := startJSON(t, "-token", "key", "-fault-seed", "7", "-seed", seed, "-state", filepath.Join(dir, "state.json"))
	r.ask("GET", "/lists?page=1", "key", "")
	r.ask("GET", "/nowhere", "key", "")
	r.ask("POST", "/_mock/faults", "", `{"action":"status","status":503,"path":"/lists","probability":0.999999}`)
	r.ask("GET", "/lists", "key", "")
	require.NoError(t, r.stop())
	lines := strings.Split(strings.TrimSpace(r.out.String()), "\n")
	var requests []map[string]any
	for i, line := range lines {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("line %d: %v: %s", i+1, err, line)
		}
		_, err := time.Parse(time.RFC3339Nano, record["time"].(string))
		require.NoError(t, err, "line %d", i+1)
		assert.NotNil(t, record["level"], "line %d", i+1)
		if record["msg"] == "request" {
			requests = append(requests, record)
		}
	}
	require.Len(t, requests, 3)
	require.GreaterOrEqual(t, len(lines), 4)
	if got := requests[0]; got["status"] != 200.0 || got["method"] != "GET" || got["path"] != "/lists" ||
		got["query"] != "page=1" || got["operation"] != "listLists" || got["duration_ms"].(float64) < 0 || got["response"] != "" {
		t.Errorf("the first request is %v", got)
	}
	got := requests[1]
	assert.EqualValues(t, 404, got["status"])
	assert.Contains(t, got["response"].(string), `"detail"`)
	if got := requests[2]; got["status"] != 503.0 || got["fault"] != "fault-1" {
		t.Errorf("the third request is %v", got)
	}
}

// Records that are logged before the server is ready are written after the first line.
func TestLogJSONStartsWithReady(t *testing.T) {
	out := &output{}
	log, records := newLog(true, out)
	records.Warn("early")
	log.welcome(ready{BaseURL: "http://127.0.0.1:1"})
	records.Warn("late")
	var said []string
	for line := range strings.Lines(out.String()) {
		var record struct {
			Msg string `json:"msg"`
		}
		require.NoError(t, json.Unmarshal([]byte(line), &record))
		said = append(said, record.Msg)
	}
	assert.Equal(t, "ready early late", strings.Join(said, " "), "the lines")
}

func TestLogJSONQuiet(t *testing.T) {
	r := startJSON(t, "-quiet")
	r.ask("GET", "/lists", "dev-token", "")
	require.NoError(t, r.stop())
	if lines := strings.Count(r.out.String(), "\n"); lines != 1 {
		t.Errorf("%d lines, want only the first line:\n%s", lines, r.out)
	}
}

// startJSON starts the command with -log json and parses its first line.
func startJSON(t *testing.T, args ...string) running {
	t.Helper()
	r := launch(t, append([]string{"-log", "json"}, args...)...)
	r.until(func() bool { return strings.Contains(r.out.String(), "\n") })
	first, _, _ := strings.Cut(r.out.String(), "\n")
	var said struct {
		Msg string `json:"msg"`
		ready
	}
	if err := json.Unmarshal([]byte(first), &said); err != nil {
		t.Fatalf("%v: %s", err, first)
	}
	assert.Equal(t, "ready", said.Msg)
	assert.NotEmpty(t, said.Token)
	assert.Equal(t, os.Getpid(), said.PID)
	assert.Equal(t, said.BaseURL+"/_mock/", said.ConsoleURL)
	r.base = said.BaseURL
	return r
}
