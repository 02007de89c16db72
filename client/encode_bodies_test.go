package client

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/emailplatform/internal/json/jsonwrite"
)

// bodies returns a value of each request body type.
func bodies() []body {
	return []body{
		new(CampaignCreate), new(CampaignUpdate), new(campaignSchedule), new(TransactionalSubmission), new(ListCreate),
		new(ContactCreate), new(ImportBatch), new(ContactTagging), new(ContactUpdate), new(suppressedEmailCreate),
		new(TemplateCreate), new(TemplateUpdate), new(EmailSubmission), new(WebhookCreate), new(WorkflowCreate),
	}
}

// TestBodiesAreComplete compares bodies with the generated requests.
func TestBodiesAreComplete(t *testing.T) {
	src, err := os.ReadFile("requests.gen.go")
	fatal(t, err)
	var want, got []string
	for _, m := range regexp.MustCompile(`body (\w+)\) request`).FindAllSubmatch(src, -1) {
		want = append(want, string(m[1]))
	}
	for _, b := range bodies() {
		got = append(got, reflect.TypeOf(b).Elem().Name())
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestBodiesMatchEncodingJSON compares the bytes of random bodies with encoding/json, and the errors of invalid
// bodies with the first invalid field.
func TestBodiesMatchEncodingJSON(t *testing.T) {
	rounds := uint64(2000)
	if testing.Short() {
		rounds = 200
	}
	refused := 0
	for seed := range rounds {
		for i := range bodies() {
			if agree(t, i, seed, "") {
				refused++
			}
		}
	}
	if all := int(rounds) * len(bodies()); refused < all/50 || refused > all/2 {
		t.Errorf("%d of %d bodies are refused: the test looks at too few of a kind", refused, all)
	}
}

func FuzzBodies(f *testing.F) {
	for i := range bodies() {
		f.Add(uint8(i), uint64(1), "<b class=\"a\">\u2028\\\x00</b>\xff")
	}
	f.Fuzz(func(t *testing.T, which uint8, seed uint64, text string) {
		agree(t, int(which)%len(bodies()), seed, text)
	})
}

// agree compares body i, filled at random and with text, and reports whether it was rejected.
func agree(t *testing.T, i int, seed uint64, text string) (refused bool) {
	t.Helper()
	b := bodies()[i]
	chance{rand.New(rand.NewPCG(seed, uint64(i))), text}.fill(reflect.ValueOf(b).Elem())
	switch b := b.(type) { // their attributes are an object: see TestAttributes
	case *EmailSubmission:
		b.CustomAttributes = nil
	case *TransactionalSubmission:
		b.CustomAttributes = nil
	}
	var w jsonwrite.Writer
	b.write(&w)
	want, got := invalid("", reflect.ValueOf(b)), w.Err()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%#v: got %v, want %v", b, got, want)
	}
	if want != nil {
		return true
	}
	var plain bytes.Buffer
	enc := json.NewEncoder(&plain)
	enc.SetEscapeHTML(false)
	fatal(t, enc.Encode(b))
	if want := bytes.TrimSuffix(plain.Bytes(), []byte("\n")); !bytes.Equal(w.Bytes, want) {
		t.Fatalf("got  %s\nwant %s", w.Bytes, want)
	}
	return false
}

// chance fills bodies at random.
type chance struct {
	*rand.Rand

	more string // a text beside those that it knows
}

func (c chance) text() string {
	some := []string{
		"a", "é", "<b>", "&", "\"", "\\", "/", "\n", "\x00", "\x1f", "\x7f", "\u2028", "\u2029", "\ufffd", "\U0010ffff", "😀", "long enough for eight",
		"null", `\ufffd`, "\b", "\f", "\t", "\r", "Müller", "<!-- {{name}} -->", c.more,
	}
	var s strings.Builder
	for range c.IntN(6) {
		s.WriteString(some[c.IntN(len(some))])
	}
	switch c.IntN(300) {
	case 0:
		return s.String() + "\xff"
	case 1:
		return "M\xfcller" + s.String()
	case 2:
		return s.String() + "\xed\xa0\x80" // half a surrogate pair
	}
	return s.String()
}

func (c chance) fill(v reflect.Value) {
	if n, ok := reflect.TypeAssert[*Nullable[string]](v.Addr()); ok {
		*n = []Nullable[string]{{}, Null[string](), Value(""), Value(c.text()), Value(c.text()), Value(c.text())}[c.IntN(6)]
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(c.text())
	case reflect.Int64:
		v.SetInt([]int64{0, 1, -1, c.Int64(), math.MinInt64}[c.IntN(5)])
	case reflect.Bool:
		v.SetBool(c.IntN(2) == 0)
	case reflect.Pointer:
		if c.IntN(2) == 0 {
			v.Set(reflect.New(v.Type().Elem()))
			c.fill(v.Elem())
		}
	case reflect.Slice:
		if c.IntN(20) > 0 {
			n := c.IntN(3)
			v.Set(reflect.MakeSlice(v.Type(), n, n))
		}
		for i := range v.Len() {
			c.fill(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				c.fill(v.Field(i))
			}
		}
	}
}

// invalid returns the first invalid field of a body by its path, such as "contacts.3.tags.0", with the reason.
func invalid(place string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		return invalid(place, v.Elem())
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return fmt.Errorf("%s: is not UTF-8", place)
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := invalid(below(place, strconv.Itoa(i)), v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		return invalidWithin(place, v)
	}
	return nil
}

func invalidWithin(place string, v reflect.Value) error {
	if n, ok := reflect.TypeAssert[Nullable[string]](v); ok {
		return invalid(place, reflect.ValueOf(n.value))
	}
	for i := range v.NumField() {
		name, rules, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		at, member := below(place, name), v.Field(i)
		if rules != "omitzero" && missing(member) {
			return fmt.Errorf("%s: is missing", at)
		}
		if err := invalid(at, member); err != nil {
			return err
		}
	}
	return nil
}

// missing reports whether a required field is absent. Empty strings and lists are present.
func missing(member reflect.Value) bool {
	if member.Kind() == reflect.Slice {
		return member.IsNil()
	}
	n, ok := reflect.TypeAssert[Nullable[string]](member)
	return ok && n.IsZero()
}

func below(place, name string) string {
	if place == "" {
		return name
	}
	return place + "." + name
}
