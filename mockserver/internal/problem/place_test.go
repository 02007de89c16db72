package problem

import (
	"encoding/json"
	"fmt"
	"testing"
)

// Where a value does not fit is told alike by every release of Go.
func TestPlaceOfMisfit(t *testing.T) {
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
		{`7`, "[body]"},
		{` [1]`, "[body]"},
		{`{"email":5}`, "[body email]"},
		{`{"email":"a", "status": "x"}`, "[body status]"},
		{`{"custom_attributes":{"a":1}}`, "[body custom_attributes]"},
		{`{"custom_attributes":[ 1 ]}`, "[body custom_attributes 0]"},
		{`{"custom_attributes":[{},{"name":"a","value":2}]}`, "[body custom_attributes 1 value]"},
		{`{"custom_attributes":[{"value":{"a":1}}]}`, "[body custom_attributes 0 value]"},
		{`{"filling":{"a":"b","0":{"c":"d"}}}`, "[body filling 0]"},
		{`{"unknown":[{"a":[1]},2],"tags":["a","b",[]]}`, "[body tags 2]"},
	} {
		err := json.Unmarshal([]byte(tt.body), new(contact))
		if err == nil {
			t.Fatalf("%s fits", tt.body)
		}
		if got := fmt.Sprint(OfJSON([]byte(tt.body), err).Details[0].Loc); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.body, got, tt.want)
		}
	}
}
