package client

import (
	"errors"
	"net/http"
	"strings"
	"testing"
)

// TestNotQueued checks which submissions fail although the status is 2xx, and
// that Send returns what it could read and sends one request.
func TestNotQueued(t *testing.T) {
	for body, want := range map[string]struct {
		email SubmittedEmail
		err   error
		text  string
	}{
		`{"id":"e","status":"queued"}`:    {email: SubmittedEmail{ID: "e", Status: "queued"}},
		`{"id":"e","status":"delivered"}`: {email: SubmittedEmail{ID: "e", Status: "delivered"}},
		`{"id":"e","status":"parked"}`:    {email: SubmittedEmail{ID: "e", Status: "parked"}},
		`{"id":"e"}`:                      {email: SubmittedEmail{ID: "e"}},
		`{"id":"e","email":"a@b.example","status":"rejected"}`: {
			SubmittedEmail{ID: "e", To: "a@b.example", Status: EmailStatusRejected},
			ErrNotQueued,
			`submitEmail: POST /v2/emails: 201 Created: the platform did not queue the email: status "rejected" [request r-1]`,
		},
		`{"id":"e","status":"error"}`: {SubmittedEmail{ID: "e", Status: EmailStatusError}, ErrNotQueued, `: status "error" [`},
		`{"id":"e","status":"rejected","reason":"pending"}`: {
			SubmittedEmail{ID: "e", Status: EmailStatusRejected}, ErrNotQueued, `: status "rejected", reason "pending" [`,
		},
		`{"id":"e","status":"rejected","reason":7}`: {
			SubmittedEmail{ID: "e", Status: EmailStatusRejected}, ErrNotQueued, `: status "rejected" [`,
		},
		`{"id":"e","status":"rejected","reason":"` + testToken + `"}`: {
			SubmittedEmail{ID: "e", Status: EmailStatusRejected}, ErrNotQueued, `: status "rejected", reason "`,
		},
		`{"status":"rejected","detail":[{"msg":"on the suppression list"}]}`: { // the status is enough
			SubmittedEmail{Status: EmailStatusRejected}, ErrNotQueued, `on the suppression list`,
		},
		`{"id":"e","status":"rejected"`: {SubmittedEmail{}, ErrOutcomeUnknown, "invalid response"},
		`{"status":"queued"}`:           {SubmittedEmail{Status: "queued"}, ErrOutcomeUnknown, "invalid response"},
	} {
		var o observations
		requests := 0
		c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
			requests++
			return respond(201, body, "X-Request-Id", "r-1"), nil
		}, func(cfg *Config) { cfg.Observe = o.observe })
		email, err := c.Emails.Send(t.Context(), EmailSubmission{To: "a@b.example"})
		if email != want.email || !errors.Is(err, want.err) || requests != 1 {
			t.Errorf("%s: got %+v, %v after %d requests, want %+v, %v", body, email, err, requests, want.email, want.err)
		}
		outcome := map[error]Outcome{nil: OutcomeSuccess, ErrNotQueued: OutcomeNotQueued, ErrOutcomeUnknown: OutcomeUnknown}[want.err]
		if len(o.end) != 1 || o.end[0].Outcome() != outcome || !errors.Is(o.end[0].Err, want.err) || o.end[0].StatusCode != 201 {
			t.Errorf("%s: observed %+v, want %v", body, o.end, want.err)
		}
		if err == nil {
			continue
		}
		for _, sentinel := range []error{ErrNotQueued, ErrOutcomeUnknown, ErrValidation} {
			if errors.Is(err, sentinel) != (sentinel == want.err) {
				t.Errorf("%s: %v is %q, want only %q", body, err, sentinel, want.err)
			}
		}
		var e *Error
		if !errors.As(err, &e) || e.Op != "submitEmail" || e.StatusCode != 201 || e.Attempts != 1 || e.Body != nil ||
			!strings.Contains(err.Error(), want.text) {
			t.Errorf("%s: got %#v, want an *Error that contains %s", body, err, want.text)
		}
		hidesToken(t, err)
	}
}

// TestNotQueuedAfterRetry checks that a rejection ends the retries of requests
// that the platform did not process.
func TestNotQueuedAfterRetry(t *testing.T) {
	responses := []*http.Response{respond(429, ""), respond(503, "", "Retry-After", "0"), respond(201, `{"id":"e","status":"error"}`)}
	c := newBubbleClient(t, func(*http.Request) (*http.Response, error) {
		next := responses[0]
		responses = responses[1:]
		return next, nil
	}, func(cfg *Config) { cfg.Retry.BaseDelay = -1 })
	email, err := c.Emails.Send(t.Context(), EmailSubmission{To: "a@b.example"})
	var e *Error
	if email.ID != "e" || !errors.Is(err, ErrNotQueued) || errors.Is(err, ErrOutcomeUnknown) || !errors.As(err, &e) || e.Attempts != 3 {
		t.Errorf("got %+v, %v", email, err)
	}
}
