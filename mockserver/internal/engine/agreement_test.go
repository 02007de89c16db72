package engine_test

import (
	"encoding/json"
	"flag"
	"iter"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/probe"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/internal/engine"
)

var (
	bodies    = flag.Int("agreement.bodies", 1000, "how many random seeds and fault rules are compared with their schemas")
	firstBody = flag.Uint64("agreement.seed", 1, "the `seed` of the random bodies")
)

// exceptions match the errors that a schema cannot describe.
var exceptions = []*regexp.Regexp{
	// These errors depend on other records.
	regexp.MustCompile(`the object contains no entry named`),
	regexp.MustCompile(`"msg":"(list|template) \d+ does not exist`),
	regexp.MustCompile(`the id \d+ is already in use|"token"\],"msg":"must be unique|the list already contains the address`),
	regexp.MustCompile(`no token belongs to account`),
	regexp.MustCompile(`for all contacts on the list or for none|the id of the previous contact`),
	regexp.MustCompile(`the anti-spam policy of list \d+ has not been accepted`),
	regexp.MustCompile(`must not contain U\+0000`),
	// JSON Schema accepts 1.0 and 1e2 as integers.
	regexp.MustCompile(`must be an integer, got \d+(\.0|e\d)`),
}

// addresses matches the errors of addresses and URLs. If the server's schema accepts a seed but an operation returns
// such an error, this is allowed, because operations check more than the patterns of the schema, for example the lengths
// of the parts of an address.
var addresses = regexp.MustCompile(`"msg":"(not an email address|must be an address, |must be an absolute http or https URL)`)

// exceptionOf returns the exception that matches the error of a body, or "".
func exceptionOf(body, text string) string {
	if addresses.MatchString(text) && len(engine.SeedSchema().RequestErrors([]byte(body))) == 0 {
		return addresses.String()
	}
	for _, e := range exceptions {
		if e.MatchString(text) {
			return e.String()
		}
	}
	return ""
}

// seedsAndFaults are the examples of TestSchemasAgree, and the random bodies begin as one of them. Together, the valid
// examples contain every field.
var seedsAndFaults = []struct {
	name, body string
	valid      bool
}{
	{"Seed", `{}`, true},
	{"Seed", seedFile[:strings.LastIndex(seedFile, `{"account_id"`)], true},
	{"Seed", stable, true},
	{"Seed", `{"workflows":[{"name":"w","list":"l","list_id":1,"trigger":"subscribed","sender":{"email":"a@b.example"},"content":{"text":"x"}}]}`, false},
	{"Seed", `{"campaigns":[{"name":"c","content":{"html":"x","template":"t"}}]}`, false},
	{"Seed", `{"suppressed_emails":["*@c.example","a@*","ü@exämple.org"]}`, true},
	{"Seed", `{"suppressed_emails":["a..b@c.example"]}`, false},
	{"Seed", `{"webhooks":[{"url":"ftp://a.test","events":["Email.Opened"]}]}`, false},
	{"Seed", `{"webhooks":[{"url":"HTTPS://a.test/x","events":["Email.Opened"]}]}`, true},
	{"Seed", `{"webhooks":[{"url":"http://a.test","events":[]}]}`, false},
	{"Seed", `{"tokens":[{"token":"kéy"}]}`, false},
	{"Seed", `{"lists":[{"name":"x","contacts":[{"email":"a@b.example","interests":["i"],"tags":["t"],"custom_attributes":[{"name":"n","value":"v"}]}]}]}`, true},
	{"Seed", `{"lists":[{"list_id":6,"name":"l"}],"campaigns":[{"campaign_id":7,"name":"c","list_id":6,"content":{"html":"x"}}]}`, true},
	{"Seed", `{"templates":[{"template_id":5,"name":"t","content":{"text":"x"}}],"campaigns":[{"name":"c","content":{"template_id":5}}]}`, true},
	{"Seed", `{"lists":[{"list_id":6,"name":"l"}],"workflows":[{"name":"w","list_id":6,"trigger":"subscribed",` +
		`"sender":{"name":"n","email":"a@b.example"},"content":{"subject":"s","html":"x","text":"x"}}]}`, true},
	{"Seed", `{"webhooks":[{"url":"http://a.test","events":["Email.Opened"],"rate_limit":5,"rate_limit_period":"minute","secret":"s"}]}`, true},
	{"Seed", `{"account_id":2,"tokens":[{"token":"x","user_id":7,"user_email":"w@example.com","expires_in_ms":5}]}`, true},
	{"Seed", `{"account_id":9223372036854775808}`, false},
	{"Seed", `{"suppressed_emails":["*@*"]}`, false},
	{"Seed", `{"suppressed_emails":["**@*","*.a@*","*a@*"]}`, true},
	{"Fault", `{"action":"status","status":200}`, true},
	{"Fault", `{"action":"status","status":199}`, false},
	{"Fault", `{"action":"status","status":600}`, false},
	{"Fault", `{"action":"explode"}`, false},
	{"Fault", `{"action":"status","nth":1,"every":2}`, false},
	{"Fault", `{"action":"status","nth":0}`, false},
	{"Fault", `{"action":"status","probability":1}`, true},
	{"Fault", `{"action":"status","probability":0}`, false},
	{"Fault", `{"action":"status","path":"/x","method":"GET"}`, true},
	{"Fault", `{"action":"status","path":"x"}`, false},
	{"Fault", `{"action":"status","method":"get"}`, false},
	{"Fault", `{"action":"status","operation":"listTag"}`, false},
	{"Fault", `{"action":"status","retry_after":"x\ny"}`, false},
	{"Fault", `{"action":"drop","operation":"listTags"}`, false},
	{"Fault", `{"action":"truncate","event":"*"}`, false},
	{"Fault", `{"action":"reset","event":"Email.Opened","after_processing":true}`, true},
	{"Fault", `{"action":"delay","delay_ms":86400001}`, false},
	{"Fault", `{"action":"delay","delay_ms":1}`, true},
	{"Fault", `{"action":"delay","delay_ms":0}`, false},
	{"Fault", `{"action":"delay"}`, false},
	{"Fault", `{"action":"oversize","size":1073741825}`, false},
	{"Fault", `{"action":"status","status":1.5}`, false},
	{"Fault", `{"action":"status","ACTION":"reset"}`, false},
	{"Fault", `{}`, false},
	{"Fault", `{"action":"status","account_id":1,"nth":2,"times":1,"status":429,"retry_after":"5","body":"x"}`, true},
	{"Fault", `{"action":"redirect","operation":"listTags","every":2,"location":"/x","after_processing":true}`, true},
	{"Fault", `{"action":"oversize","size":10,"delay_ms":1}`, true},
	{"Fault", `{"action":"drop","event":"Email.Opened","webhook_id":"1"}`, true},
}

