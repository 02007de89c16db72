package gateway

import (
	"bytes"
	"net/http"

	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/record"
)

// call is a request. It records the response that is written through it.
type call struct {
	http.ResponseWriter
	record.Request

	gateway   *Gateway
	token     record.Token
	caller    platform.Caller // the owner of the token
	byControl bool            // no faults, no lookup rate limit, unknown fields are rejected
	body      *bytes.Buffer   // body of the response, if it must be validated
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
	if c.body != nil {
		c.body.Write(b)
	}
	return c.ResponseWriter.Write(b)
}

// maxErrorBody is the number of bytes of an error's body that the log keeps.
const maxErrorBody = 4 << 10

// Unwrap is for [http.ResponseController].
func (c *call) Unwrap() http.ResponseWriter { return c.ResponseWriter }
