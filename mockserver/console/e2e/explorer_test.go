package e2e

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"example.com/emailplatform/client"
)

// TestExplorer: each operation has documentation and a request that can be edited and sent. The page shows the
// response with its headers. The request can be copied as a command or a program.
func TestExplorer(t *testing.T) {
	w, p := start(t, "#/overview")
	p.click("nav a", "API").says(".list > header", "40")
	p.fill("#filter", "createlist").rows(1)
	p.click(".rows a", "/lists").says(".explorer", "Creates an empty list")
	p.says(".explorer .table", "name *")
	p.fill("#request-body", `{"name": "It's \"new\" <b>"}`)
	p.click(".explorer button", "Send").says(".response .chip", "201")
	p.says(".response .pairs", "x-request-id")
	p.says(".response .code", `"list_id"`)
	p.equal(w.lists(), `[It's "new" <b>]`)
	for _, program := range []string{"curl", "Go", "Node"} {
		eval[bool](p, `navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve() }, delete window.copied`)
		p.click(".explorer button", "Copy as "+program).until(`window.copied`)
		p.contains(w.execute(program, eval[string](p, `window.copied`)), "201")
	}
	p.equal(w.lists(), slices.Repeat(w.lists()[:1], 4))
	p.fill("#request-body", `{"name": ""}`)
	p.click(".explorer button", "Send").says(".response .chip.bad", "422")

	p.goTo("#/api/getList").says(".explorer", "list_id (path)")
	p.until(`document.querySelector('.explorer .pick input').value`) // the newest list
	p.click(".explorer button", "Send").says(".response .chip", "200")
	p.goTo("#/api/importContacts")
	p.until(`document.querySelector('.explorer select')?.selectedOptions[0]?.label === 'add'`)
	p.pick("Example", "1")
	p.until(`document.getElementById('request-body').value.includes('import_to') && document.querySelector('.explorer select').value === '1'`)
	p.goTo("#/api/nothing").says(".detail", "no operation nothing")
}

func (w *world) lists() (names []string) {
	w.Helper()
	all, err := w.sdk.Lists.List(w.Context(), client.ListListsParams{})
	w.check(err)
	for _, l := range all.Data {
		names = append(names, l.Name)
	}
	return names
}

// execute runs a program that the console shows and returns its output.
func (w *world) execute(language, text string) string {
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
	if err != nil {
		w.Errorf("%s: %v: %s", language, err, out)
	}
	return string(out)
}

// TestFirstMinute: the programs that an empty inbox shows work without changes.
func TestFirstMinute(t *testing.T) {
	for language, word := range map[string]string{"curl": "curl", "Python": "urllib", "Node": "await", "Go": "Token: "} {
		t.Run(language, func(t *testing.T) {
			w, p := start(t, "#/inbox")
			p.click(".first label", language).says(".list .code", word, w.srv.URL(), w.srv.Token())
			w.execute(language, eval[string](p, `document.querySelector('.list .code').textContent`))
			p.rows(1)
		})
	}
}
