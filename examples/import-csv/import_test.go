package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
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
	"example.com/emailplatform/events"
	"example.com/emailplatform/examples/faulttest"
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
	faulttest.Inject(t, platform, mockserver.Fault{Operation: "importContacts", Nth: 8, Action: mockserver.FaultHang})
	confirmed := killed(t, platform, list.ID, name)
	platform.ClearFaults()
	var out bytes.Buffer
	check(t, importFile(t.Context(), c, &out, target{BaseURL: platform.URL(), ListID: list.ID}, source{name: name}))
	if want := "contacts imported by earlier runs: " + strconv.Itoa(confirmed); !strings.Contains(out.String(), want) {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	page, err := c.Contacts.List(t.Context(), list.ID, client.ListContactsParams{WithCount: true})
	if err != nil || page.Pagination.Count != 12_000 {
		t.Errorf("%d contacts, %v", page.Pagination.Count, err)
	}
}

// killed runs the command, kills it before it can complete, and returns the number of contacts in its checkpoint.
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
	if err := run(t.Context(), list, []string{os.Getenv("IMPORT_FILE")}, client.CSVOptions{}); err != nil {
		t.Error(err)
	}
}

var check = faulttest.Check

// TestCheckpointOfAnotherImport: a checkpoint is valid only for the same file, platform and list. The id of a list
// is not enough, because another platform can use the same id.
func TestCheckpointOfAnotherImport(t *testing.T) {
	platform := mockserver.New(mockserver.Config{})
	defer platform.Close()
	c := faulttest.Client(t, platform)
	list, err := c.Lists.Create(t.Context(), client.ListCreate{Name: "Customers"})
	check(t, err)
	name := filepath.Join(t.TempDir(), "contacts.csv")
	check(t, writeRows(name, 10))
	from := source{name: name}
	file, err := os.Open(name)
	check(t, err)
	_, sum, err := inspect(file, from)
	check(t, errors.Join(err, file.Close()))
	for what, change := range map[string]func(*target){
		"the same":               func(*target) {},
		"another file":           func(to *target) { to.SHA256 = strings.Repeat("0", 64) },
		"another platform":       func(to *target) { to.BaseURL = "https://staging.test" },
		"a list of another time": func(to *target) { to.ListCreatedOn = time.Unix(2, 0).UTC() },
		"a list of another id":   func(to *target) { to.ListID++ },
		"other options":          func(to *target) { to.CSV = source{csv: client.CSVOptions{Status: "-"}}.format() },
	} {
		saved := checkpoint{target{"https://mail.test", list.ID, list.CreatedOn, sum, from.format()}, 9}
		change(&saved.target)
		check(t, saved.store(name+".progress"))
		var out bytes.Buffer
		err := importFile(t.Context(), c, &out, target{BaseURL: "https://mail.test", ListID: list.ID}, from)
		rejected := err != nil && strings.Contains(err.Error(), "the checkpoint of another import")
		if same := what == "the same"; rejected == same || strings.Contains(out.String(), "contacts imported by earlier runs: 9") != same {
			t.Errorf("%s: %v, %s", what, err, &out)
		}
	}
}

// TestImportUnderFaults: an import, started again until it succeeds, imports each row.
func TestImportUnderFaults(t *testing.T) {
	faulttest.UnderFaults(t, []string{"importContacts", "getList"}, func(t *testing.T, p *mockserver.Server) func() {
		c := faulttest.Client(t, p)
		list, err := c.Lists.Create(t.Context(), client.ListCreate{Name: "Customers"})
		check(t, err)
		name := filepath.Join(t.TempDir(), "contacts.csv")
		check(t, writeRows(name, 1100))
		return func() {
			faulttest.Repeat(t, func() error {
				return importFile(t.Context(), c, io.Discard, target{BaseURL: p.URL(), ListID: list.ID}, source{name: name})
			})
			found := map[string]bool{}
			for contact, err := range c.Contacts.All(t.Context(), list.ID, client.ListContactsParams{}) {
				if found[contact.Email] = true; err != nil {
					t.Fatal(err)
				}
			}
			for i := range 1100 {
				if address := fmt.Sprintf("customer%05d@example.org", i); !found[address] {
					t.Fatalf("%s is missing", address)
				}
			}
		}
	})
}

// imported imports a file into a new list, and returns the output of the command.
func imported(t *testing.T, text string, args ...string) (out string, err error) {
	t.Helper()
	platform := mockserver.New(mockserver.Config{})
	t.Cleanup(func() { platform.Close() })
	c := faulttest.Client(t, platform)
	list, err := c.Lists.Create(t.Context(), client.ListCreate{Name: "Customers"})
	check(t, err)
	name := filepath.Join(t.TempDir(), "contacts.csv")
	check(t, os.WriteFile(name, []byte(text), 0o600))
	return importInto(t, c, list.ID, name, args...)
}

func importInto(t *testing.T, c *client.Client, list int64, name string, args ...string) (out string, err error) {
	t.Helper()
	flags := flag.NewFlagSet("import-csv", flag.ContinueOnError)
	options := csvFlags(flags)
	check(t, flags.Parse(args))
	opts, err := options()
	check(t, err)
	var b bytes.Buffer
	err = importFile(t.Context(), c, &b, target{ListID: list}, source{name, opts})
	return b.String(), err
}

