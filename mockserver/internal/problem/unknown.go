package problem

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/suggest"
)

// Unknown returns err with the valid field names if encoding/json found an
// unknown field. encoding/json does not report the location, so the names
// exclude objects that have a field of that name.
func Unknown(err error, into any) error {
	if err == nil {
		return nil
	}
	name, is := strings.CutPrefix(err.Error(), "json: unknown field ")
	if !is {
		return err
	}
	name = strings.Trim(name, `"`)
	var known []string
	for _, names := range objectsOf(reflect.TypeOf(into)) {
		if !slices.Contains(names, name) {
			known = append(known, names...)
		}
	}
	slices.Sort(known)
	return fmt.Errorf("%s: %s", name, suggest.Unknown("field", name, slices.Compact(known)))
}

// objectsOf returns the names of the fields of a struct, and of each struct in it.
func objectsOf(t reflect.Type) (all [][]string) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return objectsOf(t.Elem())
	case reflect.Struct:
		var names []string
		for _, f := range reflect.VisibleFields(t) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
				names = append(names, name)
				all = append(all, objectsOf(f.Type)...)
			}
		}
		return append(all, names)
	}
	return nil
}
