package problem

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// The members that there are, and not those of the object that has the name.
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
		{`{"lits":[]}`, "lits: no such member: did you mean lists? There are account_id, contacts, lists, name"},
		{`{"contacts":[]}`, "contacts: no such member: there are account_id, lists"},
		{`{"lists":[{"account_id":1}]}`, "account_id: no such member: there are contacts, name"},
		{`{"lists":[{"nam":"x"}]}`, "nam: no such member: did you mean name? There are"},
	} {
		decoder := json.NewDecoder(strings.NewReader(tt.text))
		decoder.DisallowUnknownFields()
		var in seed
		if err := Unknown(decoder.Decode(&in), in); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.text, err, tt.want)
		}
	}
	for _, err := range []error{nil, io.EOF} {
		if got := Unknown(err, seed{}); !errors.Is(got, err) {
			t.Errorf("got %v, want %v", got, err)
		}
	}
}
