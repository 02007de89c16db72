package mockserver_test

import (
	"encoding/json"
	"iter"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/fault"
)

// known are the valid values of fields, from the Go types.
var known = map[string][]string{
	"action": texts(fault.Actions()), "operation": contract.IDs(), "method": contract.Methods(), "event": append(texts(everything), "*"),
	"events": texts(everything), "hash_function": {"sha256", "sha512"}, "status": {"active", "unsubscribed", "deleted"},
	"rate_limit_period": {"second", "minute", "hour", "day"}, "trigger": {"subscribed"},
}

func texts[T ~string](of []T) (out []string) {
	for _, value := range of {
		out = append(out, string(value))
	}
	return out
}

var bodyTexts = []string{
	"", " ", "x", "X ", "é", "1", "0", "1000000000000000", "1000000000000001", "/", "x\ny", "*", "Email.Lost", "get", "null", "\u0000", "a b",
	"a@example.org", "A@example.org", "a@b", "a..b@example.org", "ü@exämple.org", "a@*", "*@example.org", "*@*", strings.Repeat("a", 65) + "@example.org",
	"a@" + strings.Repeat(strings.Repeat("b", 61)+".", 4) + "cccc", "a@" + strings.Repeat(strings.Repeat("b", 61)+".", 4) + "ccccc",
	"http://a.test", "HTTPS://a.test/x?y#z", "ftp://a.test", "http://", "http://a.test/%zz", "http://[", "http://a:b", "http://a.test/ x", strings.Repeat("x", 300),
}

var bodyNumbers = []string{
	"0", "-1", "1", "2", "7", "-0", "0.5", "1.5", "1.0", "1e2", "1e-9", "100", "199", "200", "599", "600", "2147483647", "2147483648", "86400000", "86400001",
	"1073741824", "1073741825", "1000000000000000", "1000000000000001", "315360000000", "315360000001", "9007199254740993", "9223372036854775807",
	"9223372036854775808", "18446744073709551616", "1e300",
}

// drafts returns n random bodies: valid examples with up to three changes.
func (a *agreement) drafts(name string, n int) iter.Seq[string] {
	d := &drafter{rand.New(rand.NewPCG(*firstBody, 1)), a.schemas}
	var starts []string
	for _, row := range seedsAndFaults {
		if row.name == name && row.valid {
			starts = append(starts, row.body)
		}
	}
	return func(yield func(string) bool) {
		for range n {
			value, err := jsonschema.UnmarshalJSON(strings.NewReader(oneOf(d, starts)))
			must(a.t, err)
			root := object{"body": value}
			for range 1 + d.IntN(12)/5 {
				places := d.places(nil, a.schemas[name].(object), "", root["body"], func(v any) { root["body"] = v })
				d.change(oneOf(d, places))
			}
			body, err := json.Marshal(root["body"])
			must(a.t, err)
			if !yield(string(body)) {
				return
			}
		}
	}
}

type drafter struct {
	*rand.Rand
	schemas object
}

// place is a part of a body.
type place struct {
	schema object // nil in an unknown field
	field  string
	value  any
	set    func(any)
}

func oneOf[T any](d *drafter, of []T) T { return of[d.IntN(len(of))] }

func (d *drafter) resolved(schema object) object {
	if name, ok := schema["$ref"].(string); ok {
		return d.schemas[strings.TrimPrefix(name, "#/components/schemas/")].(object)
	}
	return schema
}

// places appends a value and all its parts.
func (d *drafter) places(to []place, schema object, field string, value any, set func(any)) []place {
	schema = d.resolved(schema)
	to = append(to, place{schema, field, value, set})
	switch value := value.(type) {
	case object:
		properties, _ := schema["properties"].(object)
		for _, name := range slices.Sorted(maps.Keys(value)) {
			property, _ := properties[name].(object)
			to = d.places(to, property, name, value[name], func(v any) { value[name] = v })
		}
	case []any:
		items, _ := schema["items"].(object)
		for i := range value {
			to = d.places(to, items, field, value[i], func(v any) { value[i] = v })
		}
	}
	return to
}

func (d *drafter) change(p place) {
	n := d.IntN(10)
	if n == 0 {
		p.set(oneOf(d, []any{nil, true, object{}, []any{}, []any{nil}, oneOf(d, bodyTexts), json.Number(oneOf(d, bodyNumbers))}))
		return
	}
	switch value := p.value.(type) {
	case object:
		properties, _ := p.schema["properties"].(object)
		names, all := slices.Sorted(maps.Keys(value)), slices.Sorted(maps.Keys(properties))
		switch {
		case n < 3:
			value[oneOf(d, []string{"x", "", "Name", "ACTION", "id", "name"})] = "x"
		case n < 6 && len(names) > 0:
			delete(value, oneOf(d, names))
		case len(all) > 0:
			name := oneOf(d, all)
			value[name] = d.value(properties[name].(object), name)
		}
	case []any:
		items, _ := p.schema["items"].(object)
		switch {
		case n < 3 && len(value) > 0:
			p.set(value[1:])
		case n == 3:
			p.set(slices.Repeat(value, 2+d.IntN(50)))
		default:
			p.set(append(value, d.value(items, p.field)))
		}
	default:
		p.set(d.value(p.schema, p.field))
	}
}

// value returns a new value, usually of the right type.
func (d *drafter) value(schema object, field string) any {
	schema = d.resolved(schema)
	switch schema["type"] {
	case "object":
		out, properties := object{}, schema["properties"].(object)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			if slices.Contains(schema["required"].([]any), any(name)) || d.IntN(4) == 0 {
				out[name] = d.value(properties[name].(object), name)
			}
		}
		return out
	case "array":
		out := make([]any, d.IntN(3))
		for i := range out {
			out[i] = d.value(schema["items"].(object), field)
		}
		return out
	case "integer", "number":
		limit, _ := schema[oneOf(d, []string{"minimum", "maximum"})].(json.Number)
		if n, err := limit.Int64(); err == nil && n < math.MaxInt64 && d.IntN(2) == 0 {
			return n - 1 + d.Int64N(3)
		}
		return json.Number(oneOf(d, bodyNumbers))
	case "boolean":
		return d.IntN(2) == 0
	}
	if values := known[field]; values != nil && d.IntN(5) > 0 {
		return oneOf(d, values)
	}
	if d.IntN(8) == 0 {
		return ""
	}
	return oneOf(d, bodyTexts)
}
