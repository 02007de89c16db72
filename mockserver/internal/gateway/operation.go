package gateway

import (
	"bytes"
	"context"
	"io"
	"net/http"

	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/fault"
	"example.com/emailplatform/mockserver/internal/httpapi"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/model"
)

// serveOperation processes a request to an operation. If a fault rule applies to the
// request, serveOperation injects the fault.
func (g *Gateway) serveOperation(c *call, o *contract.Operation, next http.HandlerFunc, w http.ResponseWriter, r *http.Request) {
	c.Operation = o.ID
	if o.Body != nil { // before a fault or an error, because the log contains the body
		c.readBody(r, httpapi.MaxBody+1)
	}
	var rule *fault.AppliedRule
	if !c.byControl {
		rule = g.options.Faults.MatchRequest(c.AccountID, o.ID, r)
	}
	if rule == nil {
		g.process(c, o, next, w, r)
		return
	}
	c.Fault = rule.ID
	rule.Apply(w, r, func(w http.ResponseWriter) { g.process(c, o, next, w, r) })
}

func (g *Gateway) process(c *call, o *contract.Operation, next http.HandlerFunc, w http.ResponseWriter, r *http.Request) {
	g.respond(o, w, r, func(w http.ResponseWriter) {
		if err := g.validate(c, o, r); err != nil {
			httpapi.WriteError(w, r, err)
			return
		}
		if o.Deprecated {
			w.Header().Set("Deprecation", deprecatedSince)
		}
		next(w, r)
	})
}

// deprecatedSince is the time at which POST /emails was deprecated, in the
// format of RFC 9745.
const deprecatedSince = "@1735689600"

// reject responds with an error to a request that does not reach an operation.
func (g *Gateway) reject(w http.ResponseWriter, r *http.Request, err error) {
	g.respond(nil, w, r, func(w http.ResponseWriter) { httpapi.WriteError(w, r, err) })
}

// respond calls write to write the response to w. If OnViolation is set, it also validates the
// response. If the request does not reach an operation, the parameter o is nil.
func (g *Gateway) respond(o *contract.Operation, w http.ResponseWriter, r *http.Request, write func(http.ResponseWriter)) {
	if g.options.OnViolation == nil || r.Method == http.MethodHead {
		write(w)
		return
	}
	response := &copyingWriter{ResponseWriter: w}
	write(response)
	if err := o.ValidateResponse(r, response.status, w.Header(), response.body.Bytes()); err != nil {
		g.options.OnViolation(err)
	}
}

// validate returns an error if the token is read-only and the request writes,
// or if openapi.yaml does not allow the body or the parameters.
func (g *Gateway) validate(c *call, o *contract.Operation, r *http.Request) (err error) {
	if c.token.ReadOnly && r.Method != http.MethodGet && r.Method != http.MethodHead {
		return apierror.New(http.StatusForbidden, "forbidden", "the access token is read-only", "header", "authorization")
	}
	if err := contract.CheckURL(r.URL); err != nil {
		return err
	}
	if o.Body != nil {
		if err := httpapi.CheckBody(r, c.Body, c.unread, o.BodyRequired, false); err != nil {
			return err
		}
	}
	r.Body = io.NopCloser(bytes.NewReader(c.Body))
	if err, invalid := r.Context().Value(invalidKey{}).(*apierror.Error); invalid {
		return err
	}
	if g.options.SkipValidation {
		return nil
	}
	found, err := o.ValidateRequest(r, c.Body, c.byControl || g.options.RejectUnknown)
	c.caller.BadEntries = found.BadEntries
	c.UnknownFields, c.UnknownParameters = found.UnknownFields, found.UnknownParameters
	if err != nil && o.Body != nil {
		err = apierror.Join(err, g.platform.Violations(c.AccountID, o.Body, c.Body))
	}
	return err
}

type invalidKey struct{}

// Invalid returns a copy of the request r. An operation rejects this copy with the error err
// after authentication.
func Invalid(r *http.Request, err *apierror.Error) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), invalidKey{}, err))
}

// call records an API request and the response that the client receives.
type call struct {
	http.ResponseWriter
	model.Request

	gateway   *Gateway
	context   callContext
	token     model.Token
	caller    platform.Caller // the owner of the token
	unread    error           // of the reader of the body
	byControl bool            // skips faults and the lookup rate limit, and rejects unknown fields
}

// readBody reads at most the given number of bytes of the body.
func (c *call) readBody(r *http.Request, limit int64) {
	if c.Body, c.unread = io.ReadAll(io.LimitReader(r.Body, limit)); len(c.Body) == 0 {
		c.Body = nil
	}
}

// WriteHeader implements [http.ResponseWriter].
func (c *call) WriteHeader(status int) {
	if c.Status == 0 {
		c.Status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (c *call) Write(b []byte) (int, error) {
	if c.Status == 0 {
		c.Status = http.StatusOK
	}
	if room := maxErrorBody - len(c.Response); c.Status >= 400 && room > 0 {
		c.Response = append(c.Response, b[:min(room, len(b))]...)
	}
	return c.ResponseWriter.Write(b)
}

// maxErrorBody is the maximum size of an error response in the log, in bytes.
const maxErrorBody = 4 << 10

// Unwrap returns the underlying writer for [http.ResponseController].
func (c *call) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// Begun reports whether the response has begun.
func (c *call) Begun() bool { return c.Status != 0 }

// copyingWriter writes a response, and keeps a copy for the validation.
type copyingWriter struct {
	http.ResponseWriter

	status int
	body   bytes.Buffer
}

// WriteHeader implements [http.ResponseWriter].
func (c *copyingWriter) WriteHeader(status int) {
	if !c.Begun() {
		c.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (c *copyingWriter) Write(b []byte) (int, error) {
	if !c.Begun() {
		c.status = http.StatusOK
	}
	c.body.Write(b)
	return c.ResponseWriter.Write(b)
}

// Begun reports whether the response has begun.
func (c *copyingWriter) Begun() bool { return c.status != 0 }
