package main

import (
	"flag"
	"fmt"
	"strings"
	"unicode/utf8"

	"example.com/emailplatform/client"
)

// csvFlags defines a flag for each option of a CSV file, and returns a function that
// reads the flags after they were parsed.
func csvFlags(f *flag.FlagSet) func() (client.CSVOptions, error) {
	var o client.CSVOptions
	comma := f.String("comma", "", "`character` that separates fields, or tab (default: detected from the header row)")
	f.StringVar(&o.Email, "email", "email", "`header` of the column with the address")
	f.StringVar(&o.Tags, "tags", "tags", "`header` of the column with the tags")
	f.StringVar(&o.Interests, "interests", "interests", "`header` of the column with the interests")
	f.StringVar(&o.Status, "status", "status", "`header` of the column with the status, or - to import it as an attribute")
	ignored := f.String("ignore", "subscribed_on", "columns that are not imported, `header,header`")
	f.StringVar(&o.Separator, "separator", ";", "`text` that separates tags, and interests")
	return func() (client.CSVOptions, error) {
		o.Ignore = strings.FieldsFunc(*ignored, func(r rune) bool { return r == ',' })
		switch r, size := utf8.DecodeRuneInString(*comma); {
		case *comma == "tab":
			o.Comma = '\t'
		case *comma != "" && size < len(*comma):
			return o, fmt.Errorf("-comma must be one character or tab, got %q", *comma)
		case *comma != "":
			o.Comma = r
		}
		return o, nil
	}
}
