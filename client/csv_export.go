package client

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// CSVRow converts a contact to a row of a CSV file, with one field for each of the
// given headers: email, status, subscribed_on, tags, interests, or the name of a custom
// attribute. With the default options, [ContactsFromCSV] reads the same address, tags,
// interests and attributes from the row, except attributes that contain only spaces and
// invisible characters.
//
// A spreadsheet program would run a field such as =HYPERLINK(…) as a formula. To
// prevent this, CSVRow writes an apostrophe before each = + - or @ in these places:
//
//   - at the beginning of a field, or of a line in a field
//   - after a semicolon or a tab, because some programs begin another field there
//
// [ContactsFromCSV] removes the apostrophe again.
//
// If an attribute contains line breaks, [ContactsFromCSV] reads each of them as LF. It
// rejects a CR without an LF.
func CSVRow(contact Contact, headers ...string) []string {
	row := make([]string, len(headers))
	for i, h := range headers {
		field := ""
		switch strings.ToLower(h) {
		case "email":
			field = contact.Email
		case "status":
			field = string(contact.Status)
		case "subscribed_on":
			if !contact.SubscribedOn.IsZero() {
				field = contact.SubscribedOn.Format(time.RFC3339)
			}
		case "tags":
			field = joinTags(contact.Tags)
		case "interests":
			field = joinTags(contact.Interests)
		default:
			field = contact.CustomAttributes.Get(h)
		}
		row[i] = formula.ReplaceAllString(field, "$1'$2")
	}
	return row
}

// formula matches the places where a formula can begin: the start of a field or of a line,
// and the text after a semicolon or a tab, because some programs begin another field there.
// These programs ignore CSV's quotation marks, so any number of quotation marks can precede
// the formula. CSVRow writes an apostrophe before a formula, even if an apostrophe already
// precedes it. Otherwise, unescapeFormula, which removes one apostrophe, would remove the
// field's own.
var (
	formula        = regexp.MustCompile(`((?:^|[;\t\r\n])"*)('*[=+\-@＝＋－＠])`)
	escapedFormula = regexp.MustCompile(`((?:^|[;\t\r\n])"*)'('*[=+\-@＝＋－＠])`)
)

// unescapeFormula removes the apostrophes that CSVRow writes before formulas.
func unescapeFormula(field string) string {
	if strings.Contains(field, "'") {
		return escapedFormula.ReplaceAllString(field, "$1$2")
	}
	return field
}

// joinTags returns tags in one field. It encloses a tag in quotation marks if splitTags
// would otherwise change it.
func joinTags(tags []string) string {
	quoted := slices.Clone(tags)
	for i, t := range quoted {
		if strings.ContainsAny(t, `;"`) || trim(t) != t {
			quoted[i] = `"` + strings.ReplaceAll(t, `"`, `""`) + `"`
		}
	}
	return strings.Join(quoted, ";")
}

// splitTags returns the tags in a field.
func splitTags(field, separator string) (tags []string) {
	for more := true; more; {
		tag, rest, ok := quotedTag(field, separator)
		if ok {
			more, field = rest != "", rest
		} else {
			tag, field, more = strings.Cut(field, separator)
			tag = trim(tag)
		}
		if tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

// quotedTag returns the tag in quotation marks at the beginning of a field, and the
// text after the separator or the comma that follows the tag. Inside the quotation
// marks, two quotation marks stand for one.
func quotedTag(field, separator string) (tag, rest string, ok bool) {
	field = trim(field)
	if !strings.HasPrefix(field, `"`) {
		return "", "", false
	}
	for i := 1; i < len(field); i++ {
		switch {
		case field[i] != '"':
			continue
		case strings.HasPrefix(field[i+1:], `"`):
			i++
			continue
		}
		after, ok := strings.CutPrefix(field[i+1:], separator)
		rest = trim(field[i+1:])
		for _, s := range []string{separator, ","} {
			if !ok {
				after, ok = strings.CutPrefix(rest, s)
			}
		}
		return strings.ReplaceAll(field[1:i], `""`, `"`), after, ok || rest == ""
	}
	return "", "", false
}
