package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestSite: the search box of the documents finds pages, and the switch leads to each version. The site must be in the
// directory SITE; bash .ci/run site writes it with .ci/site and sets SITE.
func TestSite(t *testing.T) {
	dir := os.Getenv("SITE")
	if dir == "" {
		t.Skip("SITE is not set: bash .ci/run site runs this test")
	}
	server := httptest.NewServer(cleanURLs(dir))
	t.Cleanup(server.Close)
	p := newTab(t)
	p.check(chromedp.Listen(p.ctx, p.failOnError))
	first, err := os.ReadFile(filepath.Join(dir, "index.html"))
	p.check(err)
	_, newest, _ := strings.Cut(string(first), "url=")
	newest, _, _ = strings.Cut(newest, `"`)
	p.do(chromedp.EmulateViewport(desktop.width, 800), chromedp.Navigate(server.URL+"/"+newest))

	for _, search := range []struct{ words, page string }{
		{"reply-to", "/docs/how-do-i#set-reply-to-message-id-or-other-headers-threads"},
		{"503 to every delivery", "/docs/production#503-to-every-delivery"},
		{"how do I retry a failing webhook delivery", "/docs/production#webhook-retry-schedule"},
		{"WithMaxAttempts", "/go/client/#func-withmaxattempts"},
		{"empty placeholder", "/docs/how-do-i#use-merge-tags-variables-parameters-get-an-error-for-a-missing-value-or-set-a-default"},
		{"broadcasts", "/docs/how-do-i#schedule-change-cancel-or-stop-an-email-or-a-campaign"},
		{"errors of Emails.Send", "/docs/errors#causes-of-errors-400-401-403-404-409-422-429-500-502-503"},
		{"empty folder tutorial", "/docs/tutorial#from-an-empty-folder-to-a-tested-shop"},
	} {
		p.until(`document.querySelector('#localsearch-input') || document.querySelector('.DocSearch-Button').click()`)
		p.do(focus("#localsearch-input"))
		p.press(search.words)
		p.until(fmt.Sprintf(`[...document.querySelectorAll('a.result')].slice(0, 4).find(a => a.href.endsWith(%q))?.click() === undefined
			&& !document.querySelector('#localsearch-input') && location.href.endsWith(%[1]q)`, search.page))
	}

	versions := eval[[]string](p, `[...document.querySelectorAll('.VPNavBarMenu a[target=_self]')].map(a => a.href)`)
	if !slices.Contains(versions, server.URL+"/"+newest) {
		t.Errorf("versions %v, want %s among them", versions, newest)
	}
	for _, version := range versions {
		p.do(chromedp.Navigate(version))
		p.until(fmt.Sprintf(`location.href === %q && %[1]q.endsWith('/' + document.querySelector('.VPNavBarMenu .text').textContent + '/')`, version))
	}
}

// cleanURLs serves a site whose links omit the extension .html.
func cleanURLs(dir string) http.HandlerFunc {
	files := http.FileServer(http.Dir(dir))
	return func(w http.ResponseWriter, r *http.Request) {
		if page := r.URL.Path + ".html"; filepath.IsLocal(page[1:]) {
			if _, err := os.Stat(filepath.Join(dir, page)); err == nil {
				r.URL.Path = page
			}
		}
		files.ServeHTTP(w, r)
	}
}
