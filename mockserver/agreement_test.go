package mockserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.com/emailplatform/mockserver"
)

// relational matches errors that a schema cannot detect, because they depend on other records.
var relational = regexp.MustCompile(`the object contains no entry named|is already in use|for every contact of the list|which the contact before it has|` +
	`already contains it|this token already exists|no token belongs to account|no list \d|no template \d|policy`)

// TestSchemasAgree sends 10,000 random seeds and faults. The server accepts what an independent validator accepts by
// /_mock/openapi.json, and rejects the others.
func TestSchemasAgree(t *testing.T) {
	schemas := compiled(t, "Seed", "Fault")
	random := rand.New(rand.NewPCG(32, 4))
	counts := map[string]int{}
	for n := range 10_000 {
		name, route, body := "Fault", "/_mock/faults", randomFault(random)
		if n%2 == 0 {
			name, route, body = "Seed", "/_mock/seed", randomSeed(random)
		}
		for range random.IntN(3) {
			body = mutated(random, body)
		}
		text, err := json.Marshal(body)
		must(t, err)
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		must(t, err)
		invalid := schemas[name].Validate(value)
		status, answer := sent(route, text)
		switch {
		case status != 200 && status != 204 && status != 422:
			t.Fatalf("%s: %d %s", text, status, answer)
		case (status == 422) == (invalid != nil):
			counts[fmt.Sprint(name, " ", status == 422)]++
		case invalid == nil && name == "Seed" && relational.MatchString(answer):
			counts["relational"]++
		default:
			t.Fatalf("%s %s\nthe server: %d %s\nthe schema: %v", name, text, status, answer, invalid)
		}
	}
	t.Log(counts)
	for _, kind := range []string{"Seed true", "Seed false", "Fault true", "Fault false"} {
		if counts[kind] < 1000 {
			t.Errorf("%d of %s, want 1,000 or more of each kind: %v", counts[kind], kind, counts)
		}
	}
	if counts["relational"] > 1000 {
		t.Errorf("%d seeds were rejected because of other records, too many to compare", counts["relational"])
	}
}

