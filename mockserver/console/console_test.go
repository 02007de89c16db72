package console

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
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
	if err != nil || len(assets) < 5 {
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
	for _, target := range []string{root, root + "console.gen.js", root + "nothing", root + "../x"} {
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
	module, err := os.ReadFile("src/api.js")
	require.NoError(t, err)
	if list := "const ofOneAccount = new Set([" + strings.Join(want, ", ") + "]);"; len(want) == 0 || !strings.Contains(string(module), list) {
		t.Errorf("api.js must contain %s", list)
	}
	pages, err := filepath.Glob("src/*.js")
	require.NoError(t, err)
	for _, page := range pages {
		source, err := os.ReadFile(page)
		require.NoError(t, err)
		// The only call for all accounts follows a confirmation that names them, unless the server has only one account.
		if n := strings.Count(string(source), "callForAll(r."); (n == 1) != (filepath.ToSlash(page) == "src/state.js") || strings.Contains(string(source), "callForAll('") {
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

// TestFirstLoadIsSmall limits the number of files and bytes of the first load. The browser loads operations.json only
// when the API view is opened.
func TestFirstLoadIsSmall(t *testing.T) {
	const limit, limitOfFiles = 100_000, 6
	assets, err := load()
	require.NoError(t, err)
	delete(assets, "operations.json")
	size := 0
	for _, a := range assets {
		size += len(a.packed)
	}
	if size > limit || len(assets) > limitOfFiles {
		t.Errorf("%d bytes in %d files, want at most %d in %d", size, len(assets), limit, limitOfFiles)
	}
	t.Logf("%d bytes in %d files", size, len(assets))
}

// TestContacts: the console has a row for each status of a contact, and the view of a contact shows each field.
func TestContacts(t *testing.T) {
	source := func(name string) string {
		text, err := os.ReadFile(filepath.Join("src", name))
		require.NoError(t, err)
		return string(text)
	}
	_, table, found := strings.Cut(source("contactstatus.js"), "const contactStatuses = {\n")
	table, _, closed := strings.Cut(table, "\n};")
	require.True(t, found && closed, "src/contactstatus.js has no table contactStatuses")
	rows := []events.ContactStatus{events.ContactStatusSuppressed} // the mock server never sets it, so it has no row
	for _, row := range regexp.MustCompile(`(?m)^  (\w+): \{ tone: '\w*', icon: '\w+', color: '\w+' \},$`).FindAllStringSubmatch(table, -1) {
		rows = append(rows, events.ContactStatus(row[1]))
	}
	assert.ElementsMatch(t, events.ContactStatuses(), rows, "contactStatuses in src/contactstatus.js")
	contacts := source("contacts.js")
	for field := range reflect.TypeFor[client.Contact]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		used := regexp.MustCompile(`(\.|\{ |, )` + name + `\b`).MatchString(contacts) // c.name or a parameter ({ name: n })
		assert.True(t, used || name == "-", "src/contacts.js does not show the field %s of a contact", name)
	}
}
