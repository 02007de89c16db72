package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/internal/tests/recipes"
	"example.com/emailplatform/mockserver"
)

// TestKilled: after its process is killed, an import continues after the last batch that the platform confirmed.
func TestKilled(t *testing.T) {
	platform := mockserver.Start(mockserver.Config{})
	defer platform.Close()
	c, err := client.New(client.Config{BaseURL: platform.URL(), Token: platform.Token()})
	check(t, err)
	list, err := c.Lists.Create(t.Context(), client.ListCreate{Name: "Customers"})
	check(t, err)
	name := filepath.Join(t.TempDir(), "contacts.csv")
	check(t, writeRows(name, 12_000))
	recipes.Inject(t, platform, mockserver.Fault{Operation: "importContacts", Nth: 8, Action: mockserver.FaultHang})
	confirmed := killed(t, platform, list.ID, name)
	platform.ClearFaults()
	var out bytes.Buffer
	check(t, importFile(t.Context(), c, &out, target{BaseURL: platform.URL(), ListID: list.ID}, name))
	if want := strconv.Itoa(confirmed) + " contacts were imported by earlier runs"; !strings.Contains(out.String(), want) {
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
	progress := bufio.NewReader(stdout)
	for range 7 { // the eighth batch hangs
		_, err := progress.ReadString('%')
		check(t, err)
	}
	check(t, cmd.Process.Kill())
	_ = cmd.Wait()
	text, err := os.ReadFile(name + ".progress")
	check(t, err)
	var saved checkpoint
	if err := json.Unmarshal(text, &saved); err != nil || saved.Confirmed < 4000 || saved.Confirmed > 11_000 {
		t.Errorf("checkpoint %s, %v", text, err)
	}
	return int(saved.Confirmed)
}

// TestImportAsProcess runs the command in a separate process for TestKilled.
func TestImportAsProcess(t *testing.T) {
	list, _ := strconv.ParseInt(os.Getenv("IMPORT_LIST"), 10, 64)
	if list == 0 {
		t.Skip("runs as a process of TestKilled")
	}
	if err := run(t.Context(), list, []string{os.Getenv("IMPORT_FILE")}); err != nil {
		t.Error(err)
	}
}

var check = recipes.Check

// TestCheckpointOfAnotherImport: a checkpoint is valid only for the same file, platform and list. Lists of different
// platforms can have the same id.
func TestCheckpointOfAnotherImport(t *testing.T) {
	platform := mockserver.New(mockserver.Config{})
	defer platform.Close()
	c := recipes.Client(t, platform)
	list, err := c.Lists.Create(t.Context(), client.ListCreate{Name: "Customers"})
	check(t, err)
	name := filepath.Join(t.TempDir(), "contacts.csv")
	check(t, writeRows(name, 10))
	_, sum, err := inspect(name)
	check(t, err)
	for what, change := range map[string]func(*target){
		"the same":               func(*target) {},
		"another file":           func(to *target) { to.SHA256 = strings.Repeat("0", 64) },
		"another platform":       func(to *target) { to.BaseURL = "https://staging.test" },
		"a list of another time": func(to *target) { to.ListCreatedOn = time.Unix(2, 0).UTC() },
		"a list of another id":   func(to *target) { to.ListID++ },
	} {
		saved := checkpoint{target{"https://mail.test", list.ID, list.CreatedOn, sum}, 9}
		change(&saved.target)
		check(t, saved.store(name+".progress"))
		var out bytes.Buffer
		err := importFile(t.Context(), c, &out, target{BaseURL: "https://mail.test", ListID: list.ID}, name)
		rejected := err != nil && strings.Contains(err.Error(), "the checkpoint of another import")
		if same := what == "the same"; rejected == same || strings.Contains(out.String(), "9 contacts were imported by earlier runs") != same {
			t.Errorf("%s: %v, %s", what, err, &out)
		}
	}
}

// TestImportUnderFaults: an import, started again until it succeeds, imports each row.
func TestImportUnderFaults(t *testing.T) {
	recipes.UnderFaults(t, []string{"importContacts", "getList"}, func(t *testing.T, p *mockserver.Server) func() {
		c := recipes.Client(t, p)
		list, err := c.Lists.Create(t.Context(), client.ListCreate{Name: "Customers"})
		check(t, err)
		name := filepath.Join(t.TempDir(), "contacts.csv")
		check(t, writeRows(name, 1500))
		return func() {
			recipes.Repeat(t, func() error {
				return importFile(t.Context(), c, io.Discard, target{BaseURL: p.URL(), ListID: list.ID}, name)
			})
			found := map[string]bool{}
			for contact, err := range c.Contacts.All(t.Context(), list.ID, client.ListContactsParams{}) {
				if found[contact.Email] = true; err != nil {
					t.Fatal(err)
				}
			}
			for i := range 1500 {
				if address := fmt.Sprintf("customer%05d@example.org", i); !found[address] {
					t.Fatalf("%s is missing", address)
				}
			}
		}
	})
}