// compiled compiles schemas of /_mock/openapi.json with an independent validator of JSON Schema 2020-12.
func compiled(t *testing.T, names ...string) map[string]*jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(strings.NewReader(newProbe(t, mockserver.Config{}).must("GET", "/_mock/openapi.json", nil).text))
	must(t, err)
	compiler := jsonschema.NewCompiler()
	must(t, compiler.AddResource("openapi.json", document))
	out := map[string]*jsonschema.Schema{}
	for _, name := range names {
		if out[name], err = compiler.Compile("openapi.json#/components/schemas/" + name); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// sent sends a body to a new server.
func sent(route string, body []byte) (status int, answer string) {
	srv := mockserver.New(mockserver.Config{FaultSeed: 1})
	defer srv.Close()
	r := httptest.NewRequest("POST", route, bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	srv.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

type anyObject = map[string]any

// some returns a copy with the required fields and a random choice of the others.
func some(random *rand.Rand, all anyObject, required ...string) anyObject {
	out := anyObject{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if slices.Contains(required, name) || random.IntN(2) == 0 {
			out[name] = all[name]
		}
	}
	return out
}

func randomFault(random *rand.Rand) any {
	actions := []string{"status", "reset", "hang", "truncate", "oversize", "not_json", "redirect", "delay", "internal_error", "drop", "duplicate", "reorder"}
	f := some(random, anyObject{
		"account_id": 1, "action": actions[random.IntN(len(actions))], "times": random.IntN(3), "delay_ms": random.IntN(9), "status": 503,
		"retry_after": "1", "body": "x", "location": "/x", "size": random.IntN(9), "after_processing": true,
	}, "action")
	target := []string{"", "operation", "method", "path", "event", "webhook_id"}[random.IntN(6)]
	if target != "" {
		f[target] = anyObject{"operation": "listTags", "method": "GET", "path": "/lists/*", "event": "Email.Opened", "webhook_id": "3"}[target]
	}
	if which := []string{"", "nth", "every", "probability"}[random.IntN(4)]; which != "" {
		f[which] = 1
	}
	return f
}

func randomSeed(random *rand.Rand) any {
	sender := anyObject{"email": "shop@example.com"}
	content := anyObject{"subject": "x", "template": "t"}
	if random.IntN(2) == 0 {
		content = anyObject{"html": "<p>x</p>", "text": "x"}
	}
	contacts := []any{
		some(random, anyObject{"email": "ada@example.org", "tags": []any{"vip"}, "custom_attributes": []any{anyObject{"name": "a", "value": ""}}}, "email"),
		some(random, anyObject{"email": "bob+x@sub.example.org", "status": "unsubscribed", "interests": []any{}}, "email"),
	}
	return some(random, anyObject{
		"account_id": 1,
		"tokens":     []any{some(random, anyObject{"token": "t0ken", "user_id": 2, "user_email": "u@example.org", "read_only": true, "expires_in_ms": 5}, "token")},
		"templates":  []any{some(random, anyObject{"template_id": 11, "name": "t", "content": anyObject{"html": "x"}}, "name")},
		"lists": []any{
			some(random, anyObject{"list_id": 12, "name": "l", "policy_accepted": true, "contacts": contacts}, "name", "policy_accepted"),
		},
		"suppressed_emails": []any{"*@example.net", "eve@*", "eve@example.org"},
		"workflows": []any{some(random, anyObject{
			"workflow_id": 13, "active": true, "name": "w", "list": "l", "trigger": "subscribed", "sender": sender, "content": maps.Clone(content),
		}, "name", "list", "trigger", "sender", "content")},
		"campaigns": []any{some(random, anyObject{"campaign_id": 14, "name": "c", "list": "l", "sender": maps.Clone(sender), "content": content}, "name")},
		"webhooks": []any{some(random, anyObject{
			"webhook_id": "15", "url": "http://app.test/hook", "events": []any{"Email.Opened"}, "secret": "s3cr3t", "hash_function": "sha512",
			"rate_limit": 5, "rate_limit_period": "day",
		}, "url", "events")},
	}, "lists", "templates")
}

// values replace random values.
var values = []any{
	nil, true, false, 0, 1, -1, 2, 199, 200, 599, 600, 1.5, 86_400_000, 86_400_001, 1e15, 1e15 + 1, 315_360_000_001.0, "", " ", "x", "5", "0",
	" x", "x\ny", "/x", "GET", "get", "*", "Email.Opened", "email.opened", "listTags", "active", "sha256", "SHA256", "day", "subscribed", "l", "t",
	"a@b.example", "a@b", "@b.example", "a b@c.example", "a..b@c.example", "ü@exämple.org", "*@c.example", "a@*", "http://a.test", "HTTPS://a.test/x",
	"ftp://a.test", "//a.test", "http://", "key\x00", "kéy", strings.Repeat("x", 300) + "@c.example",
	[]any{},
	[]any{"x"},
	[]any{nil},
	anyObject{},
	anyObject{"name": "x"},
	anyObject{"email": "a@b.example"},
	[]any{anyObject{}},
	[]any{anyObject{"name": "y"}},
}

// mutated returns a copy with a random value replaced, removed, renamed or added.
func mutated(random *rand.Rand, value any) any {
	switch value := value.(type) {
	case anyObject:
		names := slices.Sorted(maps.Keys(value))
		out := maps.Clone(value)
		if len(names) == 0 || random.IntN(8) == 0 {
			known := []string{"name", "email", "list", "list_id", "template", "template_id", "html", "nth", "every", "probability", "event", "path", "id", "x"}
			out[known[random.IntN(len(known))]] = values[random.IntN(len(values))]
			return out
		}
		name := names[random.IntN(len(names))]
		switch random.IntN(8) {
		case 0:
			delete(out, name)
		case 1:
			delete(out, name)
			out[strings.ToUpper(name)] = value[name]
		default:
			out[name] = mutated(random, value[name])
		}
		return out
	case []any:
		if len(value) > 0 && random.IntN(4) > 0 {
			out := slices.Clone(value)
			i := random.IntN(len(out))
			out[i] = mutated(random, out[i])
			return out
		}
	}
	return values[random.IntN(len(values))]
}
