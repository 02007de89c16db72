package jsonscan_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"example.com/emailplatform/internal/json/jsonscan"
)

func names(c *jsonscan.Cursor) string {
	out := ""
	for name := range c.Envelope("data") {
		out += fmt.Sprintf("%s=%s ", name, c.Raw())
	}
	return out
}

func TestEnvelope(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":1,"b":2}`:                            "a=1 b=2 ",
		`{"a":1,"data":{"b":2,"c":3}}`:             "a=1 b=2 c=3 ",
		`{"data":{"b":2,"c":3},"a":1}`:             "a=1 b=2 c=3 ",
		`{"data":{"b":2},"b":1}`:                   "b=1 b=2 ",
		`{"b":1,"data":{"b":null}}`:                "b=1 ",
		`{"data":{"data":{"b":2}}}`:                `data={"b":2} `,
		`{"data":{}}`:                              "",
		`{"x":{"b":2},"data":{"a":1}}`:             `x={"b":2} a=1 `,
		`{"data":[1]}`:                             "data=[1] ",
		`{"data":null}`:                            "data=null ",
		`{"data":{"a":1},"data":{"a":2},"b":3}`:    "b=3 a=2 ",
		` { "data" : { "a" : 1 } , "b" : [ 2 ] } `: "b=[ 2 ] a=1 ",
		`null`: "",
	} {
		c := jsonscan.New(text)
		if got, err := names(c), c.End(); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
	c := jsonscan.New(`[{"data":{"a":1}}]`)
	for range c.Array() {
		if got := names(c); got != `data={"a":1} ` {
			t.Errorf("inside: %q", got)
		}
	}
	if err := c.End(); err != nil {
		t.Error(err)
	}
}

// TestEnvelopeAfterError: the envelope is read after a type mismatch, but not after a syntax error.
func TestEnvelopeAfterError(t *testing.T) {
	for text, want := range map[string]string{
		`{"data":{"a":1},"b":"x"}`: "b=0 a=1 ",
		`{"data":{"a":1},"b":tru}`: "b=0 ",
		`{"b":"x","data":{"a":1}}`: "b=0 a=1 ",
	} {
		got := ""
		c := jsonscan.New(text)
		for name := range c.Envelope("data") {
			got += fmt.Sprintf("%s=%d ", name, c.Int())
		}
		if got != want || c.End() == nil {
			t.Errorf("%s: %q, %v; want %q and an error", text, got, c.End(), want)
		}
	}
}

func TestMembers(t *testing.T) {
	for text, want := range map[string]string{`{"a":1,"b":2}`: "a=1 b=2 ", `{}`: "", `null`: "", `[{"a":1}]`: "", `"a"`: "", `7`: ""} {
		c := jsonscan.New(text)
		got := ""
		for name := range c.Members() {
			got += fmt.Sprintf("%s=%s ", name, c.Raw())
		}
		if err := c.End(); got != want || err != nil {
			t.Errorf("%s: %q, %v; want %q", text, got, err, want)
		}
	}
}

func TestMissing(t *testing.T) {
	c := jsonscan.New(`[{"a":1}, {"b":2}]`)
	for range c.Array() {
		start, found := c.Offset(), false
		for name := range c.Object() {
			found = found || name == "a"
			c.Skip()
		}
		if !found {
			c.Missing(start, "a")
		}
	}
	if err := c.End(); err == nil || err.Syntax || err.Error() != `json: [1]: expected an object with the field "a" at offset 10` {
		t.Error(err)
	}
}

// FuzzEnvelope: an envelope does not affect whether a text is valid.
func FuzzEnvelope(f *testing.F) {
	f.Add(`{"a":1,"data":{"b":[2,{"data":{}}]}}`)
	f.Add(`{"data":{"a":1},"data":{`)
	f.Add(`{"data":{"a":tru},"b":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		c := jsonscan.New(text)
		names(c)
		err := c.End()
		if valid := json.Valid([]byte(text)); valid != (err == nil || !err.Syntax) {
			t.Errorf("%q: %v, but valid is %v", text, err, valid)
		}
	})
}