type object = map[string]any

// agreement compares a server with its /_mock/openapi.json.
type agreement struct {
	probe.Probe
	compiled           map[string]*jsonschema.Schema
	accepted, rejected int
	excepted           map[string]int // by exception
}

// newAgreement compiles the schemas with a validator for JSON Schema 2020-12.
func newAgreement(t *testing.T) *agreement {
	t.Helper()
	p := probe.New(t, mockserver.Config{Logger: slog.New(slog.DiscardHandler), Tokens: []mockserver.Token{{}, {Value: "two", AccountID: 2}}})
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(p.Get("/_mock/openapi.json").OK().Body))
	require.NoError(t, err)
	a := &agreement{Probe: p, compiled: map[string]*jsonschema.Schema{}, excepted: map[string]int{}}
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("openapi.json", document))
	for _, name := range []string{"Seed", "Fault"} {
		a.compiled[name], err = compiler.Compile("openapi.json#/components/schemas/" + name)
		require.NoError(t, err)
	}
	return a
}

// compare sends a body to an empty server, and reports whether the schema and the server agree about it.
func (a *agreement) compare(name, body string) (agree, valid bool, got probe.Response) {
	a.Helper()
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
	require.NoError(a, err)
	valid = a.compiled[name].Validate(value) == nil
	a.Clear()
	got = a.Post(map[string]string{"Seed": "/_mock/seed", "Fault": "/_mock/faults"}[name], body)
	rejected := got.Status == http.StatusUnprocessableEntity || got.Status == http.StatusBadRequest
	switch accepted := got.Status/100 == 2; {
	case valid && rejected && exceptionOf(body, got.Body) != "":
		a.excepted[exceptionOf(body, got.Body)]++
		return true, valid, got
	case accepted:
		a.accepted++
		return valid, valid, got
	default:
		a.rejected++
		return !valid && rejected, valid, got
	}
}

func TestSchemasAgree(t *testing.T) {
	a := newAgreement(t)
	check := func(name, body string, want bool) {
		t.Helper()
		if agree, valid, got := a.compare(name, body); !agree || valid != want {
			t.Errorf("%s %s\nthe server: %d %s\nthe schema: %t, want %t", name, body, got.Status, got.Body, valid, want)
		}
	}
	for _, row := range seedsAndFaults {
		check(row.name, row.body, row.valid)
	}
}

