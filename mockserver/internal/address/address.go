// Package address tells what can be sent to: email addresses, patterns of them,
// and the URLs of webhooks.
package address

import (
	"net/url"
	"strings"
	"unicode"
)

// Email reports whether s is an email address that can be sent to.
func Email(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	return ok && len(s) <= 254 && validLocal(local) && validDomain(domain)
}

// Pattern reports whether s is an email address, *@domain or local@*.
func Pattern(s string) bool {
	local, domain, _ := strings.Cut(s, "@")
	switch {
	case local == "*":
		return validDomain(domain)
	case domain == "*":
		return validLocal(local)
	}
	return Email(s)
}

// HTTP reports whether s is an absolute http or https URL, which deliveries can
// go to.
func HTTP(s string) bool {
	to, err := url.Parse(s)
	return err == nil && (to.Scheme == "http" || to.Scheme == "https") && to.Hostname() != ""
}

func validLocal(s string) bool {
	return s != "" && len(s) <= 64 && s[0] != '.' && s[len(s)-1] != '.' &&
		!strings.Contains(s, "..") && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`"(),:;<>@[\]`, r) || r == unicode.ReplacementChar
	})
}

// validDomain reports whether s has two labels or more of letters, digits and
// hyphens.
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
