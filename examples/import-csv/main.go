// Command import-csv imports the rows of a CSV file into a list, and resumes
// where it stopped when it is started again.
//
//	EMAILPLATFORM_BASE_URL=… EMAILPLATFORM_TOKEN=… \
//	go run ./examples/import-csv -list 81 contacts.csv
//
// The header row contains the column "email" and optionally "tags", "interests" and
// "status". Every other column is a custom attribute. Flags change the names of these
// columns; -h lists the flags.
//
// The command skips invalid rows and reports them with their line. It also skips contacts
// with a status other than active, so deleted contacts in a file from list-export do not
// become active. If all rows were skipped or rejected, the exit status is 1.
//
// Ctrl-C stops the import, and the next run continues at the checkpoint in
// contacts.csv.progress. The checkpoint is valid only for the same file, flags, platform and
// list. The command first reads the whole file to find errors, so the file cannot be a pipe.
// Memory use does not depend on the number of rows.
//
// Without arguments the command uses the mock server and a file of 25,000 rows,
// and stops once.
package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

func main() {
	listID := flag.Int64("list", 0, "`id` of the list; requires EMAILPLATFORM_BASE_URL and EMAILPLATFORM_TOKEN; without them, a demo runs")
	options := csvFlags(flag.CommandLine)
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "Usage: import-csv -list id [flags] file")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 1 {
		fmt.Fprintf(os.Stderr, "import-csv: unexpected argument %q\n", flag.Arg(1))
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	opts, err := options()
	if err == nil {
		err = run(ctx, *listID, flag.Args(), opts)
	}
	stop()
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "\nimport-csv: interrupted; run the command again to continue")
		os.Exit(130)
	case err != nil:
		fmt.Fprintln(os.Stderr, "import-csv:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, listID int64, args []string, opts client.CSVOptions) error {
	cfg := client.Config{BaseURL: os.Getenv("EMAILPLATFORM_BASE_URL"), Token: os.Getenv("EMAILPLATFORM_TOKEN")}
	switch {
	case cfg.BaseURL == "" && listID == 0 && len(args) == 0:
		return demonstrate(ctx)
	case cfg.BaseURL == "":
		return errors.New("EMAILPLATFORM_BASE_URL is not set")
	case len(args) != 1 || listID == 0:
		return errors.New("-list ID and one file are required")
	}
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	return importFile(ctx, c, os.Stdout, target{BaseURL: cfg.BaseURL, ListID: listID}, source{args[0], opts})
}

// source is a file and its format.
type source struct {
	name string
	csv  client.CSVOptions
}

// importFile imports the rows of a file that were not confirmed before.
func importFile(ctx context.Context, c *client.Client, out io.Writer, to target, from source) error {
	f, err := os.Open(from.name)
	if err != nil {
		return err
	}
	defer f.Close()                     //nolint:errcheck // it was only read
	total, sum, err := inspect(f, from) // reports errors in the file before anything is sent
	if err != nil {
		return fmt.Errorf("%s: %w", from.name, err)
	}
	list, err := c.Lists.Get(ctx, to.ListID)
	if err != nil {
		return err
	}
	to.ListCreatedOn, to.SHA256, to.CSV = list.CreatedOn, sum, from.format()
	saved := checkpoint{target: to}
	path := from.name + ".progress"
	if err := saved.load(path); err != nil {
		return err
	}
	before := saved.Confirmed
	if before > 0 {
		fmt.Fprintf(out, "contacts imported by earlier runs: %d\n", before)
	}
	rows := reported{out: out, name: from.name}
	report, err := c.Contacts.Import(ctx, to.ListID, client.ContactsFromCSV(f, rows.options(from.csv)), client.ImportOptions{
		Concurrency: 4,
		Skip:        before,
		OnCheckpoint: func(confirmed int64) error {
			saved.Confirmed = confirmed
			return saved.store(path)
		},
		OnProgress: func(p client.ImportProgress) { fmt.Fprint(out, bar(p.Confirmed, total)) },
		OnRejected: func(r client.ImportRejection) {
			fmt.Fprintf(out, "\r%s: line %d: %q: %q\n", from.name, r.Contact.Line, r.Contact.Email, r.Detail.Msg)
		},
	})
	if err != nil {
		return err
	}
	err = rows.summarize(report, before)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // an empty file has no checkpoint
		return err
	}
	return err
}

