package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"example.com/emailplatform/client"
)

// openContacts returns the contacts of the file or of the sample, and a name to
// show.
func openContacts(file string) (io.ReadCloser, string, error) {
	if file == "" {
		return io.NopCloser(bytes.NewReader(sampleContacts())), sampleName, nil
	}
	f, err := os.Open(file)
	return f, filepath.Base(file), err
}

// importContacts imports all rows. A row with an invalid address is reported
// with its line and skipped; a row that is not CSV ends the import.
func (t *tour) importContacts(ctx context.Context, file string) error {
	f, name, err := openContacts(file)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // it was only read
	rows := client.ContactsFromCSV(f, client.CSVOptions{OnBadRow: func(e *client.CSVError) error {
		if e.Column == "" {
			return e
		}
		t.say("Bad row", "%s:%d: %s %v", name, e.Line, e.Column, e.Err)
		t.badRows++
		return nil
	}})
	report, err := t.Contacts.Import(ctx, t.list.ID, rows, client.ImportOptions{
		OnProgress: func(p client.ImportProgress) {
			t.say("Importing", "%d contacts done", p.Imported+p.Updated+p.Accepted+p.Rejected)
		},
		OnRejected: func(r client.ImportRejection) {
			t.say("Bad row", "%s:%d: %q is rejected: %s", name, r.Contact.Line, r.Contact.Email, r.Detail.Msg)
		},
	})
	t.counts = report.ImportCounts
	if err == nil && report.Read == 0 {
		err = errors.New("there are no rows to import")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
