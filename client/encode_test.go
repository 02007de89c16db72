package client

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/json/jsonwrite"
)

// bodyTypes returns the type of each request body in allOperations, which TestEveryOperation checks for completeness.
func bodyTypes() (types []reflect.Type) {
	c := servicesOn(func(_ context.Context, c *call) error {
		if c.body != nil {
			types = append(types, reflect.TypeOf(c.body).Elem())
		}
		return ErrServer
	})
	for _, op := range allOperations() {
		_, _ = op.call(env{c, knownRecords(), context.Background(), nil})
	}
	return types
}

// TestBodiesMatchEncodingJSON compares the bytes of random bodies with encoding/json.
func TestBodiesMatchEncodingJSON(t *testing.T) {
	for _, typ := range bodyTypes() {
		for seed := range uint64(500) {
			matchEncodingJSON(t, typ, seed, "")
		}
	}
}

func FuzzBodies(f *testing.F) {
	types := bodyTypes()
	for i := range types {
		f.Add(uint8(i), uint64(1), "<b class=\"a\">\u2028\\\x00</b>")
	}
	f.Fuzz(func(t *testing.T, which uint8, seed uint64, text string) {
		matchEncodingJSON(t, types[int(which)%len(types)], seed, strings.ToValidUTF8(text, ""))
	})
}

// matchEncodingJSON compares the encoding of a random body with encoding/json. Some of the random values contain the
// given text.
func matchEncodingJSON(t *testing.T, typ reflect.Type, seed uint64, text string) {
	t.Helper()
	b := reflect.New(typ).Interface().(body)
	randomFields{Rand: rand.New(rand.NewPCG(seed, 0)), more: text}.fill(reflect.ValueOf(b).Elem())
	switch b := b.(type) { // without fields that are not sent; TestAttributes covers attributes that are written as an object
	case *ContactCreate:
		b.Resubscribe, b.DoubleOptIn = false, false
	case *ImportContact:
		b.Line = 0
	case *ImportBatch:
		for i := range b.Contacts {
			b.Contacts[i].Line = 0
		}
	case *EmailSubmission:
		b.CustomAttributes = nil
	case *TransactionalSubmission:
		b.CustomAttributes = nil
	}
	var w jsonwrite.Writer
	b.write(&w)
	require.NoError(t, w.Err())
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	require.NoError(t, enc.Encode(b))
	if want := bytes.TrimSuffix(plain.Bytes(), []byte("\n")); !bytes.Equal(w.Bytes, want) {
		t.Fatalf("got  %s\nwant %s", w.Bytes, want)
	}
}

// TestBodiesAreStored: an application can store a body as JSON, for example in a queue, without losing a field.
func TestBodiesAreStored(t *testing.T) {
	for _, typ := range bodyTypes() {
		body, stored := reflect.New(typ), reflect.New(typ)
		randomFields{Rand: rand.New(rand.NewPCG(1, 0)), all: true}.fill(body.Elem())
		text, err := json.Marshal(body.Interface())
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, stored.Interface()))
		assert.Equal(t, body.Interface(), stored.Interface())
	}
}

// randomFields sets all required fields and some optional fields of a value to random values.
type randomFields struct {
	*rand.Rand

	all  bool   // no field is zero
	more string // an additional text
}

func (r randomFields) text() string {
	some := []string{
		"a", "é", "<b>", "&", "\"", "\\", "/", "\n", "\x00", "\x1f", "\x7f", "\u2028", "\u2029", "\ufffd", "\U0010ffff", "😀", "long enough for eight",
		"null", `\ufffd`, "\b", "\f", "\t", "\r", "Müller", "<!-- {{name}} -->", r.more,
	}
	s := ""
	for r.all && s == "" || r.IntN(6) > 0 {
		s += some[r.IntN(len(some))]
	}
	return s
}

func (r randomFields) fill(v reflect.Value) {
	switch to := v.Addr().Interface().(type) {
	case *Nullable[string]:
		*to = []Nullable[string]{Null[string](), Value(""), Value(r.text())}[r.IntN(3)]
		return
	case *Secret:
		*to = NewSecret("text")
		return
	case *time.Time:
		*to = time.Unix(1+r.Int64N(1e6), 0).UTC()
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(r.text())
	case reflect.Int64, reflect.Int:
		v.SetInt([]int64{1, -1, 1 + r.Int64N(math.MaxInt64), math.MinInt64}[r.IntN(4)])
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		r.fill(v.Elem())
	case reflect.Slice:
		n := r.IntN(3)
		if r.all {
			n = 2
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			r.fill(v.Index(i))
		}
	case reflect.Struct:
		for field, member := range v.Fields() {
			optional := strings.HasSuffix(field.Tag.Get("json"), ",omitzero")
			if r.all || !optional || r.IntN(2) == 0 {
				r.fill(member)
			}
		}
	default:
		panic("no random value for " + v.Type().String())
	}
}
