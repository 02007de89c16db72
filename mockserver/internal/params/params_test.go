package params

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// values contains one parameter of each type.
type values struct {
	text   string
	number int64
	flag   bool
	choice *bool
}

func TestParameters(t *testing.T) {
	yes, no := true, false
	for query, want := range map[string]values{
		"":                                     {},
		"text=&number=-9223372036854775808":    {number: -1 << 63},
		"text=a%2Cb&flag=true&choice=0":        {text: "a,b", flag: true, choice: &no},
		"number=%2B7&flag=F&choice=T&other=x;": {number: 7, choice: &yes},
	} {
		got, err := read(query)
		assert.NoError(t, err, query)
		assert.Equal(t, want, got, query)
	}
	for _, query := range []string{
		"number=", "number=1.0", "number=9223372036854775808", "number=1&number=1", "flag=", "flag=yes", "choice=", "choice=2", "text=a&text=b",
	} {
		_, err := read(query)
		assert.Error(t, err, query)
	}
}

// read reads the parameters of a query. None is required.
func read(query string) (v values, err error) {
	parsed, _ := url.ParseQuery(query) // like the generated routes, which ignore a malformed part
	for name, param := range map[string]any{"text": &v.text, "number": &v.number, "flag": &v.flag, "choice": &v.choice} {
		if err := BindQueryParameterWithOptions("form", true, false, name, parsed, param, BindQueryParameterOptions{}); err != nil {
			return v, err
		}
	}
	return v, nil
}

func TestRequired(t *testing.T) {
	var n int64
	err := BindQueryParameterWithOptions("form", true, true, "page", url.Values{}, &n, BindQueryParameterOptions{})
	var missing *RequiredParameterError
	assert.ErrorAs(t, err, &missing)
	assert.Error(t, BindStyledParameterWithOptions("simple", "list_id", "", new(string), BindStyledParameterOptions{}))
	assert.NoError(t, BindStyledParameterWithOptions("simple", "list_id", "7", &n, BindStyledParameterOptions{}))
	assert.Equal(t, int64(7), n)
	assert.Panics(t, func() { _ = set(new(float64), "1") })
}

func TestBody(t *testing.T) {
	var got struct{ Name string }
	r := httptest.NewRequest(http.MethodPost, "/lists", strings.NewReader(`{"name":"News"}`))
	assert.NoError(t, BindJSONBody(r, &got))
	assert.Equal(t, "News", got.Name)
	assert.Error(t, BindJSONBody(r, &got), "the body is at its end")
}
