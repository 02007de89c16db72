package gateway

import (
	"net/http"

	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/record"
)

// call is one request and its answer. It is the ResponseWriter of all that comes
// after it.
type call struct {
	http.ResponseWriter
	record.Request
	gateway *Gateway // whose call it is
	caller  record.Token
	asked   platform.Caller // the same for the platform
	answer  *[]byte         // collects the answer's body, if somebody validates it

	strict      bool // refuses what the contract does not know
	undisturbed bool // by faults and the limit of lookups: nobody's own request
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
	if room := maxAnswer - len(c.Answer); c.Status >= 400 && room > 0 {
		c.Answer = append(c.Answer, b[:min(room, len(b))]...)
	}
	if c.answer != nil {
		*c.answer = append(*c.answer, b...)
	}
	return c.ResponseWriter.Write(b)
}

// maxAnswer is how many bytes of an error the log of requests holds.
const maxAnswer = 4 << 10

// Unwrap serves [http.ResponseController].
func (c *call) Unwrap() http.ResponseWriter { return c.ResponseWriter }
