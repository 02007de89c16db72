package client

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The functions in requests.gen.go create requests.
type request struct {
	op               string // operationId in the OpenAPI document
	method           string
	repeatable       bool   // can be sent again after an unknown outcome
	path             string // relative to the base URL, escaped
	page             int64  // number of the page; 0 means no page
	unpaged          bool   // the specification does not define pages for this list
	query            string // the other parameters, escaped
	droppedParameter string // name of the last parameter that dropRefused removed
	body             body   // encoded as JSON; nil means no body
	html             bool   // the response is HTML, not JSON
	err              error  // error for the first invalid argument; encode checks the page
}

// setPath replaces the parameters in a path template, such as {list_id}, with
// the arguments in order.
func (r *request) setPath(template string, args ...any) {
	segments := strings.Split(template, "/")
	for i, s := range segments {
		if !strings.HasPrefix(s, "{") {
			continue
		}
		segment, err := pathSegment(args[0])
		if err != nil && r.err == nil {
			r.err = fmt.Errorf("%s: %w", strings.Trim(s, "{}"), err)
		}
		segments[i], args = segment, args[1:]
	}
	r.path = strings.Join(segments, "/")
}

// pathSegment escapes one segment of a path. The segments "", "." and ".." are
// errors, because they would select another endpoint.
func pathSegment(v any) (string, error) {
	switch v := v.(type) {
	case int64:
		if v < 1 {
			return "", fmt.Errorf("must be a positive id, got %d", v)
		}
		return strconv.FormatInt(v, 10), nil
	case string:
		if v == "" || v == "." || v == ".." {
			return "", fmt.Errorf("must be an id, got %q", v)
		}
		if !utf8.ValidString(v) {
			return "", errors.New("must be valid UTF-8")
		}
		return strings.ReplaceAll(url.PathEscape(v), "+", "%2B"), nil // some servers read + as a space
	}
	return "", errors.New("must be an id")
}

// requestURI returns the path and the query.
func (r *request) requestURI() string {
	uri, sep := r.path, "?"
	if r.page != 0 {
		uri, sep = uri+"?page="+strconv.FormatInt(r.page, 10), "&"
	}
	if r.query != "" {
		uri += sep + r.query
	}
	return uri
}

// addQueryIfSet adds a parameter unless v is nil or the zero value.
func (r *request) addQueryIfSet(name string, v any) {
	var s string
	switch v := v.(type) {
	case string:
		if s = v; !utf8.ValidString(s) && r.err == nil {
			r.err = fmt.Errorf("%s: must be valid UTF-8", name)
		}
	case int64:
		if v < 0 && r.err == nil {
			r.err = fmt.Errorf("%s: must be a positive number, got %d", name, v)
		}
		if v != 0 {
			s = strconv.FormatInt(v, 10)
		}
	case bool:
		if v {
			s = "true"
		}
	case *bool:
		if v != nil {
			s = strconv.FormatBool(*v)
		}
	}
	if s != "" {
		r.addQuery(name, s)
	}
}

func (r *request) addQuery(name, value string) {
	if r.query != "" {
		r.query += "&"
	}
	r.query += name + "=" + strings.ReplaceAll(url.QueryEscape(value), "+", "%20") // all servers read %20 as a space
}

func (r *request) addQueryDefault(name, value string) {
	if !strings.Contains("&"+r.query, "&"+name+"=") {
		r.addQuery(name, value)
	}
}

// dropRefused removes a parameter if err shows that the platform may have refused it, and
// reports whether it removed one. The call does not need the parameters in optional, so
// dropRefused removes one of them even if the error names no parameter. The parameters in
// the second slice change the result, so dropRefused removes one of them only if the
// error contains its name.
func (r *request) dropRefused(err error, optional, named []string) bool {
	e, ok := topLevelError(err)
	if !ok || e.StatusCode < 400 || !e.Is(ErrValidation) {
		return false
	}
	isNamed := func(name string) bool { return e.names(name) && r.dropQuery(name) }
	if slices.ContainsFunc(optional, isNamed) || slices.ContainsFunc(named, isNamed) {
		return true
	}
	elsewhere := func(d ErrorDetail) bool { return len(d.Loc) > 1 } // names another parameter or a field
	return !slices.ContainsFunc(e.Details, elsewhere) && slices.ContainsFunc(optional, r.dropQuery)
}

// dropQuery removes a parameter, and reports whether the request had it.
func (r *request) dropQuery(name string) bool {
	parameters := strings.Split(r.query, "&")
	rest := slices.DeleteFunc(slices.Clone(parameters), func(p string) bool { return strings.HasPrefix(p, name+"=") })
	if len(rest) == len(parameters) {
		return false
	}
	r.query, r.droppedParameter = strings.Join(rest, "&"), name
	return true
}
