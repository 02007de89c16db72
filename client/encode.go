package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// encoded refuses what cannot be sent, before anything is.
func encoded(next exchange) exchange {
	return func(ctx context.Context, c *call) error {
		if err := c.encode(); err != nil {
			e := newError(c.request, err)
			e.badRequest = true
			return e
		}
		if err := ctx.Err(); err != nil {
			return c.asError(err)
		}
		return next(ctx, c)
	}
}

// encode makes the payload, once for all attempts.
func (c *call) encode() error {
	if c.err != nil || c.body == nil {
		return c.err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // templates are full of it
	err := enc.Encode(c.body)
	if err != nil || suspicious(b.Bytes()) {
		if bad := mistake("", reflect.ValueOf(c.body)); bad != nil {
			return bad
		}
	}
	c.payload = b.Bytes()
	return err
}

// suspicious reports whether a payload has what can become of a mistake: a list
// that is missing becomes null, and what is not UTF-8 is replaced, by an escape or
// by the character itself, or is left as it is. It does not depend on which of
// them the release of Go does. Looking for mistakes in the body itself takes
// longer.
func suspicious(payload []byte) bool {
	return bytes.Contains(payload, []byte(`null`)) ||
		bytes.Contains(payload, []byte(`\ufffd`)) || bytes.Contains(payload, []byte(`\uFFFD`)) ||
		bytes.Contains(payload, []byte("\ufffd")) || !utf8.Valid(payload)
}

// mistake names the first place of a body that cannot be sent as it is, such as
// "contacts.3.tags.0", and what is wrong with it.
func mistake(place string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		return mistake(place, v.Elem())
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return fmt.Errorf("%s: is not UTF-8", place)
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := mistake(below(place, strconv.Itoa(i)), v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		members := v.Interface().(map[string]string)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if !utf8.ValidString(name) || !utf8.ValidString(members[name]) {
				return fmt.Errorf("%s: is not UTF-8", below(place, strings.ToValidUTF8(name, "\ufffd")))
			}
		}
	case reflect.Struct:
		return mistakeWithin(place, v)
	}
	return nil
}

func mistakeWithin(place string, v reflect.Value) error {
	if n, ok := reflect.TypeAssert[nullable](v); ok {
		return mistake(place, reflect.ValueOf(n.given()))
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
		if err := mistake(at, member); err != nil {
			return err
		}
	}
	return nil
}

// missing reports whether a member that has to be there is not. Empty texts
// and lists are there; what they may be is the platform's to say.
func missing(member reflect.Value) bool {
	if member.Kind() == reflect.Slice {
		return member.IsNil()
	}
	n, ok := reflect.TypeAssert[nullable](member)
	return ok && n.IsZero()
}

func below(place, name string) string {
	if place == "" {
		return name
	}
	return place + "." + name
}
