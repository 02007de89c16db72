package documents

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	codeSpan   = regexp.MustCompile("`[^`\n]*`")
	inlineLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	reference  = regexp.MustCompile(`(?m)^\[[^\]]+\]: (\S+)`)
	attribute  = regexp.MustCompile(`(?:href|src)="([^"]+)"`)
	heading    = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
)

// TestLinks holds each link to a file or folder, and its anchor to a heading
// there. Links to other sites are only parsed: whether they lead somewhere is
// for no test without a network.
func TestLinks(t *testing.T) {
	links, known := 0, map[string]map[string]bool{} // the anchors of each document
	for _, name := range documents(t) {
		text := codeSpan.ReplaceAllString(fence.ReplaceAllString(read(t, name), ""), "")
		for _, pattern := range []*regexp.Regexp{inlineLink, reference, attribute} {
			for _, m := range pattern.FindAllStringSubmatch(text, -1) {
				links++
				if err := checkLink(t, known, name, m[1]); err != nil {
					t.Errorf("%s: link %q: %v", name, m[1], err)
				}
			}
		}
	}
	if links < 50 {
		t.Errorf("%d links: where are the others?", links)
	}
}

func checkLink(t *testing.T, known map[string]map[string]bool, document, link string) error {
	t.Helper()
	u, err := url.Parse(link)
	switch {
	case err != nil:
		return err
	case u.Scheme == "https" && u.Host != "":
		return nil
	case u.Scheme != "" || u.Host != "" || strings.HasPrefix(u.Path, "/"):
		return fmt.Errorf("want https, or a path from here")
	}
	target := document
	if u.Path != "" {
		target = path.Join(path.Dir(document), u.Path)
	}
	info, err := os.Stat(filepath.Join(root, filepath.FromSlash(target)))
	if err != nil || u.Fragment == "" {
		return err
	}
	if info.IsDir() {
		target = path.Join(target, "README.md")
	}
	if known[target] == nil {
		known[target] = anchors(read(t, target))
	}
	if !known[target][u.Fragment] {
		return fmt.Errorf("no heading of %s makes the anchor", target)
	}
	return nil
}

// anchors returns those that GitHub gives the headings of a document.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		name := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
				return unicode.ToLower(r)
			}
			return -1
		}, inlineLink.ReplaceAllString(m[1], ""))
		if all[name] {
			n := 1
			for all[fmt.Sprint(name, "-", n)] {
				n++
			}
			name = fmt.Sprint(name, "-", n)
		}
		all[name] = true
	}
	return all
}
