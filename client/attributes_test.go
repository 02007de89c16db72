package client

import (
	"testing"

	"example.com/emailplatform/internal/json/jsonwrite"
)

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
