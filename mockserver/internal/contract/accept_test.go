package contract

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"

	"example.com/emailplatform/mockserver/internal/accept"
)

var bodies = flag.Int("accept.bodies", 10_000, "how many random bodies, and as many queries, are held against the document")

// sorted returns all operations in the order of the document.
func sorted() (all []*Operation) {
	for _, o := range accept.Operations() {
		all = append(all, Load().Operations[o.Pattern()])
	}
	return all
}

func bodySchema(o *Operation) *openapi3.Schema {
	return o.route().Operation.RequestBody.Value.Content.Get("application/json").Schema.Value
}

// TestOperationsAreTheDocuments holds the generated table against the document.
func TestOperationsAreTheDocuments(t *testing.T) {
	n := 0
	for path, item := range document().Paths.Map() {
		for method, op := range item.Operations() {
			n++
			o := Load().Operations[method+" "+path]
			if o == nil || o.ID != op.OperationID || o.Deprecated != op.Deprecated || (o.Body != nil) != (op.RequestBody != nil) {
				t.Errorf("%s %s: %+v", method, path, o)
			} else if o.Body != nil && o.BodyRequired != op.RequestBody.Value.Required {
				t.Errorf("%s: the body is required: %v", o.ID, o.BodyRequired)
			}
		}
	}
	if got := len(accept.Operations()); got != n {
		t.Errorf("%d operations, the document has %d", got, n)
	}
}

// TestExamplesAreAccepted makes sure that what is usual is accepted from the bytes:
// a keyword that the generator does not know would only make requests slower, and
// nobody would notice.
func TestExamplesAreAccepted(t *testing.T) {
	whole, err := openapi3.NewLoader().LoadFromFile("../../../openapi.yaml") // the embedded one has no examples
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, o := range sorted() {
		item := whole.Paths.Value(o.Path)
		op := item.GetOperation(o.Method)
		values := map[string]string{}
		for _, p := range slices.Concat(item.Parameters, op.Parameters) {
			values[p.Value.Name] = fmt.Sprint(p.Value.Example)
			if query := (p.Value.Name + "=" + values[p.Value.Name]); p.Value.In == "query" && !o.InQueryIsGood(query) {
				t.Errorf("%s: the query %s is not accepted", o.ID, query)
			}
		}
		if !o.InPathIsGood(func(name string) string { return values[name] }) {
			t.Errorf("%s: the path is not accepted with %v", o.ID, values)
		}
		if op.RequestBody == nil {
			continue
		}
		media := op.RequestBody.Value.Content.Get("application/json")
		examples := []any{media.Example}
		for _, example := range media.Examples {
			examples = append(examples, example.Value.Value)
		}
		for _, example := range slices.DeleteFunc(examples, func(v any) bool { return v == nil }) {
			n++
			if body, err := json.Marshal(example); err != nil || !o.BodyIsGood(body) {
				t.Errorf("%s: %s is not accepted (%v)", o.ID, body, err)
			}
		}
	}
	if n < 15 {
		t.Errorf("only %d examples of bodies", n)
	}
}

// TestAcceptedIsGood makes random requests, most of them nearly right: of none that
// is accepted from its bytes may the document find anything.
func TestAcceptedIsGood(t *testing.T) {
	r := rand.New(rand.NewPCG(1, uint64(*bodies)))
	all := sorted()
	withBody := slices.DeleteFunc(slices.Clone(all), func(o *Operation) bool { return o.Body == nil })
	var accepted, queries int
	for i := range *bodies {
		o := withBody[i%len(withBody)]
		body := draft{Rand: r}
		body.value(bodySchema(o))
		if holdBody(t, o, []byte(body.String())) {
			accepted++
		}
		o = all[i%len(all)]
		if holdParameters(t, o, randomQuery(r, o), func() string { return oneOf(r, oddTexts) }) {
			queries++
		}
	}
	t.Logf("%d of %d bodies and %d of as many queries were accepted", accepted, *bodies, queries)
	if accepted < *bodies/10 || queries < *bodies/10 {
		t.Error("so few prove nothing")
	}
}

