// Package quirk changes requests to the API and its responses, so the mock server behaves like
// another platform that follows the specification.
package quirk

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/inprocess"
)

// Quirk is a deviation that the specification allows.
type Quirk struct {
	Name string // a quirk that ends with "=" has a positive integer as its value
	Text string // what the mock server does, as a sentence without its subject

	request  func(x *exchange)
	response func(x *exchange)
}

// exchange is a request and its response.
type exchange struct {
	r      *http.Request
	value  int             // of the quirk
	next   http.Handler    // the API, for further requests
	ids    *numbers        // of emails
	reject *apierror.Error // the response, if a quirk rejects the request

	status int
	header http.Header
	body   map[string]any // nil if the body is not a JSON object
	plain  []byte         // a body that is not a JSON object
	prefix string         // of the JSON
}

// Check returns an error if a name is unknown, or its value is invalid.
func Check(names []string) error {
	for _, name := range names {
		if _, _, ok := named(name); !ok {
			return fmt.Errorf("%q must be one of %s", name, strings.Join(Names(), ", "))
		}
	}
	return nil
}

// Names returns the names of all quirks. A quirk with a value ends with "=N".
func Names() (names []string) {
	for _, q := range table() {
		names = append(names, q.display())
	}
	return names
}

// Manual returns a Markdown table of all quirks.
func Manual() string {
	var out strings.Builder
	out.WriteString("| quirk | effect |\n|---|---|\n")
	for _, q := range table() {
		fmt.Fprintf(&out, "| `%s` | %s |\n", q.display(), q.Text)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func (q Quirk) display() string {
	if strings.HasSuffix(q.Name, "=") {
		return q.Name + "N"
	}
	return q.Name
}

func named(name string) (q Quirk, value int, ok bool) {
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
			if q, value, _ := named(name); q.Name == of.Name {
				quirks = append(quirks, active{q, value})
			}
		}
	}
	ids := &numbers{}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x := &exchange{r: r.Clone(r.Context()), next: next, ids: ids}
		for _, q := range quirks {
			if x.value = q.value; q.request != nil && x.reject == nil {
				q.request(x)
			}
		}
		if !x.run(w) {
			return
		}
		for _, q := range quirks {
			if x.value = q.value; q.response != nil {
				q.response(x)
			}
		}
		x.write(w)
	})
}

// run processes the request. It returns false if it has written the response, because a fault rule
// truncates it.
func (x *exchange) run(w http.ResponseWriter) bool {
	recorded := inprocess.NewRecording(w.Header())
	if x.reject != nil {
		gateway.WriteProblem(recorded, x.reject)
	} else {
		x.next.ServeHTTP(recorded, x.r)
	}
	x.status, x.header = recorded.Status, recorded.Header()
	length := x.header.Get("Content-Length")
	x.header.Del("Content-Length")
	if x.body = decode(recorded.Body.Bytes()); x.body == nil {
		x.plain = recorded.Body.Bytes()
	}
	if length == "" || length == strconv.Itoa(recorded.Body.Len()) {
		return true
	}
	maps.Copy(w.Header(), recorded.Header())
	w.Header().Set("Content-Length", length)
	w.WriteHeader(recorded.Status)
	_, _ = w.Write(recorded.Body.Bytes())
	return false
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

func (x *exchange) write(w http.ResponseWriter) {
	clear(w.Header())
	maps.Copy(w.Header(), x.header)
	w.WriteHeader(x.status)
	text := x.plain
	if x.body != nil {
		text, _ = json.Marshal(x.body) // it was decoded from JSON
		text = append([]byte(x.prefix), text...)
	}
	if x.status != http.StatusNoContent && x.r.Method != http.MethodHead {
		_, _ = w.Write(text)
	}
}

// get requests another page of the same list.
func (x *exchange) get(query map[string]string) map[string]any {
	r := x.r.Clone(x.r.Context())
	r.Body = io.NopCloser(bytes.NewReader(nil))
	values := r.URL.Query()
	for name, value := range query {
		values.Set(name, value)
	}
	r.URL.RawQuery = values.Encode()
	w := inprocess.NewRecording(http.Header{})
	x.next.ServeHTTP(w, r)
	return decode(w.Body.Bytes())
}
