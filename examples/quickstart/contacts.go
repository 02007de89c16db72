package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"example.com/emailplatform/client"
)

// importContacts imports all rows. If a row has an invalid address, it is reported with its
// line and skipped. If a row is not CSV, the import ends.
func (t *tour) importContacts(ctx context.Context, file string) error {
	name, source := "contacts.csv", io.Reader(bytes.NewReader(sampleContacts()))
	if file != "" {
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close() //nolint:errcheck // it was only read
		name, source = filepath.Base(file), f
	}
	rows := client.ContactsFromCSV(source, client.CSVOptions{
		OnComma: func(comma rune) { t.say("Separator", "%q in %s", comma, name) },
		OnBadRow: func(e *client.CSVError) error {
			if e.Column == "" {
				return e
			}
			t.say("Bad row", "%s:%d: %s %v", name, e.Line, e.Column, e.Err)
			t.badRows++
			return nil
		},
	})
	report, err := t.Contacts.Import(ctx, t.list.ID, rows, client.ImportOptions{
		OnProgress: func(p client.ImportProgress) {
			t.say("Importing", "contacts: %d", p.Imported+p.Updated+p.Accepted+p.Rejected)
		},
		OnRejected: func(r client.ImportRejection) {
			t.say("Bad row", "%s:%d: %q rejected: %s", name, r.Contact.Line, r.Contact.Email, r.Detail.Msg)
		},
	})
	t.counts = report.ImportCounts
	if err == nil && report.Read == 0 {
		err = errors.New("the file has no valid rows")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// sampleSize is the number of rows without the header.
const sampleSize = 2500

// people are the rows of the sample. They contain names in several scripts, fields
// that need quotes, and empty fields.
var people = [][]string{
	{"tomas.cermak@studio.example", "Tomáš", "Čermák", "Růžička, spol. s r.o.", "Praha", "Czechia"},
	{"m.johnson@school.test", "Maria", "Johnson", "Blue Mesa Coffee", "Boise, Idaho", "United States"},
	{"jameskowalski@post.example.org", "James", "Kowalski", `Acme "Fast" Freight, Inc.`, "Portland, Oregon", "United States"},
	{"yuliia.kovalenko@blumen.example", "Юлія", "Коваленко", "Кав’ярня «Затишок»", "Львів", "Ukraine"},
	{"fang_wang@example.org", "芳", "王", "长江贸易有限公司", "成都", "China"},
	{"bohdan.bondarenko@blumen.example", "Богдан", "Бондаренко", "Кав’ярня «Затишок»", "Одеса", "Ukraine"},
	{"mariam.elsayed@bakery.test", "مريم", "السيد", "مكتبة الأزهر", "القاهرة", "Egypt"},
	{"o'brien@harbour.example", "Aoife", "O’Brien", "", "Corcaigh", ""},
}

var tags = []string{
	"customer", "newsletter", "vip", "trial", "partner", "beta", "press", "event-2024",
}

// badAddresses are the invalid addresses of the sample, by line number.
var badAddresses = map[int]string{
	118:  "ase.sorensen.blumen.example",
	305:  "",
	477:  "mary ann@example.com",
	702:  "o.taylor@@bakery.test",
	859:  "k.takahashi@post.example.org.",
	1210: "@studio.example",
	1388: "dubois.camille@",
	1575: "kim..lee@example.org",
	2077: "c.okonkwo@example..com",
	2391: "unknown",
}

// sampleContacts returns the sample file. It is always the same.
func sampleContacts() []byte {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	_ = w.Write([]string{"email", "first_name", "last_name", "company", "city", "country", "tags"})
	for i := range sampleSize {
		row := append([]string{}, people[i%len(people)]...)
		if round := i / len(people); round > 0 { // a namesake at the same company
			row[0] = strings.Replace(row[0], "@", fmt.Sprintf(".%d@", round), 1)
		}
		if bad, ok := badAddresses[i+2]; ok { // the header is line 1
			row[0] = bad
		}
		first, second := tags[i%len(tags)], tags[i/3%len(tags)]
		if first != second && i%2 == 0 {
			first += ";" + second
		}
		_ = w.Write(append(row, first)) // a buffer takes everything
	}
	w.Flush()
	return out.Bytes()
}
