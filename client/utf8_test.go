// The test in this file calls every method of the package.

package client

import (
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
)

// fill sets all values in v, and returns the number of strings among them. The argument bad is the number of the
// string that is not UTF-8.
func fill(v reflect.Value, bad, n int) int {
	if v.Type() == reflect.TypeFor[Nullable[string]]() {
		s := ""
		n = fill(reflect.ValueOf(&s).Elem(), bad, n)
		v.Set(reflect.ValueOf(Value(s)))
		return n
	}
	switch v.Kind() {
	case reflect.String:
		if v.SetString("a"); n == bad {
			v.SetString("a\xff")
		}
		return n + 1
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return fill(v.Elem(), bad, n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		return fill(v.Index(0), bad, n)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(1, 0)))
			return n
		}
		for _, field := range v.Fields() {
			n = fill(field, bad, n)
		}
	}
	return n
}

// TestTextMustBeUTF8: no method sends text that is not UTF-8, in any string of its arguments.
func TestTextMustBeUTF8(t *testing.T) {
	requests := 0
	c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
		requests++
		return respond(200, `{"data":[],"pagination":{"count":0}}`), nil
	})
	checked := 0
	services := reflect.ValueOf(c).Elem()
	for i := range services.NumField() {
		service := services.Field(i)
		if !services.Type().Field(i).IsExported() {
			continue
		}
		for m := range service.NumMethod() {
			name, method := services.Type().Field(i).Name+"."+service.Type().Method(m).Name, service.Method(m)
			if service.Type().Method(m).Type.IsVariadic() || strings.HasSuffix(name, ".Import") || strings.HasSuffix(name, ".Wait") || strings.HasSuffix(name, ".GetAll") {
				continue // calls other methods
			}
			for bad, more := 0, true; more; bad++ {
				args, n := []reflect.Value{reflect.ValueOf(t.Context())}, 0
				for p := 1; p < method.Type().NumIn(); p++ {
					arg := reflect.New(method.Type().In(p)).Elem()
					n = fill(arg, bad, n)
					args = append(args, arg)
				}
				if more = bad < n; !more {
					break
				}
				before := requests
				results := method.Call(args)
				err, _ := reflect.TypeAssert[error](results[len(results)-1])
				if !errors.Is(err, ErrValidation) || !strings.Contains(err.Error(), "must be valid UTF-8") ||
					requests != before && !strings.HasSuffix(name, ".Ensure") && !strings.HasSuffix(name, ".Replace") { // they first list what exists, without the text
					t.Errorf("%s, string %d: %v after %d requests", name, bad, err, requests-before)
				}
				checked++
			}
		}
	}
	if checked < 60 {
		t.Errorf("checked only %d strings", checked)
	}
	for _, err := range c.Contacts.All(t.Context(), 1, ListContactsParams{Filter: "email:\xff"}) {
		if !errors.Is(err, ErrValidation) {
			t.Error(err)
		}
	}
}
