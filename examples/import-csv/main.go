// Command import-csv imports the rows of a CSV file into a list, and resumes
// where it stopped when it is started again.
//
//	EMAILPLATFORM_BASE_URL=… EMAILPLATFORM_TOKEN=… \
//	go run ./examples/import-csv -list 81 contacts.csv
//
// The header row contains the column "email" and optionally "tags". Every other
// column is a custom attribute. Invalid rows are reported with their line and
// skipped. Ctrl-C stops the import; the checkpoint is in contacts.csv.progress. It
// is valid only for the same file, platform and list.
// Without arguments the command uses the mock server and a file of 25,000 rows,
// and stops once.
package main

import (
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
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *listID, flag.Args())
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

func run(ctx context.Context, listID int64, args []string) error {
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
	return importFile(ctx, c, os.Stdout, target{BaseURL: cfg.BaseURL, ListID: listID}, args[0])
}

// importFile imports the rows of a file that were not confirmed before.
func importFile(ctx context.Context, c *client.Client, out io.Writer, to target, name string) error {
	total, sum, err := inspect(name) // reports errors in the file before anything is sent
	if err != nil {
		return err
	}
	list, err := c.Lists.Get(ctx, to.ListID)
	if err != nil {
		return err
	}
	to.ListCreatedOn, to.SHA256 = list.CreatedOn, sum
	saved := checkpoint{target: to}
	path := name + ".progress"
	if err := saved.load(path); err != nil {
		return err
	}
	if saved.Confirmed > 0 {
		fmt.Fprintf(out, "%d contacts were imported by earlier runs\n", saved.Confirmed)
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	bad := func(e *client.CSVError) error {
		fmt.Fprintf(out, "\r%s: %v\n", name, e)
		return nil
	}
	report, err := c.Contacts.Import(ctx, to.ListID, client.ContactsFromCSV(f, client.CSVOptions{OnBadRow: bad}), client.ImportOptions{
		Concurrency: 4,
		Skip:        saved.Confirmed,
		OnCheckpoint: func(confirmed int64) error {
			saved.Confirmed = confirmed
			return saved.store(path)
		},
		OnProgress: func(p client.ImportProgress) { fmt.Fprint(out, bar(p.Confirmed, total)) },
		OnRejected: func(r client.ImportRejection) {
			fmt.Fprintf(out, "\r%s: line %d: %s: %s\n", name, r.Contact.Line, r.Contact.Email, r.Detail.Msg)
		},
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d imported, %d updated, %d rejected\n", report.Imported, report.Updated+report.Accepted, report.Rejected)
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) { // an empty file has no checkpoint
		return err
	}
	return nil
}

// inspect returns the number of contacts in a file and the hash of the file. An error
// contains the line number.
func inspect(name string) (contacts int64, sum string, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, "", err
	}
	defer f.Close() //nolint:errcheck // it was only read
	digest := sha256.New()
	skip := func(*client.CSVError) error { return nil }
	for _, err := range client.ContactsFromCSV(io.TeeReader(f, digest), client.CSVOptions{OnBadRow: skip}) {
		if err != nil {
			return 0, "", fmt.Errorf("%s: %w", name, err)
		}
		contacts++
	}
	return contacts, hex.EncodeToString(digest.Sum(nil)), nil
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
	err = importFile(first, c, &stopAt{Writer: os.Stdout, text: strings.Repeat("=", 19), stop: cancel}, to, name)
	switch {
	case err == nil:
		return errors.New("the import ended before the demo could interrupt it")
	case !errors.Is(err, context.Canceled) || ctx.Err() != nil:
		return err
	}
	fmt.Println("\ninterrupted, as with Ctrl-C; resuming:")
	return importFile(ctx, c, os.Stdout, to, name)
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
