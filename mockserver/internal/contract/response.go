package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// ValidateResponse validates the response to a request. A nil operation means
// that the path is unknown, so the response must be an error.
func (o *Operation) ValidateResponse(r *http.Request, status int, header http.Header, body []byte) error {
	name := r.Method + " " + r.URL.Path
	want, known := Response{"application/json", load().problem}, true
	if o != nil {
		name = o.ID
		if want, known = o.Responses[strconv.Itoa(status)]; !known {
			want, known = o.Responses[fmt.Sprintf("%dXX", status/100)]
		}
	}
	media, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	var err error
	switch {
	case !known:
		err = errors.New("unknown status")
	case media != want.Media:
		err = fmt.Errorf("content type %q, must be %q", media, want.Media)
	case media == "application/json":
		err = want.Schema.validate(body)
	case media == "" && len(body) > 0:
		err = errors.New("body must be empty")
	}
	if err != nil {
		return fmt.Errorf("%s: response %d: %w", name, status, err)
	}
	return nil
}

// ValidateEvent validates the body of a delivery.
func ValidateEvent(name string, body []byte) error {
	schema := load().events[name]
	if schema == nil {
		return fmt.Errorf("event %s does not exist in openapi.yaml", name)
	}
	if err := schema.validate(body); err != nil {
		return fmt.Errorf("event %s: %w", name, err)
	}
	return nil
}

func (s *Schema) validate(body []byte) error {
	if !json.Valid(body) {
		return errors.New("body must be JSON")
	}
	v := validator{text: text{b: body}}
	v.value(s, nil)
	if len(v.errors) > 0 {
		return errors.New(v.list())
	}
	return nil
}
