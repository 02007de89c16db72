package platform

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/suggest"
)

// decode decodes one JSON object into s. It decodes each record separately, so that an
// error contains the position of the record. An unknown field is an error, because its
// data would be lost.
func (s *state) decode(d *json.Decoder) error {
	start, err := d.Token()
	if err != nil {
		return unexpected(err)
	}
	if start != json.Delim('{') {
		return errors.New("must be an object")
	}
	fields := fieldsByName(reflect.ValueOf(s).Elem())
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return unexpected(err)
		}
		name, _ := key.(string)
		field, known := fields[name]
		if !known {
			return fmt.Errorf("%s: %s", name, suggest.Unknown("field", name, slices.Collect(maps.Keys(fields))))
		}
		if err := decodeField(d, field); err != nil {
			return fmt.Errorf("%s%w", name, err)
		}
	}
	_, err = d.Token()
	return unexpected(err)
}

// fieldsByName returns the settable fields of a struct and its embedded structs, by
// JSON name.
func fieldsByName(v reflect.Value) map[string]reflect.Value {
	fields := map[string]reflect.Value{}
	for _, f := range reflect.VisibleFields(v.Type()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			fields[name] = v.FieldByIndex(f.Index)
		}
	}
	return fields
}

func decodeField(d *json.Decoder, field reflect.Value) error {
	if field.Kind() != reflect.Slice {
		return withPath(": ", decodeInto(d, field.Addr()))
	}
	start, err := d.Token()
	switch {
	case err != nil:
		return withPath(": ", unexpected(err))
	case start == nil: // null
		return nil
	case start != json.Delim('['):
		return errors.New(": must be an array")
	}
	field.SetZero()
	for d.More() {
		record := reflect.New(field.Type().Elem())
		if err := decodeInto(d, record); err != nil {
			return withPath(fmt.Sprintf("[%d]: ", field.Len()), err)
		}
		field.Set(reflect.Append(field, record.Elem()))
	}
	_, err = d.Token()
	return withPath(": ", unexpected(err))
}

func decodeInto(d *json.Decoder, into reflect.Value) error {
	return apierror.Plainly(unexpected(d.Decode(into.Interface())))
}

func withPath(place string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s%w", place, err)
}

// unexpected replaces io.EOF with io.ErrUnexpectedEOF, because the input must not end
// within an object.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
