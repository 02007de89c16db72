package schema

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"example.com/emailplatform/mockserver/internal/apierror"
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
	Offset int      `json:"offset,omitzero"`
	Any    any      `json:"any,omitzero"`
}

type mode string

func check(body string) string {
	types := Types{Enums: map[reflect.Type][]string{reflect.TypeFor[mode](): {"fast", "slow"}}}
	var out []string
	for _, p := range types.Of(reflect.TypeFor[sample]()).RequestErrors([]byte(body)) {
		out = append(out, apierror.Path(p.Loc)+": "+p.Msg)
	}
	return strings.Join(out, ", ")
}

func TestOf(t *testing.T) {
	for body, want := range map[string]string{
		`{}`: "",
		`{"count":5,"chance":0.5,"big":18446744073709551615,"to":"a.b@x.example","inner":[{"name":"x"}],"on":true,"mode":"slow","any":null}`: "",
		`{"count":1.5}`:                "count: must be an integer, got 1.5",
		`{"count":"1"}`:                "count: must be an integer, got a string",
		`{"count":0}`:                  "count: must be between 1 and 5",
		`{"count":6}`:                  "count: must be between 1 and 5",
		`{"count":-1}`:                 "count: must be between 1 and 5",
		`{"offset":-1}`:                "",
		`{"chance":0}`:                 "chance: must be more than 0 and at most 1",
		`{"chance":1}`:                 "",
		`{"chance":1.1}`:               "chance: must be more than 0 and at most 1",
		`{"chance":true}`:              "chance: must be a number, got true or false",
		`{"big":-1}`:                   "big: must be at least 0",
		`{"big":18446744073709551616}`: "big: must be an integer, got 18446744073709551616",
		`{"to":5}`:                     "to: must be a string, got a number",
		`{"to":"a b@x.example"}`:       "to: must be an email address",
		`{"to":null}`:                  "to: must be a string, got null",
		`{"inner":[]}`:                 "inner: must not be empty",
		`{"inner":[{}]}`:               "inner[0].name: required",
		`{"inner":[{"name":"x"},{"nam":"x","name":""}]}`: "inner[1].nam: unknown field: did you mean name? Must be one of name, inner[1].name: must not be empty",
		`{"inner":{}}`:         "inner: must be an array, got an object",
		`{"words":["ab","é"]}`: "words[1]: must be at least 2 characters long",
		`{"mode":""}`:          "mode: unknown value: must be one of fast, slow",
		`{"Mode":"fast"}`:      `Mode: unknown field, use "mode"`,
		`[]`:                   ": must be an object, got an array",
	} {
		assert.Equal(t, want, check(body), body)
	}
	none := (Types{}).Of(reflect.TypeFor[struct{}]())
	assert.Len(t, none.RequestErrors([]byte(`{"x":1}`)), 1, "an object without fields")
}
