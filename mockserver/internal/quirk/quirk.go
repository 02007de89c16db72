// Package quirk changes requests to the API and its responses, so the mock server behaves like
// another platform that follows the specification.
package quirk

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"example.com/emailplatform/mockserver/internal/inprocess"
)

// Quirk is a deviation that the client accepts.
type Quirk struct {
	Name string // a quirk that ends with "=" has a positive integer as its value
	Text string // what the mock server does, as a sentence without its subject
	Seen string // where this behavior was observed; empty if it is assumed

	request  func(e *exchange)
	response func(e *exchange)
}

// exchange is a request and its response.
type exchange struct {
	response

	w     http.ResponseWriter // of the client
	r     *http.Request
	value int          // of the quirk
	next  http.Handler // the API, for further requests
	ids   *numbers     // of emails

	prefix string // of the JSON
	sent   bool   // the client has received the response
}

// response is a response of the API.
type response struct {
	status int
	header http.Header
	body   map[string]any // nil if the body is not a JSON object
	plain  []byte         // a body that is not a JSON object
}

// Check returns an error if a name is unknown, or its value is invalid.
func Check(names []string) error {
	for _, name := range names {
		if _, _, ok := parseName(name); !ok {
			return fmt.Errorf("%q must be one of %s", name, strings.Join(Names(), ", "))
		}
	}
	return nil
}

// Names returns the names of all quirks. The name of a quirk that needs a value ends with
// "=N".
func Names() (names []string) {
	for _, q := range table() {
		names = append(names, q.display())
	}
	return names
}

// Manual returns a Markdown table of all quirks.
func Manual() string {
	var out strings.Builder
	out.WriteString("| quirk | effect | known from |\n|---|---|---|\n")
	for _, q := range table() {
		fmt.Fprintf(&out, "| `%s` | %s | %s |\n", q.display(), q.Text, cmp.Or(q.Seen, "assumed"))
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func (q Quirk) display() string {
	if strings.HasSuffix(q.Name, "=") {
		return q.Name + "N"
	}
	return q.Name
}

// parseName returns the quirk with a name such as "errors-as-400" or "max-page=3", and its value.
func parseName(name string) (q Quirk, value int, ok bool) {
	key, number, hasValue := strings.Cut(name, "=")
	if hasValue {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 {
			return q, 0, false
		}
		key, value = key+"=", n
	}
	all := table()
	i := slices.IndexFunc(all, func(q Quirk) bool { return q.Name == key })
	if i < 0 {
		return q, 0, false
	}
	return all[i], value, true
}

type active struct {
	Quirk

	value int
}

// New returns a handler that applies the quirks with these valid names to the API.
func New(names []string, next http.Handler) http.Handler {
	if len(names) == 0 {
		return next
	}
	var quirks []active
	for _, of := range table() { // in this order, because some quirks change the results of others
		for _, name := range names {
			if q, value, _ := parseName(name); q.Name == of.Name {
				quirks = append(quirks, active{q, value})
			}
		}
	}
	ids := &numbers{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e := &exchange{w: w, r: r.Clone(r.Context()), next: next, ids: ids}
		for _, q := range quirks {
			if e.value = q.value; q.request != nil {
				q.request(e)
			}
		}
		e.serve(e.r)
		for _, q := range quirks {
			if e.value = q.value; q.response != nil && !e.sent {
				q.response(e)
			}
		}
		if !e.sent {
			e.write()
		}
	})
}

// serve processes a request and replaces the response. If a fault rule truncates the response,
// or if the response is too large to be stored, serve sends the response unchanged.
func (e *exchange) serve(r *http.Request) {
	w := &buffered{to: e.w, Recording: *inprocess.NewRecording(e.w.Header())}
	e.next.ServeHTTP(w, r)
	length := w.Header().Get("Content-Length")
	if e.sent = w.passed; e.sent {
		return
	}
	if length != "" && length != strconv.Itoa(w.Body.Len()) {
		w.pass()
		e.sent = true
		return
	}
	w.Header().Del("Content-Length")
	e.response = response{status: w.Status, header: w.Header(), body: decode(w.Body.Bytes())}
	if e.body == nil {
		e.plain = w.Body.Bytes()
	}
}

// decode returns nil if text is not a JSON object.
func decode(text []byte) map[string]any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var body map[string]any
	if d.Decode(&body) != nil {
		return nil
	}
	return body
}

func (e *exchange) write() {
	clear(e.w.Header())
	maps.Copy(e.w.Header(), e.header)
	e.w.WriteHeader(e.status)
	text := e.plain
	if e.body != nil {
		text, _ = json.Marshal(e.body) // it was decoded from JSON
		text = append([]byte(e.prefix), text...)
	}
	if e.status != http.StatusNoContent && e.r.Method != http.MethodHead {
		_, _ = e.w.Write(text)
	}
}

// get replaces the response with another page of the same list. If the response is not this
// page, for example because a fault rule applies to the request, get returns false.
func (e *exchange) get(number int, query map[string]string) bool {
	r := e.r.Clone(e.r.Context())
	r.Body = http.NoBody
	values := r.URL.Query()
	values.Set("page", strconv.Itoa(number))
	for name, value := range query {
		values.Set(name, value)
	}
	r.URL.RawQuery = values.Encode()
	e.serve(r)
	return !e.sent && e.isPage(number)
}
