package console

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver"
)

var handler = Handler() // compresses all files once

func get(t *testing.T, target string, header ...string) *http.Response {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	rec := httptest.NewRecorder()
	handler.ServeHTTP(rec, req)
	return rec.Result()
}

func TestHandlerServesEveryFile(t *testing.T) {
	assets, err := load()
	if err != nil || len(assets) < 10 {
		t.Fatal(len(assets), err)
	}
	for name, a := range assets {
		res := get(t, root+name)
		plain, _ := io.ReadAll(res.Body)
		if res.StatusCode != http.StatusOK || res.Header.Get("Content-Type") != a.contentType ||
			!bytes.Equal(plain, a.plain) {
			t.Errorf("%s: %d %s, %d bytes", name, res.StatusCode, res.Header.Get("Content-Type"), len(plain))
		}
		res = get(t, root+name, "Accept-Encoding", "br, gzip")
		packed, err := gzip.NewReader(res.Body)
		require.NoError(t, err, name)
		if plain, _ := io.ReadAll(packed); res.Header.Get("Content-Encoding") != "gzip" || !bytes.Equal(plain, a.plain) {
			t.Errorf("%s: the gzip response differs from the file, %d bytes uncompressed", name, len(plain))
		}
	}
	assert.Equal(t, "text/html; charset=utf-8", get(t, root).Header.Get("Content-Type"), root)
}

func TestHandlerSetsSecurityHeaders(t *testing.T) {
	for _, target := range []string{root, root + "app.js", root + "vendor/preact.js", root + "nothing", root + "../x"} {
		header := get(t, target).Header
		policy := header.Get("Content-Security-Policy")
		for _, want := range []string{
			"default-src 'none'", "script-src 'self'", "style-src 'self'", "require-trusted-types-for 'script'",
			"trusted-types 'none'", "frame-ancestors 'none'",
		} {
			if !strings.Contains(policy, want) {
				t.Errorf("%s: policy %q has no %s", target, policy, want)
			}
		}
		if strings.Contains(policy, "unsafe") || header.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %v", target, header)
		}
	}
}

func TestHandlerNotModified(t *testing.T) {
	etag := get(t, root+"app.css").Header.Get("ETag")
	if res := get(t, root+"app.css", "If-None-Match", etag); etag == "" || res.StatusCode != http.StatusNotModified {
		t.Errorf("with the ETag %s: %d, want 304", etag, res.StatusCode)
	}
	if res := get(t, root+"nothing"); res.StatusCode != http.StatusNotFound || res.Header.Get("ETag") != "" {
		t.Errorf("a missing file: %d, ETag %s; want 404 without an ETag", res.StatusCode, res.Header.Get("ETag"))
	}
}

// TestActionsPassTheAccount: api.js adds the selected account to every action whose route has the parameter
// account_id. Only the confirmation of state.js applies actions to all accounts.
func TestActionsPassTheAccount(t *testing.T) {
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	w := httptest.NewRecorder()
	srv.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/_mock/openapi.json", nil))
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string }
		}
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &doc))
	var want []string
	for path, item := range doc.Paths {
		for method, o := range item {
			for _, p := range o.Parameters {
				if method != "get" && p.In == "query" && p.Name == "account_id" {
					want = append(want, "'"+strings.ToUpper(method)+strings.Replace(path, "/_mock", " ", 1)+"'")
				}
			}
		}
	}
	slices.Sort(want)
	module, err := static.ReadFile("static/api.js")
	require.NoError(t, err)
	if list := "const ofOneAccount = new Set([" + strings.Join(want, ", ") + "]);"; len(want) == 0 || !strings.Contains(string(module), list) {
		t.Errorf("api.js must contain %s", list)
	}
	pages, err := fs.Glob(static, "static/*.js")
	require.NoError(t, err)
	for _, page := range pages {
		source, err := static.ReadFile(page)
		require.NoError(t, err)
		// The only call for all accounts follows a confirmation that names them, unless the server has only one account.
		if n := strings.Count(string(source), "callForAll(r."); (n == 1) != (page == "static/state.js") || strings.Contains(string(source), "callForAll('") {
			t.Errorf("%s calls callForAll %d times", page, n)
		}
	}
}

// TestPageHasNothingInline: index.html has no inline scripts and styles, because the policy rejects them.
func TestPageHasNothingInline(t *testing.T) {
	page, err := static.ReadFile("static/index.html")
	require.NoError(t, err)
	if found := regexp.MustCompile(`(?i)<style|<script>|\son[a-z]+=|style=`).Find(page); found != nil {
		t.Errorf("index.html has %s", found)
	}
}

// TestPageNamesAllModules: index.html lists all modules, so the browser can load them in parallel.
func TestPageNamesAllModules(t *testing.T) {
	assets, err := load()
	require.NoError(t, err)
	for name := range assets {
		if strings.HasSuffix(name, ".js") && !late(name) && !strings.Contains(string(assets["index.html"].plain), `="`+name+`"`) {
			t.Errorf("index.html does not name %s", name)
		}
	}
}

// late reports whether a browser loads a file only when the API view is opened.
func late(name string) bool {
	return name == "explorer.js" || name == "programs.js" || name == "operations.json"
}

// TestFirstLoadIsSmall limits the size of the first load and of all files.
func TestFirstLoadIsSmall(t *testing.T) {
	const limit, limitOfAll = 120_000, 150_000
	assets, err := load()
	first, all := 0, 0
	for name, a := range assets {
		all += len(a.packed)
		if !late(name) {
			first += len(a.packed)
		}
	}
	if err != nil || first > limit || all > limitOfAll {
		t.Errorf("%d bytes at first, %d in all, want at most %d and %d (%v)", first, all, limit, limitOfAll, err)
	}
	t.Logf("%d bytes at first, %d in all", first, all)
}
