package control

import (
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/schema"
	"example.com/emailplatform/mockserver/internal/suggest"
)

type param struct {
	name, doc string
	schema    *contract.Schema // of a string or an integer
	preset    string           // the default, if any
}

// text returns a parameter that accepts any value except "".
func text(name, doc string) param {
	return param{name: name, doc: doc, schema: &contract.Schema{Kind: contract.String, Min: 1}}
}

// choice returns a parameter that accepts one of several values, ignoring case.
func choice(name, doc string, values ...string) param {
	return param{name: name, doc: doc, schema: &contract.Schema{Kind: contract.String, Enum: values}}
}

func number(name, doc string, least, most int64, preset string) param {
	return param{name, doc, &contract.Schema{Kind: contract.Integer, Min: least, Max: most}, preset}
}

func idOf(name, doc string) param { return number(name, doc, 1, math.MaxInt64, "") }

func ofAccount(doc string) param { return idOf("account_id", doc) }

func eventName(doc string) param { return choice("event", doc, schema.Texts(api.EventNames())...) }

// parse returns the normalized value, or a message if the value is invalid.
func (p param) parse(given string) (value, wrong string) {
	if given == "" {
		return "", "must not be empty: omit the parameter to match any value"
	}
	if i := slices.IndexFunc(p.schema.Enum, func(v string) bool { return strings.EqualFold(v, given) }); i >= 0 {
		given = p.schema.Enum[i]
	}
	if n, err := strconv.ParseInt(given, 10, 64); err == nil && p.schema.Kind == contract.Integer {
		given = strconv.FormatInt(n, 10)
	}
	return given, p.schema.TextError(given)
}

// query contains the parameters of a request, with defaults for omitted parameters.
type query map[string]string

func (q query) number(name string) int { return int(q.id(name)) }

// id returns the value of an integer parameter, or 0 if it is omitted.
func (q query) id(name string) int64 {
	n, _ := strconv.ParseInt(q[name], 10, 64) // parse has checked the value
	return n
}

// check validates the parameters of a query, or the filters in a body. If the parameter
// others is true, unknown names are allowed.
func check(params []param, given url.Values, others bool, where, what string) (query, error) {
	q := query{}
	wrong := &apierror.Error{Status: http.StatusUnprocessableEntity}
	reject := func(name, msg string) {
		wrong.Details = append(wrong.Details, apierror.At("value_error", msg, where, name))
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
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !others && len(wrong.Details) < apierror.MaxDetails {
			reject(name, suggest.Unknown(what, name, names))
		}
	}
	if len(wrong.Details) > 0 {
		return nil, wrong
	}
	return q, nil
}
