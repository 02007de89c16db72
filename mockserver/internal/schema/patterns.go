package schema

import (
	"regexp"
	"strconv"
	"sync"

	"example.com/emailplatform/mockserver/internal/contract"
)

// SetPattern limits a schema to the strings that match a pattern, such as "email".
func SetPattern(s *contract.Schema, name string) {
	p := patterns()[name]
	s.Pattern, s.Expected = p.match, p.wanted
}

// maxID is the maximum id that a seed can set. Only the platform itself assigns larger ids.
const maxID = 1_000_000_000_000_000

// pattern is a regular expression with a description. It must mean the same in Go and
// in ECMAScript, and contain no slash, because not all generators escape a slash.
type pattern struct {
	match  *regexp.Regexp
	wanted string
}

// patterns maps the values of the struct tag "pattern" to regular expressions. They are
// not complete: the API may reject an address or a URL that matches, for example if the
// address is too long.
var patterns = sync.OnceValue(func() map[string]pattern {
	const (
		special = `\x00-\x20"(),:;<>@\[\\\]\x7f.`
		atom    = `[^` + special + `]+`
		local   = atom + `(\.` + atom + `)*`
		named   = `([^*` + special + `]|\*[^` + special + `])[^` + special + `]*(\.` + atom + `)*|\*(\.` + atom + `)+` // local, except *
		letter  = `[^\x00-\x2f:-@\[-\x60{-\x7f]+`
		label   = letter + `(-+` + letter + `)*`
		domain  = label + `(\.` + label + `)+`
	)
	return map[string]pattern{
		"email": {regexp.MustCompile(`^` + local + `@` + domain + `$`), "an email address"},
		"suppressed": {
			regexp.MustCompile(`^(` + local + `@` + domain + `|\*@` + domain + `|(` + named + `)@\*)$`),
			"an address, *@domain or local@*",
		},
		"url": {
			regexp.MustCompile(`^[Hh][Tt][Tt][Pp][Ss]?:\x2f\x2f[0-9A-Za-z\[]([^\x00-\x20%\x7f]|%[0-9A-Fa-f]{2})*$`),
			"an absolute http or https URL, with %20 for a space and %25 for a percent sign",
		},
		"status": {regexp.MustCompile(`^([1-5]([0-9]{2}|[xX]{2})|0)$`), "a status such as 404, a class such as 4xx, or 0"},
		"path":   {regexp.MustCompile(`^\x2f`), "a path that begins with a slash"},
		"line":   {regexp.MustCompile(`^[^\r\n\x00]*$`), "one line"},
		"token":  {regexp.MustCompile(`^[!-~]+$`), "visible ASCII characters, as a header field has them"},
		"id":     {regexp.MustCompile(`^([1-9][0-9]{0,14}|10{15})$`), "an id of 1 to " + strconv.FormatInt(maxID, 10)},
		"text":   {regexp.MustCompile(`^\S(.*\S)?$`), "a text without white space around it"},
	}
})
