package client

import (
	"bytes"
	"context"
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

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
