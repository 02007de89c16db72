package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/model"
)

// serveOperation processes a request to an operation, and applies a fault if a
// rule selects the request.
func (g *Gateway) serveOperation(c *call, o *contract.Operation, next http.HandlerFunc, w http.ResponseWriter, r *http.Request) {
	c.Operation = o.ID
	if o.Body != nil { // before a fault or an error, because the log contains the body
		c.readBody(r, MaxBody+1)
	}
	var rule *model.FaultRule
	if !c.byControl {
		rule = g.options.Faults.Request(c.AccountID, o.ID, r)
	}
	if rule == nil {
		g.process(c, o, next, w, r)
		return
	}
	c.Fault = rule.ID
	g.options.Faults.Apply(rule.Fault, w, r, func(w http.ResponseWriter) { g.process(c, o, next, w, r) })
}

func (g *Gateway) process(c *call, o *contract.Operation, next http.HandlerFunc, w http.ResponseWriter, r *http.Request) {
	g.respond(o, w, r, func(w http.ResponseWriter) {
		if err := g.validate(c, o, r); err != nil {
			WriteError(w, r, err)
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
	g.respond(nil, w, r, func(w http.ResponseWriter) { WriteError(w, r, err) })
}

// respond calls write to write the response to w. If OnViolation is set, it also validates the
// response. If the request does not reach an operation, the parameter o is nil.
func (g *Gateway) respond(o *contract.Operation, w http.ResponseWriter, r *http.Request, write func(http.ResponseWriter)) {
	if g.options.OnViolation == nil || r.Method == http.MethodHead {
		write(w)
		return
	}
	response := &copied{ResponseWriter: w}
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
		if err := checkBody(r, c.Body, c.unread, o.BodyRequired, false); err != nil {
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
	return err
}

type invalidKey struct{}

// Invalid returns a request that an operation rejects with an error after authentication.
func Invalid(r *http.Request, err *apierror.Error) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), invalidKey{}, err))
}

// ReadBody returns the JSON body of a request, or nil if an optional body is
// omitted. If nul is false, a string with U+0000 is an error.
func ReadBody(r *http.Request, required, nul bool) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	if err = checkBody(r, body, err, required, nul); err != nil || len(body) == 0 {
		return nil, err
	}
	return body, nil
}

// checkBody returns an error for an invalid body. The parameter unread is the error of the reader.
func checkBody(r *http.Request, body []byte, unread error, required, nul bool) error {
	media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	switch {
	case unread != nil:
		return apierror.New(http.StatusBadRequest, "json_invalid", "the body could not be read", "body")
	case len(body) > MaxBody:
		return apierror.New(http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body is larger than %d bytes", MaxBody), "body")
	case len(body) == 0 && !required:
		return nil
	case CheckCompression(r, body) != nil:
		return CheckCompression(r, body)
	case !strings.EqualFold(strings.TrimSpace(media), "application/json"):
		return apierror.New(http.StatusUnsupportedMediaType, "unsupported_media_type", "must be application/json", "header", "content-type")
	case !json.Valid(body):
		var value any
		return apierror.New(http.StatusBadRequest, "json_invalid", fmt.Sprint(json.Unmarshal(body, &value)), "body")
	}
	if err := contract.CheckText(body, nul); err != nil {
		return err
	}
	return nil
}

// CheckCompression returns an error if a body is compressed. It looks at the first bytes too,
// because the Content-Encoding header may be missing.
func CheckCompression(r *http.Request, body []byte) error {
	name := strings.ToLower(r.Header.Get("Content-Encoding"))
	for _, format := range []struct{ start, name string }{{"\x1f\x8b", "gzip"}, {"\x78\x9c", "deflate"}, {"\x28\xb5\x2f\xfd", "zstd"}} {
		if bytes.HasPrefix(body, []byte(format.start)) {
			name = format.name
		}
	}
	if name == "" || name == "identity" {
		return nil
	}
	msg := fmt.Sprintf("the body must not be compressed, got %.20s", name)
	return apierror.New(http.StatusUnsupportedMediaType, "unsupported_media_type", msg, "header", "content-encoding")
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

func (c *call) begun() bool { return c.Status != 0 }

// copied is a writer that copies the response, which must be validated.
type copied struct {
	http.ResponseWriter

	status int
	body   bytes.Buffer
}

// WriteHeader implements [http.ResponseWriter].
func (c *copied) WriteHeader(status int) {
	if !c.begun() {
		c.status = status
	}
	c.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (c *copied) Write(b []byte) (int, error) {
	if !c.begun() {
		c.status = http.StatusOK
	}
	c.body.Write(b)
	return c.ResponseWriter.Write(b)
}

func (c *copied) begun() bool { return c.status != 0 }
