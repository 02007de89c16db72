package contract

import (
	"errors"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// formatError returns "" if a string has the format of its schema: email or uri.
func formatError(format, s string) string {
	switch format {
	case "email":
		if !IsEmail(s) {
			return "not an email address"
		}
	case "uri":
		if _, err := ParseURL(s); err != nil {
			return err.Error()
		}
	}
	return ""
}

// IsEmail reports whether s is an email address.
func IsEmail(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	return ok && len(s) <= 254 && validLocal(local) && validDomain(domain)
}

// IsPattern reports whether s is an email address, *@domain or local@*.
func IsPattern(s string) bool {
	local, domain, _ := strings.Cut(s, "@")
	switch {
	case local == "*":
		return validDomain(domain)
	case domain == "*":
		return validLocal(local)
	}
	return IsEmail(s)
}

func validLocal(s string) bool {
	return s != "" && len(s) <= 64 && s[0] != '.' && s[len(s)-1] != '.' &&
		!strings.Contains(s, "..") && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`"(),:;<>@[\]`, r) || r == unicode.ReplacementChar
	})
}

// validDomain reports whether s consists of at least two labels of letters,
// digits and hyphens.
func validDomain(s string) bool {
	labels := 0
	for label := range strings.SplitSeq(s, ".") {
		labels++
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, r := range label {
			if r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
				return false
			}
		}
	}
	return labels > 1
}

// validQuery matches the query of a URL (RFC 3986, section 3.4). It allows brackets too,
// because names such as a[] are common and receivers accept them.
var validQuery = regexp.MustCompile(`^([!$&-;=?-Z\[\]_a-z~]|%[0-9A-Fa-f]{2})*$`)

// ParseURL returns the URL of a receiver. Package url accepts an invalid query and
// white space, but ParseURL rejects them, because package http cannot send them
// correctly. It sends an invalid query unchanged, so servers such as Tomcat reject the
// request. It encodes white space in a path, so the receiver gets another URL.
func ParseURL(s string) (*url.URL, error) {
	to, err := url.Parse(s)
	if err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Hostname() == "" {
		return nil, errors.New("must be an absolute http or https URL")
	}
	if strings.ContainsFunc(s, unicode.IsSpace) {
		return nil, errors.New("must be an absolute http or https URL without white space; a space in a URL is %20")
	}
	if !validQuery.MatchString(to.RawQuery) {
		return nil, errors.New("must be an absolute http or https URL with a percent-encoded query")
	}
	if port := to.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, errors.New("must have a port from 1 to 65535")
		}
	}
	return to, nil
}
