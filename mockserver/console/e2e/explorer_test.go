package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/emailplatform/client"
)

// TestExplorer: each operation has documentation and a request that can be edited and sent. The page shows the
// response with its headers. The request can be copied as a command or a program.
func TestExplorer(t *testing.T) {
	w := newWorld(t)
	p := open(t, w.srv.URL(), "#/overview", desk)
	p.click("nav a", "API")
	p.says(".list > header", "40")
	p.fill("#filter", "createlist")
	p.rows(1)
	p.click(".rows a", "/lists")
	p.says(".explorer", "Creates an empty list")
	p.says(".explorer .table", "name *")
	p.fill("#request-body", `{"name": "It's \"new\" <b>"}`)
	p.click(".explorer button", "Send")
	p.says(".answer .chip", "201")
	p.says(".answer .pairs", "x-request-id")
	p.says(".answer .code", `"list_id"`)
	lists := w.lists()
	if len(lists) != 1 || lists[0] != `It's "new" <b>` {
		t.Fatalf("the lists are %q", lists)
	}
	for n, program := range []string{"curl", "Go", "Node"} {
		eval[bool](p, `navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve() }, delete window.copied`)
		p.click(".explorer button", "Copy as "+program)
		p.until(`window.copied`)
		if out, err := w.execute(program, eval[string](p, `window.copied`)); err != nil || !strings.Contains(out, "201") {
			t.Errorf("%s: %v, %s", program, err, out)
		}
		if lists := w.lists(); len(lists) != n+2 || lists[n+1] != lists[0] {
			t.Errorf("after the copy as %s the lists are %q", program, lists)
		}
	}
	p.fill("#request-body", `{"name": ""}`)
	p.click(".explorer button", "Send")
	p.says(".answer .chip.bad", "422")

	p.goTo("#/api/getList")
	p.says(".explorer", "list_id (path)")
	p.until(`document.querySelector('.explorer .pick input').value`) // the newest list
	p.click(".explorer button", "Send")
	p.says(".answer .chip", "200")
	p.goTo("#/api/importContacts")
	p.until(`document.querySelector('.explorer select')?.selectedOptions[0]?.label === 'add'`)
	p.pick("Example", "1")
	p.until(`document.getElementById('request-body').value.includes('import_to') && document.querySelector('.explorer select').value === '1'`)
	p.goTo("#/api/nothing")
	p.says(".detail", "no operation nothing")
}

func (w *world) lists() (names []string) {
	w.Helper()
	for l, err := range w.sdk.Lists.All(w.Context(), client.ListListsParams{}) {
		w.check(err)
		names = append(names, l.Name)
	}
	return names
}

// execute runs a program that the console shows.
func (w *world) execute(language, text string) (string, error) {
	w.Helper()
	file := filepath.Join(w.TempDir(), "main.go")
	w.check(os.WriteFile(file, []byte(text), 0o600))
	command := map[string][]string{
		"curl": {"bash", file}, "Go": {"go", "run", file}, "Python": {"python3", file}, "Node": {"node", "--input-type=module", "-e", text},
	}[language]
	out, err := exec.CommandContext(w.Context(), command[0], command[1:]...).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		w.Skip(err)
	}
	return string(out), err
}

// TestFirstMinute: the commands that an empty inbox shows work without changes.
func TestFirstMinute(t *testing.T) {
	for language, word := range map[string]string{"curl": "curl", "Python": "urllib", "Node": "await", "Go": "Token: "} {
		t.Run(language, func(t *testing.T) {
			w := newWorld(t)
			p := open(t, w.srv.URL(), "#/inbox", desk)
			p.click(".first label", language)
			for _, part := range []string{word, w.srv.URL(), w.srv.Token()} {
				p.says(".list .code", part)
			}
			if language == "Go" {
				p.click("button", "Send a test email") // the Go program needs the client, which is not published
			} else if out, err := w.execute(language, eval[string](p, `document.querySelector('.list .code').textContent`)); err != nil {
				t.Errorf("%v: %s", err, out)
			}
			p.rows(1)
		})
	}
}
