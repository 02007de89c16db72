package client

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// closing is the body of a response. It records its use.
type closing struct {
	io.Reader
	read, closed bool
}

func (c *closing) Read(b []byte) (int, error) {
	c.read = true
	return c.Reader.Read(b)
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

// TestResponseBodyIsClosed: an open body keeps its connection. The body of a 101 never ends, so it is not read.
func TestResponseBodyIsClosed(t *testing.T) {
	for name, row := range map[string]struct {
		status int
		body   string
		read   bool
	}{
		"read whole":          {200, `{"template_id":1}`, true},
		"an error":            {400, `{}`, true},
		"too large":           {200, strings.Repeat(" ", 100), true},
		"switching protocols": {101, "", false},
	} {
		body := &closing{Reader: strings.NewReader(row.body)}
		transport := roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: row.status, Proto: "HTTP/1.1", ProtoMajor: 1, ContentLength: -1, Body: body, Request: r}, nil
		})
		c, err := New(Config{
			BaseURL: "https://platform.example", Token: testToken, MaxResponseBytes: 50,
			HTTPClient: &http.Client{Transport: transport}, Retry: RetryConfig{MaxAttempts: 1},
		})
		fatal(t, err)
		_, err = c.Templates.Get(t.Context(), 1)
		if !body.closed || body.read != row.read {
			t.Errorf("%s (%v): closed is %v, want true; read is %v, want %v", name, err, body.closed, body.read, row.read)
		}
	}
}
