package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCheckpointOfAnotherFile: another file of the same length, under the same
// name, must not go on where the first one stopped.
func TestCheckpointOfAnotherFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "contacts.csv")
	sums := map[string]string{}
	for _, text := range []string{"email\nada@example.org\n", "email\nbob@example.org\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		contacts, sum, err := survey(name)
		if err != nil || contacts != 1 {
			t.Fatal(contacts, err)
		}
		sums[text[6:9]] = sum
	}
	before := checkpoint{ListID: 81, SHA256: sums["ada"], Confirmed: 1}
	if err := before.store(name + ".progress"); err != nil {
		t.Fatal(err)
	}
	for who, same := range map[string]bool{"ada": true, "bob": false} {
		c := checkpoint{ListID: 81, SHA256: sums[who]}
		if err := c.load(name + ".progress"); (err == nil) != same || (c == before) != same {
			t.Errorf("%s: %+v, %v", who, c, err)
		}
	}
}
