package client

import (
	"errors"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRenderRequiresHTML(t *testing.T) {
	for contentType, good := range map[string]bool{"text/html": true, "text/html; charset=utf-8": true, "": true, "application/json": false, "application/problem+json": false} {
		c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
			assert.Equal(t, "text/html", r.Header.Get("Accept"), "Accept")
			return respond(200, `{"detail":[{"msg":"rejected"}]}`, "Content-Type", contentType), nil
		}, withoutRetries)
		html, err := c.Templates.Render(t.Context(), 1)
		if (err == nil) != good || errors.Is(err, ErrInvalidResponse) == good || (html != "") != good {
			t.Errorf("%s: %q, %v", contentType, html, err)
		}
	}
}
