package events_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
)

// seeds adds the deliveries in testdata in several forms. It also adds other bodies, most of them invalid or
// unusual.
func seeds(f *testing.F) {
	for _, name := range deliveries(f) {
		body := compact(f, name)
		f.Add(delivery(f, name))
		f.Add(body)
		f.Add(dataFirst(f, body))
		f.Add(bytes.ReplaceAll(body, []byte("null"), []byte(`"x"`)))
		f.Add(bytes.ReplaceAll(body, []byte(`"`+emailID+`"`), []byte("null")))
		f.Add(body[:len(body)/2])
	}
	for _, body := range []string{
		`{"event":"New.Event","data":[1,2]}`, `{"event":"Email.Bounced","data":{}}`,
		`{"event":"Email.Bounced","data":null}`, `{"event":1}`, `{}`, `[]`, `null`,
		`{"event":"Email.Error","id":3,"account_id":"5","user":{"id":"31","email":[]},"ip":{},"created_on":1.5,` +
			`"timestamp":1,"data":{}}`,
		`{"event":"Email.Bounced","data":{"campaign":{"id":1},"segment":{"query":{"n":1e999}}}}`,
		`{"event":"Email.Error","event":"Email.Rejected","data":{"reason":1,"reason":"spam"},"data":{}}`,
		`{"event":"Contact.Added","timestamp":"2025-11-20T15:30:00+24:00","data":{"added_at":"2025-11-20T15:30:00-0130"}}`,
		"{\"event\":\"Email.Error\",\"data\":{\"error\":\"\xff\\ud800\"}}",
		mark + `{"event":"email.BOUNCED","created_on":"1.5e9","data":{"campaign":{"id":4e1},"bounce":{"category":"BOUNCE_HB"}}}`,
	} {
		f.Add([]byte(body))
	}
}

// mark is a byte order mark, which Parse ignores.
const mark = "\ufeff"

// sameValue reports whether a and b are the same JSON value. It compares numbers by their digits.
func sameValue(a, b []byte) bool {
	va, errA := decode(a)
	vb, errB := decode(b)
	return errors.Join(errA, errB) == nil && reflect.DeepEqual(va, vb)
}

func decode(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(bytes.TrimPrefix(text, []byte(mark))))
	d.UseNumber() // a float64 cannot represent every number
	err = d.Decode(&v)
	return v, err
}

// FuzzParse: Parse never panics, and a parsed event keeps all fields.
func FuzzParse(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		ev, err := events.Parse(body)
		if err != nil {
			var pe *events.ParseError
			if ev != nil || !errors.As(err, &pe) {
				t.Fatalf("%v, %v; want a ParseError alone", ev, err)
			}
			if valid := json.Valid(bytes.TrimPrefix(body, []byte(mark))); (pe.Event != nil) != valid {
				t.Fatalf("%v, json.Valid %v, event %v; want an event when the JSON is valid", err, valid, pe.Event)
			}
			if ev = pe.Event; ev == nil {
				return
			}
		}
		unknown, isUnknown := ev.Data.(*events.Unknown)
		var mismatch *events.ParseError
		switch err := ev.Mismatch(); {
		case err != nil && !errors.As(err, &mismatch):
			t.Fatalf("mismatch %v, want a ParseError", err)
		case err == nil && isUnknown && unknown.Err != nil:
			t.Fatalf("no mismatch, want %v", unknown.Err)
		}
		if ev.Data == nil || !bytes.Equal(ev.Raw(), body) {
			t.Fatalf("data %v, raw %s; want data, and the received bytes", ev.Data, ev.Raw())
		}
		out, err := json.Marshal(ev)
		if err != nil || !sameValue(out, body) {
			t.Fatalf("received\n%s\nwritten\n%s\n%v", body, out, err)
		}
		rebuild(t, ev)
		change(t, ev)
	})
}

// rebuild encodes only the exported fields of ev, and checks that Parse reads the same data.
func rebuild(t *testing.T, ev *events.Event) {
	_, unknown := ev.Data.(*events.Unknown)
	if year := ev.Time.Year(); unknown || year < 0 || year > 9999 { // a timestamp cannot represent these
		return
	}
	out := marshal(t, fieldsOf(ev))
	again, err := events.Parse(out)
	if err != nil || !reflect.DeepEqual(normal(t, ev.Data), normal(t, again.Data)) {
		t.Fatalf("%v\nreceived\n%s\nread\n%+v\nwritten\n%s\nread\n%+v", err, ev.Raw(), ev.Data, out, again.Data)
	}
}

