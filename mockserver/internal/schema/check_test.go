package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver/internal/problem"
)

type inner struct {
	Name string `json:"name" min:"1"`
}

type sample struct {
	Count  int      `json:"count,omitzero" min:"1" max:"5"`
	Chance float64  `json:"chance,omitzero" above:"0" max:"1"`
	Big    uint64   `json:"big,omitzero"`
	To     string   `json:"to,omitzero" pattern:"email"`
	Inner  []inner  `json:"inner,omitzero" min:"1"`
	Words  []string `json:"words,omitzero" item:"min:\"2\""`
	On     *bool    `json:"on,omitzero"`
	Mode   mode     `json:"mode,omitzero"`
	Any    any      `json:"any,omitzero"`
}

type mode string

func check(t *testing.T, body string) []string {
	t.Helper()
	types := Types{Enums: map[reflect.Type][]string{reflect.TypeFor[mode](): {"fast", "slow"}}}
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	var value any
	require.NoError(t, d.Decode(&value))
	var out []string
	for _, p := range types.Of(reflect.TypeFor[sample]()).Check(value, "body") {
		out = append(out, problem.Path(p.Loc)+": "+p.Msg)
	}
	return out
}

func TestCheck(t *testing.T) {
	for body, want := range map[string]string{
		`{}`: "",
		`{"count":5,"chance":0.5,"big":18446744073709551615,"to":"a.b@x.example","inner":[{"name":"x"}],"on":true,"mode":"slow","any":null}`: "",
		`{"count":1.5}`:                "count: must be an integer, got 1.5",
		`{"count":"1"}`:                "count: must be an integer, got a string",
		`{"count":0}`:                  "count: must be 1 to 5",
		`{"count":6}`:                  "count: must be 1 to 5",
		`{"chance":0}`:                 "chance: must be more than 0, up to 1",
		`{"chance":1}`:                 "",
		`{"chance":true}`:              "chance: must be a number, got true or false",
		`{"big":-1}`:                   "big: must be 0 or more",
		`{"big":18446744073709551616}`: "big: must be an integer, got 18446744073709551616",
		`{"to":5}`:                     "to: must be a string, got a number",
		`{"to":"a b@x.example"}`:       "to: must be an email address",
		`{"to":null}`:                  "to: must be a string, got null",
		`{"inner":[]}`:                 "inner: must have a length of 1 or more",
		`{"inner":[{}]}`:               "inner[0].name: required",
		`{"inner":[{"name":"x"},{"nam":"x","name":""}]}`: "inner[1].nam: unknown field: did you mean name? Must be one of name, inner[1].name: must have a length of 1 or more",
		`{"inner":{}}`:         "inner: must be an array, got an object",
		`{"words":["ab","é"]}`: "words[1]: must have a length of 2 or more",
		`{"mode":""}`:          "mode: unknown value: must be one of fast, slow",
		`{"Mode":"fast"}`:      "Mode: unknown field: did you mean mode? Must be one of any, big, chance, count, inner, mode, on, to, words",
		`[]`:                   ": must be an object, got an array",
	} {
		assert.Equal(t, want, strings.Join(check(t, body), ", "), body)
	}
}

// The number of errors is limited.
func TestCheckStops(t *testing.T) {
	var fields, items strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&fields, `"unknown%d":1,`, i)
		items.WriteString(`{},`)
	}
	for name, body := range map[string]string{
		"unknown fields": `{` + fields.String() + `"to":"a@x.example"}`,
		"items":          `{"inner":[` + items.String() + `{}]}`,
	} {
		if n := len(check(t, body)); n != problem.MaxDetails {
			t.Errorf("%s: %d errors, want %d", name, n, problem.MaxDetails)
		}
	}
}
