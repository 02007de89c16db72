package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// TestKilled: an import whose process is killed continues after the last batch that
// the platform confirmed.
func TestKilled(t *testing.T) {
	platform := mockserver.Start(mockserver.Config{})
	defer platform.Close()
	c, err := client.New(client.Config{BaseURL: platform.URL(), Token: platform.Token()})
	check(t, err)
	list, err := c.Lists.Create(t.Context(), client.ListCreate{Name: "Customers"})
	check(t, err)
	name := filepath.Join(t.TempDir(), "contacts.csv")
	check(t, writeRows(name, 12_000))
	if _, err := platform.Inject(mockserver.Fault{Operation: "importContacts", Nth: 8, Action: mockserver.FaultHang}); err != nil {
		t.Fatal(err)
	}
	confirmed := killed(t, platform, list.ID, name)
	platform.ClearFaults()
	var out bytes.Buffer
	check(t, importFile(t.Context(), c, &out, target{BaseURL: platform.URL(), ListID: list.ID}, name))
	if want := strconv.Itoa(confirmed) + " contacts were imported before"; !strings.Contains(out.String(), want) {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	page, err := c.Contacts.List(t.Context(), list.ID, client.ListContactsParams{WithCount: true})
	if err != nil || page.Pagination.Count != 12_000 {
		t.Errorf("%d contacts, %v", page.Pagination.Count, err)
	}
}

// killed runs the command and kills it before it can complete. It returns the number of contacts in its checkpoint.
func killed(t *testing.T, platform *mockserver.Server, listID int64, name string) int {
	t.Helper()
	program, err := os.Executable()
	check(t, err)
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^TestImportAsProcess$", "-test.v")
	cmd.Env = append(os.Environ(), "EMAILPLATFORM_BASE_URL="+platform.URL(), "EMAILPLATFORM_TOKEN="+platform.Token(),
		"IMPORT_LIST="+strconv.FormatInt(listID, 10), "IMPORT_FILE="+name)
	stdout, err := cmd.StdoutPipe()
	check(t, err)
	check(t, cmd.Start())
	lines := bufio.NewScanner(stdout)
	lines.Split(scanBars)
	for batches := 0; batches < 7 && lines.Scan(); batches++ { // all that precede the one that hangs
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait()
	text, err := os.ReadFile(name + ".progress")
	check(t, err)
	var saved checkpoint
	if err := json.Unmarshal(text, &saved); err != nil || saved.Confirmed < 4000 || saved.Confirmed > 11_000 {
		t.Errorf("checkpoint %s, %v", text, err)
	}
	return int(saved.Confirmed)
}

// scanBars splits the output after the percentage of each progress bar.
func scanBars(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexByte(data, '%'); i >= 0 {
		return i + 1, data[:i+1], nil
	}
	if atEOF {
		return len(data), nil, nil
	}
	return 0, nil, nil
}

// TestImportAsProcess is the command in a process of its own, for TestKilled.
func TestImportAsProcess(t *testing.T) {
	list, _ := strconv.ParseInt(os.Getenv("IMPORT_LIST"), 10, 64)
	if list == 0 {
		t.Skip("runs as a process of TestKilled")
	}
	if err := run(t.Context(), list, []string{os.Getenv("IMPORT_FILE")}); err != nil {
		t.Error(err)
	}
}

// check ends the test if there is an error.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
