package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/json/jsonwrite"
)

// TestInvalidRequestBodies: an invalid body is not sent, and the error names the first invalid field.
func TestInvalidRequestBodies(t *testing.T) {
	const latin1 = "M\xfcller"
	attributes := func(name, value string) *EmailSubmission {
		return &EmailSubmission{CustomAttributes: Attributes{{Name: "a"}, {Name: name, Value: value}}}
	}
	for want, b := range map[string]body{
		"name: must be valid UTF-8":                          &ListCreate{Name: latin1},
		"content.text: must be valid UTF-8":                  &TemplateUpdate{Content: &TemplateContentUpdate{Text: Value(latin1)}},
		"custom_attributes.b: must be valid UTF-8":           attributes("b", latin1),
		"custom_attributes.M\ufffdller: must be valid UTF-8": attributes(latin1, ""),
		"custom_attributes.a: is a duplicate":                attributes("a", ""),
		"custom_attributes.0.value: is missing":              &ContactUpdate{CustomAttributes: []CustomAttributeUpdate{{Name: "a"}}},
		"contacts: is missing":                               &ImportBatch{},
		"contacts.1.tags.0: must be valid UTF-8":             &ImportBatch{Contacts: []ImportContact{{}, {Tags: []string{latin1}}}},
		"contact_ids: is missing":                            &ContactTagging{Tags: []string{latin1}},
		"tags: is missing":                                   &ContactTagging{ContactIDs: []int64{1}},
		"events: is missing":                                 &WebhookCreate{},
	} {
		var w jsonwrite.Writer
		if b.write(&w); w.Err() == nil || w.Err().Error() != want {
			t.Errorf("got %v, want %s", w.Err(), want)
		}
	}
	c := newTestClient(t, func(http.ResponseWriter, *http.Request) { t.Error("the body was sent") })
	_, err := c.Lists.Create(t.Context(), ListCreate{Name: latin1})
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, ErrValidation) || e.Attempts != 0 {
		t.Errorf("got %v, want an ErrValidation without an attempt", err)
	}
}

func TestAttributes(t *testing.T) {
	attributes := Attributes{{Name: "z\"", Value: "<é>"}, {Name: "a", Value: ""}}
	email := EmailSubmission{CustomAttributes: attributes}
	var w jsonwrite.Writer
	email.write(&w)
	if want := `{"email":"","content":{"subject":""},"custom_attributes":{"z\"":"<é>","a":""},"sender":{"email":""}}`; string(w.Bytes) != want || w.Err() != nil {
		t.Errorf("got  %s, %v\nwant %s", w.Bytes, w.Err(), want)
	}
	if attributes.Get(`z"`) != "<é>" || attributes.Get("a") != "" || attributes.Get("b") != "" {
		t.Error(attributes)
	}
}

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

func newPayload(t *testing.T, e *encoder, b body) *payload {
	t.Helper()
	c := &call{request: request{body: b}}
	require.NoError(t, e.encode(c))
	return c.payload
}

// TestPayloadReferenceCount: the memory of a body is released after the call has ended and the last reader is closed.
func TestPayloadReferenceCount(t *testing.T) {
	p := newPayload(t, newEncoder(), &ListCreate{Name: "Customers"})
	var open []io.ReadCloser
	for range 3 {
		r, err := p.open()
		require.NoError(t, err)
		open = append(open, r)
	}
	p.release() // the call is over
	for i, r := range open {
		if p.writer == nil {
			t.Fatalf("the memory is released while %d readers are open", len(open)-i)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != `{"name":"Customers"}` {
			t.Errorf("got %s, %v", got, err)
		}
		for range 2 { // a second Close has no effect
			assert.NoError(t, r.Close())
		}
		if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, errBodyGone) {
			t.Errorf("a closed body reads %d bytes, %v", n, err)
		}
	}
	if p.writer != nil {
		t.Error("the memory is not released")
	}
	if r, err := p.open(); !errors.Is(err, errBodyGone) {
		t.Errorf("a body is opened after the call: %v, %v", r, err)
	}
}

// TestPayloadAfterClose: a body that was closed before any read is readable from its beginning until its call ends.
// Any other read after Close must fail. Otherwise, a transport would send only the rest of the body, or an empty
// body.
func TestPayloadAfterClose(t *testing.T) {
	const whole = `{"name":"Customers"}`
	for name, tc := range map[string]struct {
		read int  // bytes before Close
		over bool // the call ends before the body is read again
		want string
		err  error
	}{
		"nothing was read":                      {0, false, whole, nil},
		"a part was read":                       {1, false, "", errBodyGone},
		"the whole was read":                    {len(whole), false, "", errBodyGone},
		"nothing was read and the call is over": {0, true, "", errBodyGone},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPayload(t, newEncoder(), &ListCreate{Name: "Customers"})
			r, err := p.open()
			require.NoError(t, err)
			must(t)(io.ReadFull(r, make([]byte, tc.read)))
			_ = r.Close()
			if tc.over {
				p.release()
			}
			if got, err := io.ReadAll(r); string(got) != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("got %q, %v, want %q, %v", got, err, tc.want, tc.err)
			}
		})
	}
}

// TestPayloadReadAgain: a body that is read after Close keeps its memory until the next Close, even if the call ends
// before that.
func TestPayloadReadAgain(t *testing.T) {
	p := newPayload(t, newEncoder(), &ListCreate{Name: "Customers"})
	r, err := p.open()
	require.NoError(t, err)
	_ = r.Close()
	first := make([]byte, 1)
	must(t)(r.Read(first))
	p.release() // the call is over
	if p.writer == nil {
		t.Fatal("the memory is released during the second reading")
	}
	if rest, err := io.ReadAll(r); err != nil || string(first)+string(rest) != `{"name":"Customers"}` {
		t.Errorf("got %s%s, %v", first, rest, err)
	}
	_ = r.Close()
	if p.writer != nil {
		t.Error("the memory is not released")
	}
}

// TestGetBody: a transport can read a body again with GetBody, for example if an idle connection was closed.
func TestGetBody(t *testing.T) {
	var again func() (io.ReadCloser, error)
	c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
		assert.Equal(t, int64(len(`{"name":"Customers"}`)), r.ContentLength, "the length")
		again = r.GetBody
		fresh, err := r.GetBody()
		require.NoError(t, err)
		for _, body := range []io.ReadCloser{r.Body, fresh} {
			if got, err := io.ReadAll(body); err != nil || string(got) != `{"name":"Customers"}` {
				t.Errorf("got %s, %v", got, err)
			}
			_ = body.Close()
		}
		return respond(201, `{"list_id":1}`), nil
	}, func(cfg *Config) { cfg.BaseURL = "http://127.0.0.1" }) // with https, the client omits GetBody
	must(t)(c.Lists.Create(t.Context(), ListCreate{Name: "Customers"}))
	if _, err := again(); !errors.Is(err, errBodyGone) {
		t.Errorf("a body is created after the call: %v", err)
	}
}

func TestPayloadReleasedWithoutRequest(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := &call{request: request{op: "createList", body: &ListCreate{Name: "Customers"}}}
	err := withEncodedBody(func(context.Context, *call) error { t.Error("a request with a canceled context was sent"); return nil }, newEncoder())(ctx, c)
	if !errors.Is(err, context.Canceled) || c.payload.writer != nil {
		t.Errorf("%v, and its memory is %v", err, c.payload.writer)
	}
}
