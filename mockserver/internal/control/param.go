package control

import (
	"fmt"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/internal/suggest"
)

// param is a query parameter of a route.
type param struct {
	name, doc string
	values    []string       // valid values, compared case-insensitively, if set
	pattern   *regexp.Regexp // pattern of the valid values, if set
	shape     string         // description of pattern
	integer   bool           // the value must be an integer from min to max
	min, max  int64
	preset    string // the default, if any
}

// text returns a parameter that accepts any value except "".
func text(name, doc string) param { return param{name: name, doc: doc} }

// choice returns a parameter that accepts one of several values.
func choice(name, doc string, values ...string) param {
	return param{name: name, doc: doc, values: values}
}

// number returns an integer parameter with a default.
func number(name, doc string, least, most, preset int64) param {
	return param{name: name, doc: doc, integer: true, min: least, max: most, preset: strconv.FormatInt(preset, 10)}
}

// idOf returns a parameter that accepts an id of the API.
func idOf(name, doc string) param {
	return param{name: name, doc: doc, integer: true, min: 1, max: math.MaxInt64}
}

// ofAccount returns the parameter account_id.
func ofAccount(doc string) param { return idOf("account_id", doc) }

// eventName returns a parameter that accepts an event name.
func eventName(doc string) param { return choice("event", doc, named(api.EventNames())...) }

// parse returns the normalized value, or a message if the value is invalid.
func (p param) parse(given string) (value, wrong string) {
	switch {
	case given == "":
		return "", "must not be empty: omit the parameter to match any value"
	case p.integer:
		n, err := strconv.ParseInt(given, 10, 64)
		if err != nil || n < p.min || n > p.max {
			return "", "must be " + p.wanted()
		}
		return strconv.FormatInt(n, 10), ""
	case p.pattern != nil && !p.pattern.MatchString(given):
		return "", "must be " + p.wanted()
	case p.values != nil:
		i := slices.IndexFunc(p.values, func(v string) bool { return strings.EqualFold(v, given) })
		if i < 0 {
			return "", suggest.Unknown("value", given, p.values)
		}
		return p.values[i], ""
	}
	return given, ""
}

// wanted describes the valid values of an integer parameter or a parameter with
// a pattern.
func (p param) wanted() string {
	switch {
	case p.integer && p.max == math.MaxInt64:
		return fmt.Sprintf("an integer, %d or more", p.min)
	case p.integer:
		return fmt.Sprintf("an integer from %d to %d", p.min, p.max)
	}
	return p.shape
}

// query contains the parameters of a request, with defaults for omitted parameters.
type query map[string]string

// number returns the value of an integer parameter with a default.
func (q query) number(name string) int { return int(q.id(name)) }

// id returns the value of an integer parameter, or 0 if it is omitted.
func (q query) id(name string) int64 {
	n, _ := strconv.ParseInt(q[name], 10, 64) // parse has checked the value
	return n
}

// check validates the parameters of a query, or the filters in a body. If others is
// true, unknown names are allowed.
func check(params []param, given url.Values, others bool, where, what string) (query, error) {
	q := query{}
	wrong := &problem.Error{Status: http.StatusUnprocessableEntity}
	reject := func(name, msg string) {
		wrong.Details = append(wrong.Details, problem.At("value_error", msg, where, name))
	}
	var names []string
	for _, p := range params {
		names = append(names, p.name)
		values, ok := given[p.name]
		delete(given, p.name)
		value, msg := p.preset, ""
		switch {
		case len(values) > 1:
			msg = "given more than once"
		case ok:
			value, msg = p.parse(values[0])
		}
		if msg != "" {
			reject(p.name, msg)
		} else if value != "" {
			q[p.name] = value
		}
	}
	for _, name := range sortedNames(given) {
		if !others && len(wrong.Details) < problem.MaxDetails {
			reject(name, suggest.Unknown(what, name, names))
		}
	}
	if len(wrong.Details) > 0 {
		return nil, wrong
	}
	return q, nil
}
