package schema

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that Go and ECMAScript read alike, and its words. It has
// no slash, because generators differ in whether they escape one.
type pattern struct {
	match  *regexp.Regexp
	wanted string
}

// patterns are those that the tag pattern names. A value that matches one of addresses
// or URLs may still be rejected: it may be too long, or have unusual letters.
var patterns = sync.OnceValue(func() map[string]pattern {
	const (
		atom   = `[^\x00-\x20"(),:;<>@\[\\\]\x7f.]+`
		local  = atom + `(\.` + atom + `)*`
		letter = `[^\x00-\x2f:-@\[-\x60{-\x7f]+`
		label  = letter + `(-+` + letter + `)*`
		domain = label + `(\.` + label + `)+`
	)
	return map[string]pattern{
		"email": {regexp.MustCompile(`^` + local + `@` + domain + `$`), "an email address"},
		"suppressed": {
			regexp.MustCompile(`^(` + local + `@` + domain + `|\*@` + domain + `|` + local + `@\*)$`),
			"an address, *@domain or local@*",
		},
		"url": {
			regexp.MustCompile(`^[Hh][Tt][Tt][Pp][Ss]?:\x2f\x2f[0-9A-Za-z\[][^\x00-\x20%\x7f]*$`),
			"an absolute http or https URL",
		},
		"path":  {regexp.MustCompile(`^\x2f`), "a slash first"},
		"line":  {regexp.MustCompile(`^[^\r\n\x00]*$`), "one line"},
		"token": {regexp.MustCompile(`^[!-~]+$`), "visible ASCII characters, as a header field has them"},
		"id":    {regexp.MustCompile(`^([1-9][0-9]{0,14}|10{15})$`), "an id of 1 to 1000000000000000"},
		"text":  {regexp.MustCompile(`^\S(.*\S)?$`), "a text without white space around it"},
	}
})
