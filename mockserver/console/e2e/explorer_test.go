package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/emailplatform/client"
)

// TestExplorer: each operation has its documentation and a request that can be edited and sent. The page shows the response with its
// headers. The request can be copied as a command or a program.
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
		w.runs(p, program)
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

// runs copies the request that is shown as a program, and runs it.
func (w *world) runs(p *page, program string) {
	w.Helper()
	eval[bool](p, `navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve() }, delete window.copied`)
	p.click(".explorer button", "Copy as "+program)
	p.until(`window.copied`)
	file := filepath.Join(w.TempDir(), "main.go")
	w.check(os.WriteFile(file, []byte(eval[string](p, `window.copied`)), 0o600))
	words := map[string][]string{"curl": {"sh", file}, "Go": {"go", "run", file}, "Node": {"node", "--input-type=module", "-e", eval[string](p, `window.copied`)}}[program]
	if _, err := exec.LookPath(map[string]string{"curl": "curl", "Go": "go", "Node": "node"}[program]); err != nil {
		w.Skipf("%v", err)
	}
	out, err := exec.CommandContext(w.Context(), words[0], words[1:]...).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "201") {
		w.Errorf("%s: %v, %s", fmt.Sprint(words[:2]), err, out)
	}
}
