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
