package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

//go:embed static
var static embed.FS

// policy allows the console to load only its own files. It also requires Trusted Types,
// so the browser rejects every assignment of markup, and text from an email, a response
// or an error cannot become an element.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
	"require-trusted-types-for 'script'; trusted-types 'none'"

// root is the path of the console and the control routes.
const root = "/_mock/"

// asset is a file and its compressed form.
type asset struct {
	contentType, etag string
	plain, packed     []byte
}

// Handler returns a handler for mockserver.Config.Console, which serves the
// console under /_mock/. It is safe for concurrent use.
func Handler() http.Handler {
	assets := sync.OnceValue(func() map[string]asset { // load the files only if the console is used
		assets, err := load()
		if err != nil {
			panic("console: the embedded files: " + err.Error()) // the build is broken
		}
		return assets
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		name, _ := strings.CutPrefix(r.URL.Path, root)
		if name == "" {
			name = "index.html"
		}
		file, ok := assets()[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		file.serve(w, r)
	})
}

func (a asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", a.contentType)
	h.Set("Cache-Control", "no-cache") // browsers store the file, but check whether it has changed
	h.Set("Vary", "Accept-Encoding")
	content, etag := a.plain, a.etag
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		content, etag = a.packed, a.etag+"-gzip"
	}
	h.Set("ETag", `"`+etag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// load reads and compresses all files. It is called only once, because this takes a few
// milliseconds.
func load() (map[string]asset, error) {
	assets := map[string]asset{}
	err := fs.WalkDir(static, "static", func(name string, entry fs.DirEntry, err error) error {
		contentType := contentTypes[path.Ext(name)]
		if err != nil || entry.IsDir() || contentType == "" {
			return err
		}
		plain, err := static.ReadFile(name)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(plain)
		var packed bytes.Buffer
		w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
		if err != nil {
			return err
		}
		_, err = w.Write(plain)
		err = errors.Join(err, w.Close())
		assets[strings.TrimPrefix(name, "static/")] = asset{contentType, hex.EncodeToString(sum[:12]), plain, packed.Bytes()}
		return err
	})
	return assets, err
}

// contentTypes contains the content type of each file extension. Package mime is not
// used, because its result for .js depends on the system's settings.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".json": "application/json",
	".svg":  "image/svg+xml",
	"":      "text/plain; charset=utf-8", // the license
}