// format describes the options, because they change the positions of the contacts.
func (s source) format() string {
	o := s.csv
	return fmt.Sprintf("%q", append([]string{string(o.Comma), o.Email, o.Tags, o.Interests, o.Status, o.Separator}, o.Ignore...))
}

// reported prints what happens to the rows of a file.
type reported struct {
	out               io.Writer
	name              string
	skipped, inactive int64
}

// summarize prints the counts of this run. If rows were rejected or skipped, and neither this run nor
// an earlier one imported or updated a row, it returns an error.
func (r *reported) summarize(report *client.ImportReport, before int64) error {
	updated := report.Updated + report.Accepted
	fmt.Fprintf(r.out, "\n%d imported, %d updated, %d rejected, %d skipped, %d not active\n",
		report.Imported, updated, report.Rejected, r.skipped, r.inactive)
	if before+report.Imported+updated == 0 && report.Rejected+r.skipped > 0 {
		return fmt.Errorf("%s: no row was imported", r.name)
	}
	return nil
}

// options returns options that report to r.
func (r *reported) options(o client.CSVOptions) client.CSVOptions {
	o.OnComma = func(comma rune) { fmt.Fprintf(r.out, "%s: fields are separated by %q\n", r.name, comma) }
	o.OnBadRow = func(e *client.CSVError) error {
		if errors.Is(e, client.ErrNotActive) {
			r.inactive++
			return nil
		}
		r.skipped++
		fmt.Fprintf(r.out, "\r%s: %v\n", r.name, e)
		return nil
	}
	return o
}

// inspect returns the number of contacts in a file and the hash of the file, and then
// rewinds the file. An error in a row contains the line number.
func inspect(f *os.File, from source) (contacts int64, sum string, err error) {
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return 0, "", cmp.Or(err, errors.New("must be a regular file, because it is also read before the import; write the output of the pipe to a file first"))
	}
	digest := sha256.New()
	rows := reported{out: io.Discard}
	for _, err := range client.ContactsFromCSV(io.TeeReader(f, digest), rows.options(from.csv)) {
		if err != nil {
			return 0, "", err
		}
		contacts++
	}
	_, err = f.Seek(0, io.SeekStart)
	return contacts, hex.EncodeToString(digest.Sum(nil)), err
}

// bar returns a progress bar. Each bar overwrites the previous one.
func bar(done, total int64) string {
	const width = 40
	share := 1.0
	if total > 0 {
		share = float64(done) / float64(total)
	}
	filled := int(share * width)
	return fmt.Sprintf("\r[%s%s] %3.0f %% of %d ", strings.Repeat("=", filled), strings.Repeat(" ", width-filled), share*100, total)
}

// demonstrate imports a file into the mock server, stops after half of the rows, and resumes.
func demonstrate(ctx context.Context) error {
	platform := mockserver.Start(mockserver.Config{})
	defer platform.Close()
	c, err := client.New(client.Config{BaseURL: platform.URL(), Token: platform.Token()})
	if err != nil {
		return err
	}
	list, err := c.Lists.Create(ctx, client.ListCreate{Name: "Customers"})
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "import-csv")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is in the system's temporary folder
	name := filepath.Join(dir, "contacts.csv")
	if err := writeRows(name, 25_000); err != nil {
		return err
	}
	to := target{BaseURL: platform.URL(), ListID: list.ID}
	first, cancel := context.WithCancel(ctx)
	defer cancel()
	err = importFile(first, c, &stopAt{Writer: os.Stdout, text: strings.Repeat("=", 19), stop: cancel}, to, source{name: name})
	switch {
	case err == nil:
		return errors.New("the import ended before the demo could interrupt it")
	case !errors.Is(err, context.Canceled) || ctx.Err() != nil:
		return err
	}
	fmt.Println("\ninterrupted, as with Ctrl-C; resuming:")
	return importFile(ctx, c, os.Stdout, to, source{name: name})
}

func writeRows(name string, n int) error {
	var b strings.Builder
	b.WriteString("email,first_name,tags\n")
	for i := range n {
		fmt.Fprintf(&b, "customer%05d@example.org,Customer %d,imported\n", i, i)
	}
	return os.WriteFile(name, []byte(b.String()), 0o600)
}

// stopAt calls stop when text is written.
type stopAt struct {
	io.Writer
	text string
	stop func()
}

func (w *stopAt) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.text) {
		w.stop()
	}
	return w.Writer.Write(p)
}
