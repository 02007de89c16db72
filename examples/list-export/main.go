// Command list-export writes the contacts of a list to standard output, as CSV.
//
//	EMAILPLATFORM_BASE_URL=… EMAILPLATFORM_TOKEN=… \
//	go run ./examples/list-export -list 81 -status active -attributes first_name,city > contacts.csv
//
// The command reads contacts of every status, and applies -status itself. If the platform filtered
// by status, a contact that unsubscribes during the export would shift the following pages, so the
// command could miss another contact. Because the command filters itself, it exports each contact
// exactly once, unless the contact is removed from the list during the export.
//
// The command changes fields that a spreadsheet would run as formulas. import-csv undoes these
// changes, so it imports the contacts unchanged. Memory use does not depend on the number of
// contacts.
//
// If neither -list nor the variables EMAILPLATFORM_BASE_URL and EMAILPLATFORM_TOKEN are set, the
// command exports a small list of the mock server.
package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

func main() {
	listID := flag.Int64("list", 0, "`id` of the list; requires EMAILPLATFORM_BASE_URL and EMAILPLATFORM_TOKEN; without them, a demo runs")
	status := flag.String("status", "", "export only contacts with this `status`, for example active")
	attributes := flag.String("attributes", "", "comma-separated `names` of custom attributes to export")
	flag.Parse()
	if flag.NArg() > 0 {
		fmt.Fprintf(os.Stderr, "list-export: unexpected argument %q\n", flag.Arg(0))
		os.Exit(2)
	}

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	names := strings.FieldsFunc(*attributes, func(r rune) bool { return r == ',' })
	err := run(ctx, *listID, events.ContactStatus(*status), names)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "list-export:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, listID int64, status events.ContactStatus, attributes []string) error {
	cfg := client.Config{BaseURL: os.Getenv("EMAILPLATFORM_BASE_URL"), Token: os.Getenv("EMAILPLATFORM_TOKEN")}
	if cfg.BaseURL == "" && listID != 0 {
		return errors.New("EMAILPLATFORM_BASE_URL is not set")
	}
	if cfg.BaseURL == "" {
		platform := mockserver.Start(mockserver.Config{})
		defer platform.Close()
		if err := platform.Seed(strings.NewReader(demoList)); err != nil {
			return err
		}
		cfg.BaseURL, cfg.Token, listID, attributes = platform.URL(), platform.Token(), 1, []string{"first_name"}
	}
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	n, err := export(ctx, c, os.Stdout, listID, status, attributes)
	fmt.Fprintf(os.Stderr, "contacts exported: %d\n", n)
	return err
}

// export writes the contacts with a status, or all of them, and returns their number.
func export(
	ctx context.Context, c *client.Client, out io.Writer, listID int64, status events.ContactStatus, attributes []string,
) (n int, err error) {
	w := csv.NewWriter(out)
	defer func() {
		if w.Flush(); err == nil {
			err = w.Error()
		}
	}()
	headers := append([]string{"email", "status", "subscribed_on", "tags"}, attributes...)
	if err := w.Write(headers); err != nil {
		return 0, err
	}
	for contact, err := range c.Contacts.All(ctx, listID, client.ListContactsParams{WithCount: true}, client.Prefetch(3)) {
		if err != nil {
			return n, err
		}
		if status != "" && contact.Status != status {
			continue
		}
		if err := w.Write(client.CSVRow(contact, headers...)); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

const demoList = `{"lists": [{"list_id": 1, "name": "Newsletter", "contacts": [
	{"email": "ada@example.org", "tags": ["vip"], "custom_attributes": [{"name": "first_name", "value": "Ada"}]},
	{"email": "bob@example.org", "custom_attributes": [{"name": "first_name", "value": "Bob"}]}
]}]}`
