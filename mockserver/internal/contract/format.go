package contract

import (
	"errors"
	"net/url"
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

// ParseURL returns the URL of a receiver. It rejects white space, although package url
// accepts it. In a query, package http would send white space unchanged, so the
// request would be invalid. In a path, package http would encode it, so the receiver
// would get another URL.
func ParseURL(s string) (*url.URL, error) {
	to, err := url.Parse(s)
	if err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Hostname() == "" {
		return nil, errors.New("must be an absolute http or https URL")
	}
	if strings.ContainsFunc(s, unicode.IsSpace) {
		return nil, errors.New("must be an absolute http or https URL without white space; a space in a URL is %20")
	}
	if strings.ContainsFunc(to.RawQuery, func(r rune) bool { return r > unicode.MaxASCII }) {
		return nil, errors.New("must be an absolute http or https URL with an ASCII query; percent-encode other characters")
	}
	if port := to.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, errors.New("must have a port from 1 to 65535")
		}
	}
	return to, nil
}
