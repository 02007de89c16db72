package client

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestNotQueued checks which submissions fail because the status in a 2xx response means "not queued". Send does not
// retry these submissions, and returns the fields that it could read.
func TestNotQueued(t *testing.T) {
	rejected := SubmittedEmail{ID: "e", Status: EmailStatusRejected}
	withoutID := SubmittedEmail{Status: EmailStatusRejected} // a rejection does not require an id
	for body, want := range map[string]struct {
		email SubmittedEmail
		err   error
		text  string
	}{
		`{"id":"e","status":"queued"}`:    {SubmittedEmail{ID: "e", Status: "queued"}, nil, ""},
		`{"id":"e","status":"delivered"}`: {SubmittedEmail{ID: "e", Status: "delivered"}, nil, ""},
		`{"id":"e","status":"parked"}`:    {SubmittedEmail{ID: "e", Status: "parked"}, nil, ""},
		`{"id":"e"}`:                      {SubmittedEmail{ID: "e"}, nil, ""},
		`{"id":"e","email":"a@b.example","status":"rejected"}`: {
			SubmittedEmail{ID: "e", To: "a@b.example", Status: EmailStatusRejected},
			ErrNotQueued,
			`submitEmail: POST /v2/emails: 201 Created: email not queued because of the recipient: status "rejected" [request r-1]`,
		},
		`{"id":"e","status":"error"}`:                                        {SubmittedEmail{ID: "e", Status: EmailStatusError}, ErrNotQueued, `: status "error" [`},
		`{"id":"e","status":"rejected","reason":"pending"}`:                  {rejected, ErrNotQueued, `: status "rejected", reason "pending" [`},
		`{"id":"e","status":"rejected","reason":7}`:                          {rejected, ErrNotQueued, `: status "rejected" [`},
		`{"id":"e","status":"rejected","reason":"` + testToken + `"}`:        {rejected, ErrNotQueued, `: status "rejected", reason "`},
		`{"status":"rejected","detail":[{"msg":"on the suppression list"}]}`: {withoutID, ErrNotQueued, `on the suppression list`},
		`{"id":"e","status":"rejected"`:                                      {SubmittedEmail{}, ErrOutcomeUnknown, "invalid response"},
		`{"status":"queued"}`:                                                {SubmittedEmail{Status: "queued"}, ErrOutcomeUnknown, "invalid response"},
	} {
		var o observations
		c := newBubbleClient(t, inOrder(respond(201, body, "X-Request-Id", "r-1")), func(cfg *Config) { cfg.Observe = o.observe })
		email, err := c.Emails.Send(t.Context(), EmailSubmission{To: "a@b.example"})
		if email != want.email || !errors.Is(err, want.err) {
			t.Errorf("%s: got %+v, %v, want %+v, %v", body, email, err, want.email, want.err)
		}
		outcome := map[error]Outcome{nil: OutcomeSuccess, ErrNotQueued: OutcomeNotQueued, ErrOutcomeUnknown: OutcomeUnknown}[want.err]
		if len(o.end) != 1 || o.end[0].Outcome() != outcome || !errors.Is(o.end[0].Err, want.err) || o.end[0].StatusCode != 201 {
			t.Errorf("%s: observed %+v, want %v", body, o.end, want.err)
		}
		if err == nil {
			continue
		}
		for _, sentinel := range []error{ErrNotQueued, ErrOutcomeUnknown, ErrValidation} {
			assert.Equal(t, sentinel == want.err, errors.Is(err, sentinel), "%s: %v is %q", body, err, sentinel)
		}
		assert.Equal(t, email.Status == EmailStatusRejected, errors.Is(err, ErrRejected), "%s: ErrRejected", body)
		var e *Error
		if !errors.As(err, &e) || e.Attempts != 1 || e.Body != nil || !strings.Contains(err.Error(), want.text) {
			t.Errorf("%s: got %#v, want an *Error that contains %s", body, err, want.text)
		}
		hidesToken(t, err)
	}
}

// TestNotQueuedAfterRetry: Send retries requests that the platform did not process, until one is rejected.
func TestNotQueuedAfterRetry(t *testing.T) {
	c := newBubbleClient(t, inOrder(
		respond(429, ""), respond(503, "", "Retry-After", "0"), respond(201, `{"id":"e","status":"error"}`),
	), withoutPauses, withPromised503)
	email, err := c.Emails.Send(t.Context(), EmailSubmission{To: "a@b.example"})
	var e *Error
	if email.ID != "e" || !errors.Is(err, ErrNotQueued) || errors.Is(err, ErrOutcomeUnknown) || !errors.As(err, &e) || e.Attempts != 3 {
		t.Errorf("got %+v, %v", email, err)
	}
}
