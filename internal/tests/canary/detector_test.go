// Package canary searches for secrets in the output of all packages: errors, log
// records, formatted and encoded values, responses, and dumps. It ignores the two
// places that must contain a secret: the Authorization header, and the response that
// returns the secret of a new webhook.
package canary

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"html/template"
	"log/slog"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// The secrets look like real secrets. The token contains characters that JSON and URLs escape, because escaped
// secrets must be found too.
const (
	canaryToken    = "canary-token/5hR8yq0<ZlV3+nT7w=="
	canaryKey      = "canary-key-Yk2m9QpXc4sD1ub"
	canaryPassword = "canary-password-aW6e8Tg3"
)

// detector fails the test if a text contains one of its secrets.
type detector struct {
	testing.TB
	mu       sync.Mutex
	secrets  map[string][]string // by name, in every encoding
	searched int                 // number of texts
}

func newDetector(t testing.TB) *detector {
	w := &detector{TB: t, secrets: map[string][]string{}}
	w.addSecret("token", canaryToken)
	w.addSecret("key", canaryKey)
	w.addSecret("password", canaryPassword)
	return w
}

// addSecret adds a secret to search for. Besides the secrets above, a test adds those that the server created.
func (w *detector) addSecret(name, secret string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.secrets[name] = encodings(secret)
}

// encodings returns the encodings of a secret by fmt, log, url and the encoders.
func encodings(secret string) []string {
	b := []byte(secret)
	quoted, _ := json.Marshal(secret)
	numbers := strings.Trim(fmt.Sprint(b), "[]") //nolint:staticcheck // the numbers are what is wanted
	goNumbers := strings.TrimSuffix(strings.TrimPrefix(fmt.Sprintf("%#v", b), "[]byte{"), "}")
	base := base64.RawStdEncoding.EncodeToString(b)
	return []string{
		secret,
		strings.ReplaceAll(secret, "/", `\/`),
		html.EscapeString(secret),
		template.HTMLEscapeString(secret),
		strings.Trim(string(quoted), `"`),
		url.QueryEscape(secret), url.PathEscape(secret), hex.EncodeToString(b),
		strings.ToUpper(hex.EncodeToString(b)),
		numbers,
		strings.ReplaceAll(numbers, " ", ","),
		goNumbers,
		base[:len(base)-1],
		base64.RawURLEncoding.EncodeToString(b)[:len(base)-1],
	}
}

// search searches a text for the secrets.
func (w *detector) search(where, text string) {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.searched++
	for name, forms := range w.secrets {
		for _, form := range forms {
			if at := strings.Index(text, form); at >= 0 {
				w.Errorf("%s shows the %s: …%s[%s]", where, name, text[max(0, at-60):at], name)
				break
			}
		}
	}
}

// show formats and logs values, encodes them as JSON, and searches the results.
func (w *detector) show(where string, values ...any) {
	w.Helper()
	w.print(where, values...)
	for _, v := range values {
		if encoded, err := json.Marshal(v); err == nil {
			w.search(where+" as JSON", string(encoded))
		} else {
			w.search(where+" as an error of JSON", err.Error())
		}
	}
}

// print formats and logs values, and searches the results.
func (w *detector) print(where string, values ...any) {
	w.Helper()
	for _, v := range values {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			w.search(where+" as "+verb, fmt.Sprintf(verb, v))
			w.search(where+" within, as "+verb, fmt.Sprintf(verb, []any{v, struct{ V any }{v}, map[string]any{"v": v}}))
		}
		for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
			"text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
			"JSON": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
		} {
			var b bytes.Buffer
			slog.New(handler(&b)).Info("shown", "value", v, slog.Group("group", "value", v))
			w.search(where+" in a log as "+name, b.String())
		}
	}
}

// showError searches an error and the errors that it wraps. It does not search the JSON of their fields, because
// programs may need the readable fields of a broken event.
func (w *detector) showError(where string, err error) {
	w.Helper()
	if err == nil {
		w.Errorf("%s: no error to search", where)
		return
	}
	w.print(where+fmt.Sprintf(" (%T)", err), err)
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			w.showError(where, inner)
		}
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			w.showError(where, inner)
		}
	}
}

// logger returns a logger that searches its records.
func (w *detector) logger(where string) *slog.Logger {
	return slog.New(
		slog.NewJSONHandler(searchingWriter{w, "the log of " + where},
			&slog.HandlerOptions{Level: slog.LevelDebug, AddSource: true}),
	)
}

type searchingWriter struct {
	*detector
	where string
}

func (l searchingWriter) Write(p []byte) (int, error) {
	l.search(l.where, string(p))
	return len(p), nil
}

// recorder counts the failures of a detector instead of failing the test.
type recorder struct {
	testing.TB
	failures int
}

func (*recorder) Helper()                 {}
func (r *recorder) Errorf(string, ...any) { r.failures++ }

type leakyError struct{ secret string }

func (l leakyError) Error() string { return "rejected: " + l.secret }

// TestDetectorFindsLeaks: a detector finds a secret in each kind of value and reports nothing if there is no secret.
func TestDetectorFindsLeaks(t *testing.T) {
	for name, leak := range map[string]func(*detector){
		"an error":            func(w *detector) { w.showError("", leakyError{canaryToken}) },
		"a wrapped error":     func(w *detector) { w.showError("", fmt.Errorf("x%w", leakyError{canaryKey})) },
		"a joined error":      func(w *detector) { w.showError("", errors.Join(errors.New("x"), leakyError{canaryKey})) },
		"an unexported field": func(w *detector) { w.show("", struct{ s string }{canaryPassword}) },
		"bytes":               func(w *detector) { w.show("", struct{ Body []byte }{[]byte("x" + canaryToken + "x")}) },
		"a header in base64":  func(w *detector) { w.search("", base64.StdEncoding.EncodeToString([]byte(canaryKey))) },
		"a URL":               func(w *detector) { w.show("", url.UserPassword("u", canaryPassword)) },
		"a log": func(w *detector) {
			w.logger("").Debug("x", "group", slog.GroupValue(slog.String("y", canaryToken)))
		},
	} {
		r := &recorder{TB: t}
		if leak(newDetector(r)); r.failures == 0 {
			t.Errorf("%s: not detected", name)
		}
	}
	quiet := &recorder{TB: t}
	if newDetector(quiet).showError("", errors.New("canary")); quiet.failures != 0 {
		t.Error("a text without the secret was reported")
	}
}
