package client

import (
	"bytes"
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
)

// written returns a CSV file that contains a contact.
func written(t *testing.T, contact Contact, headers ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	require.NoError(t, w.WriteAll([][]string{headers, CSVRow(contact, headers...)}))
	return b.String()
}

// TestCSVRowFormulas: no cell begins with a formula, whether the program splits the file at commas, semicolons or tabs.
func TestCSVRowFormulas(t *testing.T) {
	for _, text := range []string{`=HYPERLINK("http://evil.example/")`, "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "\n=1", "＝1", "'=1", "''+1", "a;=1", "a\n@b", "a\t-1", "x;\"=1;", "\"\"=1"} {
		contact := Contact{Email: "=a@x", Tags: []string{text, "=tag", "@tag"}, CustomAttributes: Attributes{{Name: "n", Value: text}}}
		file := written(t, contact, "email", "tags", "n")
		for _, end := range []string{",", ";", "\t", "\n", "\r"} {
			for cell := range strings.SplitSeq(file, end) {
				cell = strings.TrimLeft(cell, `"`)
				assert.False(t, strings.ContainsAny(cell[:min(1, len(cell))], "=+-@"), text)
				assert.False(t, strings.HasPrefix(cell, "＝"), text)
			}
		}
	}
}

func TestCSVRow(t *testing.T) {
	contact := Contact{
		Email: "a@x", Status: events.ContactStatusActive, SubscribedOn: time.Unix(1700000000, 0).UTC(),
		Tags: []string{"vip", "a;b", ` "c"`}, Interests: []string{"go"}, CustomAttributes: Attributes{{Name: "City", Value: "Bonn"}},
	}
	want := []string{"a@x", "active", "2023-11-14T22:13:20Z", `vip;"a;b";" ""c"""`, "go", "Bonn", ""}
	assert.Equal(t, want, CSVRow(contact, "email", "status", "subscribed_on", "tags", "interests", "City", "missing"))
	assert.Equal(t, []string{""}, CSVRow(Contact{}, "subscribed_on"))
}

// FuzzCSVRow: ContactsFromCSV reads what CSVRow writes.
func FuzzCSVRow(f *testing.F) {
	f.Add("vip", "=a;b", "''=1")
	f.Add(`"a", "b`, " ;\"", "a;'@b\n\t=c")
	f.Fuzz(func(t *testing.T, first, second, value string) {
		for _, text := range []string{first, second, value} {
			if strings.ContainsAny(text, "\r\x00") || strings.ToValidUTF8(text, "") != text || len(text) > 1000 || trim(text) == "" {
				t.Skip("is not read as it is")
			}
		}
		contact := Contact{Email: "+a@x", Tags: []string{first, second}, Interests: []string{second}, CustomAttributes: Attributes{{Name: "n", Value: value}}}
		file := written(t, contact, "email", "tags", "interests", "n")
		for got, err := range ContactsFromCSV(strings.NewReader(file), CSVOptions{}) {
			require.NoError(t, err)
			want := ImportContact{Email: contact.Email, Tags: contact.Tags, Interests: contact.Interests, CustomAttributes: contact.CustomAttributes, Line: 2}
			assert.Equal(t, want, got, file)
		}
	})
}
