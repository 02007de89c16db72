package problem

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestOfJSON(t *testing.T) {
	type contact struct {
		Email      string
		Attributes map[string]string
		Count      int
	}
	for body, want := range map[string]string{
		`7`:                     "[body]: must be an object, got a number",
		`{"email":true}`:        "[body email]: must be a string, got true or false",
		`{"count":1.5}`:         "[body count]: must be an integer, got 1.5",
		`{"attributes":["a"]}`:  "[body attributes]: must be an object, got an array",
		`{"email":"a","email"}`: "[body]: invalid character '}' after object key",
	} {
		detail := OfJSON(json.Unmarshal([]byte(body), new(contact))).Details[0]
		assert.Equal(t, want, strings.ToLower(fmt.Sprint(detail.Loc))+": "+detail.Msg, body)
	}
}

// The error lists the fields of the object that contains the unknown field.
func TestUnknown(t *testing.T) {
	type list struct {
		Name     string           `json:"name"`
		Contacts []map[string]any `json:"contacts"`
	}
	type seed struct {
		AccountID int64   `json:"account_id"`
		Lists     []*list `json:"lists"`
	}
	for _, tt := range []struct{ text, want string }{
		{`{"lits":[]}`, "lits: unknown field: did you mean lists? Must be one of account_id, contacts, lists, name"},
		{`{"contacts":[]}`, "contacts: unknown field: must be one of account_id, lists"},
		{`{"lists":[{"account_id":1}]}`, "account_id: unknown field: must be one of contacts, name"},
		{`{"lists":[{"nam":"x"}]}`, "nam: unknown field: did you mean name? Must be one of"},
	} {
		decoder := json.NewDecoder(strings.NewReader(tt.text))
		decoder.DisallowUnknownFields()
		var in seed
		if err := Unknown(decoder.Decode(&in), in); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.text, err, tt.want)
		}
	}
	for _, err := range []error{nil, io.EOF} {
		assert.ErrorIs(t, Unknown(err, seed{}), err)
	}
}
