package control

import (
	"fmt"
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

// param is a parameter of a route's query.
type param struct {
	name, means string
	values      func() []string // all that it may be, without case
	pattern     *regexp.Regexp  // or what it looks like
	want        string          // in words, of a pattern
	integer     bool            // or an integer
	min, max    int64
	usual       string // what it is if it is left out, if that is not "any"
}

// text is a parameter that may be anything but empty.
func text(name, means string) param { return param{name: name, means: means} }

// choice is one of some values.
func choice(name, means string, values ...string) param {
	return param{name: name, means: means, values: func() []string { return values }}
}

// number is an integer; usual is what it is if it is left out.
func number(name, means string, least, most, usual int64) param {
	return param{name: name, means: means, integer: true, min: least, max: most, usual: strconv.FormatInt(usual, 10)}
}

// ofAccount is the parameter of what belongs to an account.
func ofAccount(means string) param { return idOf("account_id", means) }

// idOf is an id of the API.
func idOf(name, means string) param {
	return param{name: name, means: means, integer: true, min: 1, max: 1<<63 - 1}
}

// named turns names of any type into those of values.
func named[T ~string](names []T) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = string(name)
	}
	return out
}

// eventNames are the names of all events of the API.
func eventNames() []string { return named(api.EventNames()) }

// read returns a value as the handlers have it, or what is wrong with it.
func (p param) read(given string) (value, mistake string) {
	switch {
	case given == "":
		return "", "want a value: leave the parameter out for any"
	case p.integer:
		n, err := strconv.ParseInt(given, 10, 64)
		if err != nil || n < p.min || n > p.max {
			return "", p.wanted()
		}
		return strconv.FormatInt(n, 10), ""
	case p.pattern != nil && !p.pattern.MatchString(given):
		return "", p.wanted()
	case p.values != nil:
		known := p.values()
		i := slices.IndexFunc(known, func(v string) bool { return strings.EqualFold(v, given) })
		if i < 0 {
			return "", suggest.Unknown("value", given, known)
		}
		return known[i], ""
	}
	return given, ""
}

// wanted says what a value has to be.
func (p param) wanted() string {
	switch {
	case p.integer && p.max == 1<<63-1:
		return fmt.Sprintf("want an integer, %d or more", p.min)
	case p.integer:
		return fmt.Sprintf("want an integer from %d to %d", p.min, p.max)
	case p.pattern != nil:
		return "want " + p.want
	case p.values != nil:
		return "want one of " + strings.Join(p.values(), ", ")
	}
	return "want a text"
}

// query holds the parameters that were given, and the usual values of others.
type query map[string]string

// number returns the value of an integer that is given or has a usual value.
func (q query) number(name string) int {
	n, _ := strconv.Atoi(q[name]) // it has been read as an integer
	return n
}

// queryOf reads the parameters of a request. What the route does not know is a
// mistake: whoever misspells a filter would get all there is, or forget it.
func (rt route) queryOf(r *http.Request) (query, error) {
	given, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, problem.Invalid("malformed: "+err.Error(), "query")
	}
	if r.Method == http.MethodGet {
		delete(given, "token") // says who asks, see guard.go
	}
	return read(rt.query, given, rt.open, "query")
}

// read reads values as parameters say; open lets others through. where is what
// they are in, and a member of a body is read in the same way.
func read(params []param, given url.Values, open bool, where string) (query, error) {
	q := query{}
	wrong := &problem.Error{Status: http.StatusUnprocessableEntity}
	refuse := func(name, msg string) {
		wrong.Details = append(wrong.Details, problem.At("value_error", msg, where, name))
	}
	var names []string
	for _, p := range params {
		names = append(names, p.name)
		values, there := given[p.name]
		delete(given, p.name)
		value, mistake := p.usual, ""
		switch {
		case len(values) > 1:
			mistake = "given more than once"
		case there:
			value, mistake = p.read(values[0])
		}
		if mistake != "" {
			refuse(p.name, mistake)
		} else if value != "" {
			q[p.name] = value
		}
	}
	for _, name := range sortedNames(given) {
		if !open {
			refuse(name, suggest.Unknown(map[string]string{"query": "parameter", "body": "filter"}[where], name, names))
		}
	}
	if len(wrong.Details) > 0 {
		return nil, wrong
	}
	return q, nil
}
