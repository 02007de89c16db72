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
	f, p := start(t, "#/overview")
	p.click("nav a", "API").says(".list > header", "40")
	p.fill("#filter", "createlist").rows(1)
	p.click(".rows a", "/lists").says(".explorer", "Creates an empty list")
	p.says(".explorer .table", "name *")
	p.fill("#request-body", `{"name": "It's \"new\" <b>"}`)
	p.click(".explorer button", "Send").says(".response .chip", "201")
	p.says(".response .pairs", "x-request-id")
	p.says(".response .code", `"list_id"`)
	p.equal(f.lists(), `[It's "new" <b>]`)
	for _, program := range []string{"curl", "Go", "Node"} {
		eval[bool](p, `navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve() }, delete window.copied`)
		p.click(".explorer button", "Copy as "+program).until(`window.copied`)
		p.contains(f.execute(program, eval[string](p, `window.copied`)), "201")
	}
	p.equal(f.lists(), slices.Repeat(f.lists()[:1], 4))
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

func (f *fixture) lists() (names []string) {
	f.Helper()
	all, err := f.sdk.Lists.List(f.Context(), client.ListListsParams{})
	f.check(err)
	for _, l := range all.Data {
		names = append(names, l.Name)
	}
	return names
}

// execute runs a program that the console shows and returns its output.
func (f *fixture) execute(language, text string) string {
	f.Helper()
	file := filepath.Join(f.TempDir(), "main.go")
	f.check(os.WriteFile(file, []byte(text), 0o600))
	command := map[string][]string{
		"curl": {"bash", file}, "Go": {"go", "run", file}, "Python": {"python3", file}, "Node": {"node", "--input-type=module", "-e", text},
	}[language]
	out, err := exec.CommandContext(f.Context(), command[0], command[1:]...).CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		f.Skip(err)
	}
	if err != nil {
		f.Errorf("%s: %v: %s", language, err, out)
	}
	return string(out)
}

// TestFirstMinute: the programs that an empty inbox shows work without changes.
func TestFirstMinute(t *testing.T) {
	for language, word := range map[string]string{"curl": "curl", "Python": "urllib", "Node": "await", "Go": "Token: "} {
		t.Run(language, func(t *testing.T) {
			f, p := start(t, "#/inbox")
			p.click(".first label", language).says(".list .code", word, f.srv.URL(), f.srv.Token())
			f.execute(language, eval[string](p, `document.querySelector('.list .code').textContent`))
			p.rows(1)
		})
	}
}
