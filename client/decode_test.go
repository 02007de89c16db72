package client

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"example.com/emailplatform/internal/jsonscan"
)

// pageOf returns the JSON of a page of n contacts.
func pageOf(n int) string {
	var contacts []string
	for i := range n {
		contacts = append(contacts, fmt.Sprintf(`{"id":%d,"email":"contact%d@example.org","status":"active","subscribed_on":%d,`+
			`"custom_attributes":[{"name":"first_name","value":"Ada %d"},{"name":"city","value":"Zürich"}],"tags":["customer","vip"],"interests":["books"],"last_bounce_type":"none","bounces_count":0}`,
			i, i, 1735689600+i, i))
	}
	return `{"data":[` + strings.Join(contacts, ",") + `],"pagination":{"page":1,"per_page":100,"count":12345}}`
}

func readPage(text string) (ContactPage, error) {
	c := jsonscan.New(text)
	c.Clone = true // as do does
	page := readContactPage(c)
	if err := c.End(); err != nil {
		return page, err
	}
	return page, nil
}

func TestReadPageAgreesWithEncodingJSON(t *testing.T) {
	text := pageOf(100)
	got, err := readPage(text)
	if err != nil {
		t.Fatal(err)
	}
	var want ContactPage
	if err := json.Unmarshal([]byte(text), &want); err != nil {
		t.Fatal(err)
	}
	if len(got.Data) != 100 || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// A string of a contact that is kept does not keep the page in memory.
func TestReadPagePinsNothing(t *testing.T) {
	text := pageOf(3)
	page, err := readPage(text)
	if err != nil {
		t.Fatal(err)
	}
	start := uintptr(unsafe.Pointer(unsafe.StringData(text)))
	checked := 0
	var check func(v reflect.Value)
	check = func(v reflect.Value) {
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				check(v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				check(v.Index(i))
			}
		case reflect.Pointer:
			if !v.IsNil() {
				check(v.Elem())
			}
		case reflect.String:
			s := v.String()
			if p := uintptr(unsafe.Pointer(unsafe.StringData(s))); s != "" && start <= p && p < start+uintptr(len(text)) {
				t.Errorf("%q is a part of the page", s)
			}
			checked++
		}
	}
	check(reflect.ValueOf(page))
	if checked < 30 {
		t.Errorf("only %d strings", checked)
	}
}

// BenchmarkReadPage decodes a page of 100 contacts.
func BenchmarkReadPage(b *testing.B) {
	body := []byte(pageOf(100))
	for name, decode := range map[string]func([]byte) error{"Generated": generated, "EncodingJSON": encodingJSON} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if err := decode(body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReadPageInterleaved compares the two fairly on a busy machine: in
// turns, of which the fastest count.
func BenchmarkReadPageInterleaved(b *testing.B) {
	body := []byte(pageOf(100))
	decoders := [...]func([]byte) error{generated, encodingJSON}
	best := [...]time.Duration{time.Hour, time.Hour}
	for b.Loop() {
		for i, decode := range decoders {
			start := time.Now()
			if err := decode(body); err != nil {
				b.Fatal(err)
			}
			best[i] = min(best[i], time.Since(start))
		}
	}
	b.ReportMetric(float64(best[0]), "generated-ns")
	b.ReportMetric(float64(best[1]), "encodingjson-ns")
	b.ReportMetric(float64(best[1])/float64(best[0]), "encodingjson/generated")
}

func generated(body []byte) error {
	_, err := readPage(string(body))
	return err
}

func encodingJSON(body []byte) error {
	var page ContactPage
	return json.Unmarshal(body, &page)
}