// TestRandomBodiesAgree compares random bodies: examples with up to three random changes.
func TestRandomBodiesAgree(t *testing.T) {
	for _, name := range []string{"Seed", "Fault"} {
		t.Run(name, func(t *testing.T) {
			a := newAgreement(t)
			for body := range drafts(name, *bodies) {
				if agree, valid, got := a.compare(name, body); !agree {
					t.Errorf("%s\nthe server: %d %s\nthe schema: %t", body, got.Status, got.Body, valid)
				}
			}
			t.Logf("-agreement.seed %d: accepted %d, rejected %d, exceptions %v", *firstBody, a.accepted, a.rejected, a.excepted)
			if a.accepted < *bodies/4 || a.rejected < *bodies/4 {
				t.Errorf("accepted %d and rejected %d of %d, want a quarter each", a.accepted, a.rejected, *bodies)
			}
		})
	}
}

// part is a part of a JSON value, with the name of its field.
type part struct {
	name  string
	value any
	set   func(any)
}

func partsOf(name string, value any, set func(any)) []part {
	out := []part{{name, value, set}}
	switch value := value.(type) {
	case object:
		for _, field := range slices.Sorted(maps.Keys(value)) {
			out = append(out, partsOf(field, value[field], func(v any) { value[field] = v })...)
		}
	case []any:
		for i := range value {
			out = append(out, partsOf(name, value[i], func(v any) { value[i] = v })...)
		}
	}
	return out
}

// odd are values that often are invalid.
var odd = `[null, true, {}, [], [null], "", " ", "x", "X ", "é", "1", "/", "x\ny", "*", "Email.Lost", "get", "\u0000", "a b",
	"a@example.org", "A@example.org", "a@b", "a..b@example.org", "ü@exämple.org", "a@*", "*@example.org", "*@*",
	"http://a.test", "HTTPS://a.test/x?y#z", "ftp://a.test", "http://", "http://a.test/%zz", "http://[", "http://a:b",
	"Email.Opened", "second", "day", "sha256", "active", "deleted", "drop", "delay", "` + strings.Repeat("x", 300) + `",
	"` + strings.Repeat("a", 65) + `@example.org", "a@` + strings.Repeat(strings.Repeat("b", 61)+".", 4) + `ccccc",
	-1, 0, 1, 7, -0, 0.5, 1.0, 1e2, 1e-9, 100, 199, 200, 599, 600, 2147483647, 2147483648, 86400000, 86400001, 1073741824,
	1073741825, 1000000000000000, 1000000000000001, "1000000000000001", 315360000000, 315360000001, 9007199254740993,
	9223372036854775807, 9223372036854775808, 18446744073709551616, 1e300]`

// drafts returns n random bodies, which are valid examples with up to three changes. A change inserts a part of an
// example (often one with the same name), inserts an odd value, or removes a part.
func drafts(name string, n int) iter.Seq[string] {
	random := rand.New(rand.NewPCG(*firstBody, 1))
	var starts []string
	texts := map[string][]string{} // the parts of all examples, by name
	decode := func(text string) (value any) {
		value, _ = jsonschema.UnmarshalJSON(strings.NewReader(text))
		return value
	}
	encode := func(value any) string {
		text, _ := json.Marshal(value)
		return string(text)
	}
	for _, row := range seedsAndFaults {
		if row.name == name && row.valid {
			starts = append(starts, row.body)
			for _, p := range partsOf("", decode(row.body), nil) {
				texts[p.name] = append(texts[p.name], encode(p.value))
			}
		}
	}
	for _, p := range decode(odd).([]any) {
		texts["odd"] = append(texts["odd"], encode(p))
	}
	fields := slices.Sorted(maps.Keys(texts))
	oneOf := func(of []string) string { return of[random.IntN(len(of))] }
	return func(yield func(string) bool) {
		for range n {
			root := object{"": decode(oneOf(starts))}
			for range 1 + random.IntN(12)/5 {
				parts := partsOf("", root[""], func(v any) { root[""] = v })
				p, field := parts[random.IntN(len(parts))], oneOf(fields)
				value, isObject := p.value.(object)
				items, isArray := p.value.([]any)
				switch kind := random.IntN(8); {
				case kind < 2:
					p.set(decode(oneOf(texts["odd"])))
				case kind == 2 && isObject && len(value) > 0:
					delete(value, oneOf(slices.Sorted(maps.Keys(value))))
				case kind < 5 && isObject:
					value[field] = decode(oneOf(texts[field]))
				case kind < 5 && isArray:
					p.set(slices.Repeat(items, random.IntN(4)))
				default:
					p.set(decode(oneOf(texts[p.name])))
				}
			}
			if !yield(encode(root[""])) {
				return
			}
		}
	}
}
