package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestResultOfSend(t *testing.T) {
	lost := func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
	for name, tc := range map[string]struct {
		response roundTrip
		want     SendResult
	}{
		"accepted":           {inOrder(respond(201, `{"id":"e","status":"queued"}`)), SendAccepted},
		"another status":     {inOrder(respond(201, `{"id":"e","status":"parked"}`)), SendAccepted},
		"rejected":           {inOrder(respond(201, `{"id":"e","status":"rejected"}`)), SendRejected},
		"internal error":     {inOrder(respond(201, `{"id":"e","status":"error"}`)), SendLater},
		"invalid request":    {inOrder(respond(422, "")), SendRejected},
		"malformed request":  {inOrder(respond(400, "")), SendRejected},
		"too large":          {inOrder(respond(413, "")), SendRejected},
		"payment":            {inOrder(respond(402, "")), SendLater},
		"wrong base URL":     {inOrder(respond(404, "<!DOCTYPE html>", "Content-Type", "text/html")), SendLater},
		"wrong method":       {inOrder(respond(405, "")), SendLater},
		"proxy":              {inOrder(respond(407, "")), SendLater},
		"policy":             {inOrder(respond(409, "")), SendLater},
		"wrong server":       {inOrder(respond(421, "")), SendLater},
		"locked":             {inOrder(respond(423, "")), SendLater},
		"too early":          {inOrder(respond(425, "")), SendLater},
		"old protocol":       {inOrder(respond(426, "")), SendLater},
		"invalid token":      {inOrder(respond(401, "")), SendLater},
		"permission":         {inOrder(respond(403, "")), SendLater},
		"too many requests":  {inOrder(respond(429, "")), SendLater},
		"timeout of a proxy": {inOrder(respond(408, "")), SendUnknown},
		"platform error":     {inOrder(respond(500, "")), SendUnknown},
		"unavailable":        {inOrder(respond(503, "")), SendUnknown},
		"redirect":           {inOrder(respond(302, "")), SendUnknown},
		"invalid response":   {inOrder(respond(201, `{"id":`)), SendUnknown},
		"odd status":         {inOrder(respond(201, `{"id":"e","status":["rejected"]}`)), SendUnknown},
		"missing id":         {inOrder(respond(201, `{}`)), SendUnknown},
		"lost response":      {lost, SendUnknown},
	} {
		c := newBubbleClient(t, tc.response, withoutRetries)
		_, err := c.Emails.Send(t.Context(), EmailSubmission{To: "a@b.example"})
		assert.Equal(t, tc.want, ResultOfSend(err), "%s: %v", name, err)
		if err != nil {
			assert.Equal(t, tc.want, ResultOfSend(fmt.Errorf("order 17: %w", err)), "%s, wrapped", name)
		}
	}
	c := newBubbleClient(t, inOrder(respond(201, `{"id":"e"}`)))
	_, err := c.Emails.Send(t.Context(), EmailSubmission{To: "\xff"})
	assert.Equal(t, SendRejected, ResultOfSend(err), "rejected by the client: %v", err)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Emails.Send(ended, EmailSubmission{To: "a@b.example"})
	assert.Equal(t, SendLater, ResultOfSend(err), "canceled before the request: %v", err)
	assert.Equal(t, SendLater, ResultOfSend(errors.New("the application's own error")))
}