// holdBody reports whether a body is accepted, and fails if the document does not
// accept it, or does not know one of its members.
func holdBody(t *testing.T, o *Operation, body []byte) bool {
	t.Helper()
	if !o.BodyIsGood(body) {
		return false
	}
	if len(body) == 0 {
		return !o.BodyRequired
	}
	if found, _ := o.bodyDetails(body, true); len(found) > 0 {
		t.Errorf("%s accepts %s, of which the document says %v", o.ID, body, found)
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		t.Errorf("%s: %s is drawn badly: %v", o.ID, body, err)
	}
	if name := unknownMember(bodySchema(o), value); name != "" {
		t.Errorf("%s accepts %s: it has a member %q, which nobody knows", o.ID, body, name)
	}
	return true
}

func unknownMember(schema *openapi3.Schema, value any) string {
	switch value := value.(type) {
	case map[string]any:
		for name, member := range value {
			switch known := schema.Properties[name]; {
			case known != nil:
				if inner := unknownMember(known.Value, member); inner != "" {
					return inner
				}
			case schema.AdditionalProperties.Schema == nil:
				return name
			}
		}
	case []any:
		for _, item := range value {
			if inner := unknownMember(schema.Items.Value, item); inner != "" {
				return inner
			}
		}
	}
	return ""
}

// holdParameters does the same for what stands in the path and in the query.
func holdParameters(t *testing.T, o *Operation, query string, segment func() string) bool {
	t.Helper()
	r := httptest.NewRequest(o.Method, "/", http.NoBody)
	r.URL.RawQuery = query
	for _, p := range o.InPath {
		r.SetPathValue(p.Name, segment())
	}
	if !o.InQueryIsGood(query) || !o.InPathIsGood(r.PathValue) {
		return false
	}
	if err := openapi3filter.ValidateRequest(r.Context(), o.input(r)); err != nil {
		t.Errorf("%s accepts the query %q and the path %v: %v", o.ID, query, o.input(r).PathParams, err)
	}
	for name := range r.URL.Query() {
		if !slices.ContainsFunc(o.InQuery, func(p accept.Parameter) bool { return p.Name == name }) {
			t.Errorf("%s accepts the query %q: nobody knows %s", o.ID, query, name)
		}
	}
	return true
}

// FuzzAccept holds any body and query against the document that is accepted from
// its bytes, of whatever operation.
func FuzzAccept(f *testing.F) {
	all := sorted()
	r := rand.New(rand.NewPCG(1, 2))
	for i, o := range all {
		body := draft{Rand: r, tame: true}
		if o.Body != nil {
			body.value(bodySchema(o))
		}
		f.Add(byte(i), []byte(body.String()), "page=1&per_page=100&filter=email%3Aa", "1")
	}
	f.Fuzz(func(t *testing.T, which byte, body []byte, query, segment string) {
		o := all[int(which)%len(all)]
		if o.Body != nil && (len(body) == 0 || json.Valid(body)) {
			holdBody(t, o, body)
		} else {
			o.BodyIsGood(body) // must end, whatever it is
		}
		holdParameters(t, o, query, func() string { return segment })
	})
}

// oddTexts are what parameters may be, good and bad.
var oddTexts = []string{
	"1", "12", "0", "-1", "+1", "01", "1e2", "1.5", "100", "101", "999999999999999999", "9999999999999999999", "", " ", "true", "false",
	"TRUE", "t", "null", "email:a@example.org", "status:active", "email:asc", "id:up", "id:desc ", "é", "a,b", "a b", "%", "\x00",
}

func oneOf[T any](r *rand.Rand, of []T) T { return of[r.IntN(len(of))] }

