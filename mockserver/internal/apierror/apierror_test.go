package apierror

import (
	"encoding/json"
	"fmt"
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
