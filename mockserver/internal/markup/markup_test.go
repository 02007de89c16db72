package markup

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestTargets: the targets are the links that an email client shows.
func TestTargets(t *testing.T) {
	for document, want := range map[string][]string{
		`<a href="https://a.example/?b=1&amp;c=2">a</a>`:                   {"https://a.example/?b=1&c=2"},
		"<A HREF=\" \thttps://a.example/\r\n\">a</A>":                      {"https://a.example/"},
		"<a href=\"htt\nps://a.example/\">a</a>":                           {"https://a.example/"},
		`<noscript><p><a href="/a">a</a></p></noscript><a href="/b">b`:     {"/a", "/b"},
		`<map name="m"><area href="/a"><area alt="b"></map>`:               {"/a"},
		`<template><a href="/a">a</a></template><a href="/b">b</a>`:        {"/b"},
		`<template><template></template><a href="/a"></template>`:          nil,
		`</template><a href="/a">a</a>`:                                    {"/a"},
		`<template/><a href="/a">a</a>`:                                    nil,
		`<script><a href="/a"></script><textarea><a href="/b"></textarea>`: nil,
		`<a href>a</a><a name="b">b</a>`:                                   {""},
	} {
		assert.Equal(t, want, Targets(document), document)
	}
}

// TestRetarget: all links open in a new tab, except links to a place in the email. Nothing
// else in the email changes.
func TestRetarget(t *testing.T) {
	for document, want := range map[string]string{
		`<a href="x:1" target=_top>a</a>`:              `<a target="_blank" href="x:1" target=_top>a</a>`,
		`<p>é<A/href=x:1 target=_self>`:                `<p>é<A target="_blank"/href=x:1 target=_self>`,
		`<area href=" #b" target="_parent">`:           `<area target="_self" href=" #b" target="_parent">`,
		`<a href="#">top</a><a name="b">b</a>`:         `<a target="_self" href="#">top</a><a target="_blank" name="b">b</a>`,
		"<noscript><a href='#b'>b</a></noscript>\r\n":  "<noscript><a target=\"_self\" href='#b'>b</a></noscript>\r\n",
		`<!-- <a href="#b"> --><b>a</b><abbr>b</abbr>`: `<!-- <a href="#b"> --><b>a</b><abbr>b</abbr>`,
		"a\x00<a href=\"#":                             "a\x00<a href=\"#",
	} {
		assert.Equal(t, want, Retarget(document), document)
	}
}
