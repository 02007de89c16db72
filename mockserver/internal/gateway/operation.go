package gateway

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/record"
)

// serveOperation answers a request to an operation, unless a fault gets in the way.
func (g *Gateway) serveOperation(c *call, pattern string, next http.HandlerFunc, r *http.Request) {
	op := contract.Operations()[pattern]
	c.Operation = op.ID
	if !c.undisturbed {
		if rule := g.options.Faults.Request(op.ID, r); rule != nil {
			g.serveDisturbed(c, rule, r, func() { g.act(c, op, next, r) })
			return
		}
	}
	g.act(c, op, next, r)
}

// serveDisturbed carries out a request that a rule hit.
func (g *Gateway) serveDisturbed(c *call, rule *record.FaultRule, r *http.Request, act func()) {
	c.Fault = rule.ID
	g.options.Faults.Disturb(rule.Fault, c, r, func(w http.ResponseWriter) {
		if w == http.ResponseWriter(c) {
			act()
			return
		}
		through := c.ResponseWriter
		c.ResponseWriter = w
		act()
		c.ResponseWriter, c.Status, c.Answer = through, 0, nil // what the client sees is still to come
	})
}

// act carries out a request and answers it.
func (g *Gateway) act(c *call, op *contract.Operation, next http.HandlerFunc, r *http.Request) {
	defer g.observe(c, op, r)()
	if err := g.admit(c, op, r); err != nil {
		AnswerError(c, r, err)
		return
	}
	if op.Deprecated {
		c.Header().Set("Deprecation", deprecatedSince)
	}
	next(c, r)
}

// deprecatedSince is when POST /emails was deprecated, as RFC 9745 writes it.
const deprecatedSince = "@1735689600"

// observe keeps what is answered until the function that it returns holds it
// against the contract. op is nil where a request reached no operation.
func (g *Gateway) observe(c *call, op *contract.Operation, r *http.Request) func() {
	if g.options.OnViolation == nil || r.Method == http.MethodHead {
		return func() {}
	}
	c.answer = new([]byte)
	return func() {
		if err := op.ValidateResponse(r, c.Status, c.Header(), *c.answer); err != nil {
			g.options.OnViolation(err)
		}
	}
}

// admit refuses what no operation should have to look at.
func (g *Gateway) admit(c *call, op *contract.Operation, r *http.Request) error {
	if c.caller.ReadOnly && r.Method != http.MethodGet && r.Method != http.MethodHead {
		return problem.New(http.StatusForbidden, "forbidden", "the access token may only read", "header", "authorization")
	}
	body, err := readBody(r, op)
	if err != nil {
		return err
	}
	c.Body = body
	r.Body = io.NopCloser(bytes.NewReader(body))
	if g.options.SkipValidation {
		return nil
	}
	found, err := op.ValidateRequest(r, body, c.strict || g.options.RefuseUnknown)
	c.asked.BadEntries = found.BadEntries
	c.UnknownMembers, c.UnknownParameters = found.UnknownFields, found.UnknownParameters
	return err
}

// readBody reads the JSON that an operation takes; any other body is left alone.
func readBody(r *http.Request, op *contract.Operation) ([]byte, error) {
	if op.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	if err != nil {
		return nil, problem.New(http.StatusBadRequest, "json_invalid", "the body could not be read", "body")
	}
	if len(body) > MaxBody {
		return nil, problem.New(http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body is larger than %d bytes", MaxBody), "body")
	}
	if len(body) == 0 && !op.BodyRequired {
		return nil, nil
	}
	media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(media), "application/json") {
		return nil, problem.New(http.StatusUnsupportedMediaType, "unsupported_media_type", "want application/json", "header", "content-type")
	}
	if !json.Valid(body) {
		var value any
		return nil, problem.New(http.StatusBadRequest, "json_invalid", fmt.Sprint(json.Unmarshal(body, &value)), "body")
	}
	return body, nil
}