// TestResult: the summary counts all rows. If a row was skipped or rejected, and no row was imported or updated,
// the command returns an error.
func TestResult(t *testing.T) {
	const windows1252 = "email,name\na@example.org,M\xfcller\nb@example.org,S\xf8ren\n"
	for name, tt := range map[string]struct{ file, summary, err string }{
		"all rows skipped":  {windows1252, "0 imported, 0 updated, 0 rejected, 2 skipped, 0 not active", "no row was imported"},
		"all rows rejected": {"email\nno address\n", "0 imported, 0 updated, 1 rejected, 0 skipped, 0 not active", "no row was imported"},
		"one row imported":  {windows1252 + "c@example.org,\n", "1 imported, 0 updated, 0 rejected, 2 skipped, 0 not active", ""},
		"no rows":           {"email\n", "0 imported, 0 updated, 0 rejected, 0 skipped, 0 not active", ""},
		"no active contact": {"email,status\na@example.org,deleted\n", "0 imported, 0 updated, 0 rejected, 0 skipped, 1 not active", ""},
		"semicolons":        {"email;name\na@example.org;Ada\n", "1 imported, 0 updated, 0 rejected, 0 skipped, 0 not active", ""},
	} {
		out, err := imported(t, tt.file)
		if !strings.Contains(out, tt.summary) || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
		if strings.Contains(out, "fields are separated by ';'") != (name == "semicolons") {
			t.Errorf("%s: the detected separator is not reported:\n%s", name, out)
		}
	}
}

// TestPrintable: the platform's reason for a rejection cannot control the terminal.
func TestPrintable(t *testing.T) {
	platform := mockserver.New(mockserver.Config{})
	defer platform.Close()
	list, err := faulttest.Client(t, platform).Lists.Create(t.Context(), client.ListCreate{Name: "Customers"})
	check(t, err)
	name := filepath.Join(t.TempDir(), "contacts.csv")
	check(t, os.WriteFile(name, []byte("email\nada@example.org\nno address\n"), 0o600))
	out, err := importInto(t, faulttest.Replacing(t, platform, `"msg":"`, `"msg":"\u001b[2J`), list.ID, name)
	if err != nil || strings.Contains(out, "\x1b") || !strings.Contains(out, `line 3: "no address": "\x1b[2J`) {
		t.Errorf("%v, %q", err, out)
	}
}

// TestFlags: each option of a CSV file has a flag.
func TestFlags(t *testing.T) {
	out, err := imported(t, "Adresse|Gruppe|Thema|Stand|id\na@example.org|vip+new|go|active|7\nb@example.org||||8\n", "-comma", "|", "-email", "adresse",
		"-tags", "gruppe", "-interests", "thema", "-status", "stand", "-ignore", "id,ID2", "-separator", "+")
	if err != nil || !strings.Contains(out, "2 imported") {
		t.Errorf("%v\n%s", err, out)
	}
	if _, err := imported(t, "email\tn\na@example.org\t1\n", "-comma", "tab"); err != nil {
		t.Error(err)
	}
	flags := flag.NewFlagSet("import-csv", flag.ContinueOnError)
	options := csvFlags(flags)
	check(t, flags.Parse([]string{"-comma", ";;"}))
	if _, err := options(); err == nil || !strings.Contains(err.Error(), `-comma must be one character or tab, got ";;"`) {
		t.Error(err)
	}
}

// TestNotRegular: a directory or a pipe cannot be read twice.
func TestNotRegular(t *testing.T) {
	r, w, err := os.Pipe()
	check(t, err)
	check(t, w.Close())
	defer r.Close()
	_, _, err = inspect(r, source{})
	if err == nil || !strings.Contains(err.Error(), "must be a regular file") {
		t.Error(err)
	}
}

// TestExportedList: importing the file of list-export changes no contact.
func TestExportedList(t *testing.T) {
	platform := mockserver.New(mockserver.Config{})
	defer platform.Close()
	c := faulttest.Client(t, platform)
	list, err := c.Lists.Create(t.Context(), client.ListCreate{Name: "Customers"})
	check(t, err)
	for _, address := range []string{"ada@example.org", "gone@example.org", "+left@example.org"} {
		contact, err := c.Contacts.Create(t.Context(), list.ID, client.ContactCreate{
			Email: address, Tags: []string{"=a;b", "c"}, CustomAttributes: client.Attributes{{Name: "n", Value: "=1+1"}},
		})
		check(t, err)
		switch address {
		case "gone@example.org":
			check(t, c.Contacts.Delete(t.Context(), list.ID, contact.ID))
		case "+left@example.org":
			check(t, c.Contacts.Unsubscribe(t.Context(), list.ID, contact.ID))
		}
	}
	export := func() string {
		var b strings.Builder
		w := csv.NewWriter(&b)
		headers := []string{"email", "status", "subscribed_on", "tags", "n"}
		check(t, w.Write(headers))
		for contact, err := range c.Contacts.All(t.Context(), list.ID, client.ListContactsParams{}) {
			check(t, err)
			if contact.Status == events.ContactStatusActive && len(contact.CustomAttributes) != 1 {
				t.Errorf("%s has the attributes %v", contact.Email, contact.CustomAttributes)
			}
			check(t, w.Write(client.CSVRow(contact, headers...)))
		}
		w.Flush()
		return b.String()
	}
	before := export()
	name := filepath.Join(t.TempDir(), "contacts.csv")
	check(t, os.WriteFile(name, []byte(before), 0o600))
	out, err := importInto(t, c, list.ID, name)
	if err != nil || !strings.Contains(out, "0 imported, 1 updated, 0 rejected, 0 skipped, 2 not active") || export() != before {
		t.Errorf("%v\n%s\n%s\nwant\n%s", err, out, export(), before)
	}
}