// normal returns data as a JSON value without null fields.
func normal(t *testing.T, data events.Data) any {
	v, err := decode(marshal(t, data))
	require.NoError(t, err)
	return v
}

// change changes and encodes ev, and checks that the JSON contains the change and all other fields.
func change(t *testing.T, ev *events.Event) {
	if ev.Name == "" {
		return
	}
	ev.ID += "changed"
	out := marshal(t, ev)
	var was, is map[string]json.RawMessage
	raw := bytes.TrimPrefix(ev.Raw(), []byte(mark))
	require.NoError(t, errors.Join(json.Unmarshal(raw, &was), json.Unmarshal(out, &is)))
	id := marshal(t, ev.ID)
	if !sameValue(is["id"], id) {
		t.Fatalf("id is %s, want %s", is["id"], id)
	}
	was["id"] = id
	for name, value := range was {
		if !sameValue(is[name], value) {
			t.Fatalf("%s was %s, is %s", name, value, is[name])
		}
	}
	require.Len(t, is, len(was), "received\n%s\nwritten\n%s", ev.Raw(), out)
}

// FuzzAgainstEncodingJSON: Parse accepts all data that encoding/json accepts, and both read the same values. The only
// difference is that Parse ignores the letter case of known values.
func FuzzAgainstEncodingJSON(f *testing.F) {
	seeds(f)
	names := memberNames(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		ev, err := events.Parse(body)
		if err != nil || ambiguous(names, ev.RawData()) {
			return
		}
		data := ev.Data
		if unknown, ok := data.(*events.Unknown); ok {
			if data = unknown.Partial; data == nil {
				return
			}
		}
		v := reflect.New(reflect.TypeOf(data).Elem()).Interface()
		err = json.Unmarshal(ev.RawData(), v)
		if err != nil { // Parse reads more forms of times, numbers and ids
			return
		}
		if _, unknown := ev.Data.(*events.Unknown); unknown {
			t.Fatalf("encoding/json accepts %s, which Parse rejects", ev.RawData())
		}
		if !reflect.DeepEqual(v, data) && !sameValue(bytes.ToLower(marshal(t, v)), bytes.ToLower(marshal(t, data))) {
			t.Fatalf("in\n%s\nencoding/json\n%+v\nParse\n%+v", ev.RawData(), v, data)
		}
	})
}

// memberNames returns the names of all fields in the payload types.
func memberNames(t testing.TB) map[string]bool {
	names, seen := map[string]bool{}, map[reflect.Type]bool{}
	var add func(reflect.Type)
	add = func(typ reflect.Type) {
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice:
			add(typ.Elem())
		case reflect.Struct:
			if seen[typ] {
				return
			}
			seen[typ] = true
			for f := range typ.Fields() {
				if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
					names[name] = true
				}
				add(f.Type)
			}
		}
	}
	for _, name := range deliveries(t) {
		add(reflect.TypeOf(mustParse(t, delivery(t, name)).Data))
	}
	return names
}

// ambiguous reports whether encoding/json would merge two fields, because it ignores case and merges duplicate
// objects.
func ambiguous(names map[string]bool, data []byte) bool {
	d := json.NewDecoder(bytes.NewReader(data))
	known := slices.Collect(maps.Keys(names))
	var seen []map[string]bool // of the open objects, nil for arrays
	isName := false
	for {
		token, err := d.Token()
		if err != nil {
			return err != io.EOF
		}
		switch token {
		case json.Delim('{'):
			seen, isName = append(seen, map[string]bool{}), true
			continue
		case json.Delim('['):
			seen, isName = append(seen, nil), false
			continue
		case json.Delim('}'), json.Delim(']'):
			seen = seen[:len(seen)-1]
		default:
			if isName {
				name := token.(string)
				if seen[len(seen)-1][name] || !names[name] && slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
					return true
				}
				seen[len(seen)-1][name] = true
				isName = false
				continue
			}
		}
		isName = len(seen) > 0 && seen[len(seen)-1] != nil
	}
}
