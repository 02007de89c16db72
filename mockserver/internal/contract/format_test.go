package contract

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestParseURL(t *testing.T) {
	for s, want := range map[string]string{
		"http://127.0.0.1:8080/hook":                      "",
		"https://example.org:65535":                       "",
		"HTTP://example.org":                              "",
		"http://bücher.example/é":                         "", // package http encodes the host and the path
		"http://a.test/hook?name=a%20b":                   "",
		"/hook":                                           "absolute http or https URL",
		"http:///hook":                                    "absolute http or https URL",
		"http://:80/":                                     "absolute http or https URL",
		"ftp://example.org/":                              "absolute http or https URL",
		"http://example.org:port/":                        "absolute http or https URL",
		"":                                                "absolute http or https URL",
		"http://a.test/hook?name=a b":                     "white space",
		"http://a.test/a b":                               "white space",
		"http://a.test/hook ":                             "white space",
		"http://a.test/hook\u00a0":                        "white space",
		"http://a.test/#a b":                              "white space",
		"http://a.test:0/hook":                            "port from 1 to 65535",
		"http://a.test:65536/hook":                        "port from 1 to 65535",
		"http://a.test/hook?name=é":                       "percent-encoded query",
		"http://a.test/hook?name=\xe9":                    "percent-encoded query",
		"http://a.test/?a=%zz":                            "percent-encoded query",
		`http://a.test/?f=["a"]`:                          "percent-encoded query",
		"http://a.test/?f={id}|1":                         "percent-encoded query",
		"http://a.test/?a=~-._:@!$'()*+,;=%2F/?[]&%c3%a9": "",
	} {
		_, err := ParseURL(s)
		if want == "" {
			assert.NoError(t, err, "ParseURL(%q)", s)
		} else {
			assert.ErrorContains(t, err, want, "ParseURL(%q)", s)
		}
	}
}

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
		"ada@my-example.org":      {true, true},
		"ada@my_example.org":      {false, false},
		"a@" + strings.Repeat(label+".", 3) + strings.Repeat("b", 57) + ".de": {true, true},
		"a@" + strings.Repeat(label+".", 3) + strings.Repeat("b", 58) + ".de": {false, false},
	} {
		assert.Equal(t, want.email, IsEmail(s), "IsEmail(%q)", s)
		assert.Equal(t, want.pattern, IsPattern(s), "IsPattern(%q)", s)
	}
}
