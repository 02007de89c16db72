package platform

import (
	"strings"
	"testing"
)

func TestEmailAndPattern(t *testing.T) {
	label := strings.Repeat("a", 63)
	for s, want := range map[string]struct{ email, pattern bool }{
		"ada@example.org":         {true, true},
		"jörg+tag@bücher.example": {true, true},
		"*@example.org":           {true, true}, // an asterisk is allowed in a local part
		"ada@*":                   {false, true},
		"*@*":                     {false, false},
		"ada":                     {false, false},
		"@example.org":            {false, false},
		"ada@localhost":           {false, false},
		"ada@example..org":        {false, false},
		"ada@-example.org":        {false, false},
		".ada@example.org":        {false, false},
		"a..a@example.org":        {false, false},
		"ada <ada@example.org>":   {false, false},
		"ada\n@example.org":       {false, false},
		"ada@" + label + ".org":   {true, true},
		"ada@a" + label + ".org":  {false, false},
		label + "a@example.org":   {true, true},
		label + "aa@example.org":  {false, false},
		"a@" + strings.Repeat(label+".", 4) + "org": {false, false},
	} {
		if got := isEmail(s); got != want.email {
			t.Errorf("isEmail(%q) is %v", s, got)
		}
		if got := isPattern(s); got != want.pattern {
			t.Errorf("isPattern(%q) is %v", s, got)
		}
	}
}

func TestIsWebURL(t *testing.T) {
	for s, want := range map[string]bool{
		"http://127.0.0.1:8080/hook": true,
		"https://example.org":        true,
		"HTTP://example.org":         true,
		"/hook":                      false,
		"http:///hook":               false,
		"http://:80/":                false,
		"ftp://example.org/":         false,
		"http://example.org:port/":   false,
		"":                           false,
	} {
		if got := IsWebURL(s); got != want {
			t.Errorf("IsWebURL(%q) is %v", s, got)
		}
	}
}
