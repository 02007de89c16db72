package problem

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The location and the message of a type error do not depend on the release of Go.
func TestTypeErrorLocation(t *testing.T) {
	type attribute struct{ Name, Value string }
	type embedded struct {
		Status int `json:"status"`
	}
	type contact struct {
		embedded

		Email      string
		Attributes []attribute `json:"custom_attributes"`
		Filling    map[string]string
		Tags       []string
	}
	for _, tt := range []struct{ body, want string }{
		{`7`, "[body]: must be an object, got a number"},
		{` [1]`, "[body]: must be an object, got an array"},
		{`{"email":5}`, "[body email]: must be a string, got a number"},
		{`{"email":"a", "status": 1.5}`, "[body status]: must be an integer, got 1.5"},
		{`{"email":true}`, "[body email]: must be a string, got true or false"},
		{`{"email":"a", "status": "x"}`, "[body status]: must be an integer, got a string"},
		{`{"custom_attributes":{"a":1}}`, "[body custom_attributes]: must be an array, got an object"},
		{`{"custom_attributes":[ 1 ]}`, "[body custom_attributes 0]: must be an object, got a number"},
		{`{"custom_attributes":[{},{"name":"a","value":2}]}`, "[body custom_attributes 1 value]: must be a string, got a number"},
		{`{"custom_attributes":[{"value":{"a":1}}]}`, "[body custom_attributes 0 value]: must be a string, got an object"},
		{`{"filling":{"a":"b","0":{"c":"d"}}}`, "[body filling 0]: must be a string, got an object"},
		{`{"unknown":[{"a":[1]},2],"tags":["a","b",[]]}`, "[body tags 2]: must be a string, got an array"},
	} {
		err := json.Unmarshal([]byte(tt.body), new(contact))
		require.Error(t, err, "%s fits", tt.body)
		detail := OfJSON([]byte(tt.body), err).Details[0]
		assert.Equal(t, tt.want, fmt.Sprint(detail.Loc, ": ", detail.Msg), tt.body)
	}
}

// Finding the location of a type error after deeply nested values allocates at most 100 MiB.
func TestTypeErrorLocationMemory(t *testing.T) {
	const depth, n = 5000, 10_000
	body := []byte(`{"x":` + strings.Repeat("[", depth) + "0" + strings.Repeat(",0", n) + strings.Repeat("]", depth) + `,"email":5}`)
	err := json.Unmarshal(body, new(struct{ Email string }))
	require.Error(t, err, "a number fits a string")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := fmt.Sprint(OfJSON(body, err).Details[0].Loc)
	runtime.ReadMemStats(&after)
	assert.Equal(t, "[body email]", got)
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 100<<20 {
		t.Errorf("the location took %d MiB for a body of %d KiB", bytes>>20, len(body)>>10)
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