func randomQuery(r *rand.Rand, o *Operation) string {
	var parts []string
	for _, p := range o.InQuery {
		for range r.IntN(20) / 9 { // once mostly, or not at all, or twice
			value := oneOf(r, oddTexts)
			if r.IntN(3) > 0 {
				value = strings.NewReplacer("@", "%40", ":", "%3A", " ", "+", "%", "%25", "\x00", "%00").Replace(value)
			}
			parts = append(parts, p.Name+"="+value)
		}
	}
	if r.IntN(10) == 0 {
		parts = append(parts, oneOf(r, []string{"", "page", "Page=1", "later=1", "a;b", "%zz=1"}))
	}
	return strings.Join(parts, "&")
}

// draft writes values as a schema wants them, and now and then as it does not.
type draft struct {
	*rand.Rand
	strings.Builder
	tame bool
}

func (d *draft) odd(one int) bool { return !d.tame && d.IntN(one) == 0 }

// oddValues are what may stand anywhere.
var oddValues = []string{
	"null", `""`, `"x"`, `"\u0061"`, `"a\"b\\"`, `"é"`, `"éé"`, `"marketing"`, `"activ\u0065"`, "0", "-0", "-1", "1.5", "1.0", "1e3", "7", "1E-2",
	"999999999999999999", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "12345678901234567890", "true", "false",
	"[]", `["a"]`, `[""]`, "[1]", "[[]]", "{}", `{"x":1}`, `{"name":"a","value":"b"}`, "\"\xff\"", `"\\"`,
}

func (d *draft) space() {
	if d.odd(10) {
		d.WriteString(oneOf(d.Rand, []string{" ", "\n\t", "\r\n "}))
	}
}

func (d *draft) value(s *openapi3.Schema) {
	d.space()
	defer d.space()
	switch {
	case d.odd(25):
		d.WriteString(oneOf(d.Rand, oddValues))
	case s.Type.Includes("null") && d.IntN(4) == 0:
		d.WriteString("null")
	case s.Type.Includes("object"):
		d.object(s)
	case s.Type.Includes("array"):
		d.list(s)
	case s.Type.Includes("string"):
		d.text(s)
	case s.Type.Includes("integer"):
		fmt.Fprint(d, d.IntN(120)+1)
	default:
		fmt.Fprint(d, d.IntN(2) == 0)
	}
}

func (d *draft) object(s *openapi3.Schema) {
	names := slices.Sorted(maps.Keys(s.Properties))
	if s.AdditionalProperties.Schema != nil {
		names = append(names, "first_name", `with \"quotes\"`)
	}
	if d.odd(20) {
		names = append(names, oneOf(d.Rand, []string{"later", "Email", "NAME", `nam\u0065`, `\u0065mail`, "", "name"}))
	}
	d.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	names = slices.DeleteFunc(names, func(name string) bool { return !slices.Contains(s.Required, name) && d.IntN(3) == 0 || d.odd(40) })
	d.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			d.WriteByte(',')
		}
		d.space()
		fmt.Fprintf(d, `"%s"`, name)
		d.space()
		d.WriteByte(':')
		member := s.Properties[name]
		if member == nil {
			member = s.AdditionalProperties.Schema
		}
		if member == nil {
			member = openapi3.NewStringSchema().NewRef()
		}
		d.value(member.Value)
	}
	d.WriteByte('}')
}

func (d *draft) list(s *openapi3.Schema) {
	n := d.IntN(3) + int(s.MinItems)
	if s.MaxItems != nil && d.odd(2000) {
		n = int(*s.MaxItems) + d.IntN(2)
	}
	d.WriteByte('[')
	for i := range n {
		if i > 0 {
			d.WriteByte(',')
		}
		d.value(s.Items.Value)
	}
	d.space()
	d.WriteByte(']')
}

func (d *draft) text(s *openapi3.Schema) {
	if len(s.Enum) > 0 {
		fmt.Fprintf(d, "%q", oneOf(d.Rand, s.Enum))
		return
	}
	d.WriteString(oneOf(d.Rand, []string{`"text"`, `"a@example.org"`, `"{{name}} \n \"x\" \u00e9"`, `"é日本"`, `"a\\"`, `"]},:"`}))
}
