package client

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// responseFieldNames are field names of both response formats, and others.
var responseFieldNames = []string{
	"data", "id", "template_id", "list_id", "campaign_id", "workflow_id", "webhook_id", "email_id", "email", "name", "tag", "status",
	"pagination", "page", "per_page", "count", "event", "events", "signature", "key", "secret", "hash_function", "audience", "content", "subject",
	"html", "open", "click", "hard_bounced", "bounce", "errors", "imported", "updated", "index", "loc", "msg", "detail", "error", "items", "object", "tags", "",
}

func randomJSON(r *rand.Rand, b *strings.Builder, depth int) {
	kind := r.IntN(10)
	if depth == 0 {
		kind = 4 + r.IntN(6)
	}
	switch kind {
	case 0, 1, 2:
		b.WriteByte('{')
		for i := range r.IntN(6) {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(b, "%q:", responseFieldNames[r.IntN(len(responseFieldNames))])
			randomJSON(r, b, depth-1)
		}
		b.WriteByte('}')
	case 3:
		b.WriteByte('[')
		for i := range r.IntN(4) {
			if i > 0 {
				b.WriteByte(',')
			}
			randomJSON(r, b, depth-1)
		}
		b.WriteByte(']')
	default:
		scalars := []string{"null", "true", "false", "0", "7", "-1", "1.5", "1e3", `""`, `"x"`, `"8"`, `"1.5"`, "9223372036854775808", `"[redacted]"`}
		b.WriteString(scalars[r.IntN(len(scalars))])
	}
}

// FuzzPromises: if an operation succeeds with a random response, the required field is set from the response.
func FuzzPromises(f *testing.F) {
	for i, a := range knownResponses() {
		f.Add(a.body, uint64(i))
	}
	f.Add(`{"detail":[{"msg":"refused"}]}`, uint64(7))
	f.Add(`{"data":[{"name":"a"},{"tag":7},null],"data":{"id":0}}`, uint64(8))
	f.Add("", uint64(9))
	var body string
	c, err := New(Config{
		BaseURL: "https://example.com", Token: testToken, Retry: RetryConfig{MaxAttempts: 1}, LookupLimiter: NoLookupLimit{},
		HTTPClient: &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: -1, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		})},
	})
	fatal(f, err)
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		if seed%2 == 1 {
			var b strings.Builder
			randomJSON(rand.New(rand.NewPCG(seed, uint64(len(text)))), &b, 4)
			text = b.String()
		}
		body = text
		for _, a := range knownResponses() {
			v, err := a.call(t.Context(), c)
			if err != nil || !a.promises() {
				continue
			}
			member, given := promised(v)
			if !given || !json.Valid([]byte(text)) {
				t.Errorf("%s with the response %s: got %+v without %s, want an error", a.op, text, v, member)
			}
			checkSource(t, text, v)
		}
		checkFuzzedImport(t, c, text)
	})
}

// checkFuzzedImport: if an import succeeds, each contact is accounted for.
func checkFuzzedImport(t *testing.T, c *Client, text string) {
	t.Helper()
	batch := ImportBatch{Contacts: []ImportContact{{Email: "a@b.example"}, {Email: "b@b.example"}, {Email: "c@b.example"}}}
	result, err := c.Contacts.ImportBatch(t.Context(), 1, batch)
	if err != nil {
		return
	}
	rejected := map[int64]bool{}
	for _, e := range result.Errors {
		rejected[e.Index] = true
	}
	if result.Imported+result.Updated+result.Accepted+int64(len(rejected)) != 3 || !strings.ContainsAny(text, "{") {
		t.Errorf("an import with the response %s: got %+v", text, result)
	}
}

// checkSource finds the required fields of v in the text with encoding/json.
func checkSource(t *testing.T, text string, v any) {
	t.Helper()
	var raw any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&raw); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if data := reflect.ValueOf(v).FieldByName("Data"); data.IsValid() {
		items, ok := raw.(map[string]any)["data"].([]any)
		if !ok || len(items) != data.Len() {
			t.Errorf("%s: %d items were read", text, data.Len())
			return
		}
		for i, item := range items {
			checkMember(t, text, data.Index(i).Interface(), item)
		}
		return
	}
	outer, _ := raw.(map[string]any)
	checkMember(t, text, v, outer, outer["data"])
}

func checkMember(t *testing.T, text string, v any, objects ...any) {
	t.Helper()
	member, _ := promised(v)
	var found []string
	for _, o := range objects {
		o, _ := o.(map[string]any)
		for _, name := range []string{member, "id", "email_id", "tag"} {
			if value, ok := o[name]; ok {
				found = append(found, fmt.Sprint(value))
			}
		}
	}
	read := fmt.Sprint(reflect.ValueOf(v).Field(firstField(v, member)).Interface())
	if !slices.Contains(found, read) {
		t.Errorf("%s: %s is %q, the response has %q", text, member, read, found)
	}
}

func firstField(v any, member string) int {
	for i := range reflect.TypeOf(v).NumField() {
		if reflect.TypeOf(v).Field(i).Tag.Get("json") == member {
			return i
		}
	}
	panic(member)
}
