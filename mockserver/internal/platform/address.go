package platform

import (
	"strings"
	"unicode"
)

func isEmail(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	return ok && len(s) <= 254 && validLocal(local) && validDomain(domain)
}

// isPattern reports whether s is an email address, *@domain or local@*.
func isPattern(s string) bool {
	local, domain, _ := strings.Cut(s, "@")
	switch {
	case local == "*":
		return validDomain(domain)
	case domain == "*":
		return validLocal(local)
	}
	return isEmail(s)
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
