package riverjobs

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"
)

// checkText returns an error for the first text in v that the JSON of a job
// cannot contain. PostgreSQL rejects NUL. Package encoding/json replaces bytes
// that are not UTF-8, so a worker would send another text.
func checkText(name string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.String:
		if s := v.String(); !storable(s) {
			return fmt.Errorf("riverjobs: %s must be valid UTF-8 without NUL, got %.100q", name, s)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if err := checkText(name+"."+v.Type().Field(i).Name, v.Field(i)); err != nil {
				return err
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := checkText(fmt.Sprintf("%s[%d]", name, i), v.Index(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// storable reports whether PostgreSQL can store s.
func storable(s string) bool { return utf8.ValidString(s) && !strings.ContainsRune(s, 0) }

// text replaces what PostgreSQL cannot store.
func text(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", "\ufffd"), "\ufffd")
}

// recordable returns r without text that PostgreSQL cannot store or index. A
// worker must record the outcome regardless of the text in a response.
func recordable(r Output) Output {
	if !storable(r.EmailID) || len(r.EmailID) > maxKey {
		r.Reason = strings.TrimPrefix(fmt.Sprintf("%s; the email id cannot be stored: %.300q", r.Reason, r.EmailID), "; ")
		r.EmailID = ""
	}
	r.Reason = text(r.Reason)
	return r
}
