package e2e

import (
	"context"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// An empty inbox says how to send something: what it says works as it stands.
func TestFirstMinute(t *testing.T) {
	w := newWorld(t)
	p := open(t, w.srv.URL(), "#/inbox", desk)
	p.says(".list .code", w.srv.URL())
	for i, tt := range []struct {
		language string
		command  []string
	}{{"curl", []string{"bash", "-c"}}, {"Python", []string{"python3", "-c"}}, {"Node", []string{"node", "--input-type=module", "-e"}}} {
		p.click(".first label", tt.language)
		p.says(".list .code", map[string]string{"curl": "curl", "Python": "urllib", "Node": "await"}[tt.language])
		p.says(".list .code", w.srv.Token())
		text := eval[string](p, `document.querySelector('.list .code').textContent`)
		if _, err := exec.LookPath(tt.command[0]); err != nil {
			t.Logf("%s is not here: its snippet is not run", tt.command[0])
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		out, err := exec.CommandContext(ctx, tt.command[0], append(tt.command[1:], text)...).CombinedOutput()
		if n := len(w.srv.Outbox()); err != nil || n != 1 {
			t.Errorf("%d, %s: %v, %d messages, want 1: %s", i, tt.language, err, n, out)
		}
		p.rows(1)
		w.srv.Clear()
		p.says(".list", "Nothing sent yet")
	}
	p.click(".first label", "Go")
	p.says(".list .code", "Token: "+strconv.Quote(w.srv.Token()))
	p.click("button", "Send a test email")
	p.says(".rows", "ada@example.org")
}
