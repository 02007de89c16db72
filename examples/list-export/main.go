// Command list-export writes the contacts of a list to standard output, as CSV.
//
//	EMAILPLATFORM_BASE_URL=… EMAILPLATFORM_TOKEN=… \
//	go run ./examples/list-export -list 81 -status active -attributes first_name,city > contacts.csv
//
// Each contact that stays on the list is exported once, even if others unsubscribe
// in the meantime: the command reads contacts of every status and selects those with
// -status itself. Memory use does not depend on the number of contacts. Without the
// two variables and -list it exports a small list of the mock server.
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
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
)

func main() {
	listID := flag.Int64("list", 0, "the `id` of the list; wants EMAILPLATFORM_BASE_URL and EMAILPLATFORM_TOKEN")
	status := flag.String("status", "", "export only contacts with this `status`, for example active")
	attributes := flag.String("attributes", "", "custom attributes to export, `name,name`")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, *listID, events.ContactStatus(*status), splitNames(*attributes))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "list-export:", err)
		os.Exit(1)
	}
}

func splitNames(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' })
}

func run(ctx context.Context, listID int64, status events.ContactStatus, attributes []string) error {
	cfg := client.Config{BaseURL: os.Getenv("EMAILPLATFORM_BASE_URL"), Token: os.Getenv("EMAILPLATFORM_TOKEN")}
	if cfg.BaseURL == "" && listID != 0 {
		return errors.New("EMAILPLATFORM_BASE_URL is not set")
	}
	if cfg.BaseURL == "" {
		demo := startDemo()
		defer demo.Close()
		cfg.BaseURL, cfg.Token = demo.URL(), demo.Token()
		listID, attributes = demoList(demo), []string{"first_name"}
	}
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	n, err := export(ctx, c, os.Stdout, listID, status, attributes)
	fmt.Fprintf(os.Stderr, "%d contacts exported\n", n)
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
	if err := w.Write(append([]string{"email", "status", "subscribed_on", "tags"}, attributes...)); err != nil {
		return 0, err
	}
	for contact, err := range c.Contacts.All(ctx, listID, client.ListContactsParams{}, client.Prefetch(3)) {
		if err != nil {
			return n, err
		}
		if status != "" && contact.Status != status {
			continue
		}
		if err := w.Write(row(contact, attributes)); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func row(contact client.Contact, attributes []string) []string {
	subscribed := ""
	if !contact.SubscribedOn.IsZero() {
		subscribed = contact.SubscribedOn.Format(time.RFC3339)
	}
	fields := []string{contact.Email, string(contact.Status), subscribed, strings.Join(contact.Tags, ";")}
	for _, name := range attributes {
		fields = append(fields, contact.CustomAttributes.Get(name))
	}
	return fields
}
