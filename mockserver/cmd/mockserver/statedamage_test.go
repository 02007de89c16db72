package main

import (
	"bytes"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
)

var damages = flag.Int("state.damages", 1000, "how many bytes of a state file TestStateDamage changes, one at a time")

// savedState returns a state file with several changes, and its state.
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
		must(t, srv.Seed(strings.NewReader(seed(i))))
		save := s.rewrite
		if i > 1 {
			save = s.save
		}
		must(t, save())
	}
	s.current.discard()
	file, err := os.ReadFile(name)
	must(t, err)
	return file, restorable(t, name)
}

// TestStateDamage changes single bytes. Either the file is rejected, or the state is the same. The file itself does not
// change.
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
		must(t, os.WriteFile(name, damaged, 0o600))
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
		want   func(string) bool // of the salvaged state
		error  string            // of a start with the damaged file
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
			must(t, os.WriteFile(old, tt.damage(file), 0o600))
			err := run(t.Context(), []string{"-addr", "127.0.0.1:0", "-state", old}, &output{})
			if err == nil || !strings.Contains(err.Error(), tt.error) || !strings.Contains(err.Error(), "-state-salvage") {
				t.Errorf("a start with the damaged file: %v", err)
			}
			var out output
			must(t, run(t.Context(), []string{"-state", old, "-state-salvage", salvaged}, &out))
			if got := restorable(t, salvaged); !tt.want(got) {
				t.Errorf("%s\ngot %s", out.String(), got)
			}
			if err := run(t.Context(), []string{"-state", old, "-state-salvage", salvaged}, &out); err == nil {
				t.Error("an existing file is overwritten")
			}
		})
	}
	if err := run(t.Context(), []string{"-state-salvage", "x"}, &output{}); err == nil {
		t.Error("-state-salvage is accepted without -state")
	}
}
