package client

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
		assert.Equal(t, want.email, email, body)
		assert.ErrorIs(t, err, want.err, body)
		outcome := map[error]Outcome{nil: OutcomeSuccess, ErrNotQueued: OutcomeNotQueued, ErrOutcomeUnknown: OutcomeUnknown}[want.err]
		require.Len(t, o.end, 1, body)
		assert.Equal(t, outcome, o.end[0].Outcome(), body)
		assert.ErrorIs(t, o.end[0].Err, want.err, body)
		assert.Equal(t, 201, o.end[0].StatusCode, body)
		if err == nil {
			continue
		}
		for _, sentinel := range []error{ErrNotQueued, ErrOutcomeUnknown, ErrValidation} {
			assert.Equal(t, sentinel == want.err, errors.Is(err, sentinel), "%s: %v is %q", body, err, sentinel)
		}
		assert.Equal(t, email.Status == EmailStatusRejected, errors.Is(err, ErrRejected), "%s: ErrRejected", body)
		var e *Error
		require.ErrorAs(t, err, &e, body)
		assert.Equal(t, 1, e.Attempts, body)
		assert.Nil(t, e.Body, body)
		assert.ErrorContains(t, err, want.text, body)
		hidesToken(t, err)
	}
}

// TestNotQueuedAfterRetry: Send retries a request that the platform did not process, and stops at a response that
// means "not queued".
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

// TestOddEmailStatus: if the status is not text, the email may be rejected, so the outcome is unknown.
func TestOddEmailStatus(t *testing.T) {
	for body, unknown := range map[string]bool{
		`{"id":"e","status":["rejected"]}`: true, `{"id":"e","status":{"code":"rejected"}}`: true, `{"id":"e","status":3}`: true,
		`{"id":"e","email":5,"status":false}`: true, `{"id":"e","email":5,"status":null}`: false, `{"id":"e","email":5,"status":"queued"}`: false,
	} {
		c := newBubbleClient(t, inOrder(respond(201, body)))
		e, err := c.Emails.Send(t.Context(), EmailSubmission{})
		assert.Equal(t, "e", e.ID, body)
		assert.Equal(t, unknown, errors.Is(err, ErrInvalidResponse) && errors.Is(err, ErrOutcomeUnknown), "%s: %v", body, err)
		assert.Equal(t, unknown, err != nil, "%s: %v", body, err)
	}
}

func TestEmailSettled(t *testing.T) {
	for status, want := range map[EmailStatus]bool{
		"": false, "queued": false, "submitted": false, "processing": false, "delivered": true, "bounce": true, "rejected": true,
	} {
		assert.Equal(t, want, (Email{Status: status}).Settled(), "email %q", status)
	}
}

func TestBounceKinds(t *testing.T) {
	for bounce, want := range map[EmailBounce]struct{ hard, soft bool }{
		{Type: "hard", Category: "bounce_df"}: {hard: true},
		{Category: "bounce_hb"}:               {hard: true},
		{Type: "soft", Category: "bounce_hb"}: {}, // only the type says that it is not permanent
		{Type: "soft", Category: "bounce_sb"}: {soft: true},
		{Type: "soft", Category: "bounce_ar"}: {}, // an automatic reply
		{Type: "soft"}:                        {soft: true},
		{Category: "bounce_sb"}:               {soft: true},
		{Category: "bounce_df"}:               {soft: true},
		{Type: "unheard-of"}:                  {},
		{Type: "none", Category: "bounce_hb"}: {hard: true},
		{Type: "none", Category: "bounce_sb"}: {soft: true},
		{Type: "x", Category: "bounce_hb"}:    {hard: true},
		{}:                                    {},
	} {
		assert.Equal(t, want.hard, bounce.Hard(), "hard: %+v", bounce)
		assert.Equal(t, want.soft, bounce.Soft(), "soft: %+v", bounce)
	}
}

func TestEmailsGetAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := &lookupServer{}
		c := newBubbleClient(t, srv.RoundTrip)
		for email, err := range c.Emails.GetAll(t.Context(), slices.Values([]string{"a", "b"})) {
			require.NoError(t, err, "%+v", email)
			assert.Equal(t, "a", email.ID, "%+v", email)
			break
		}
		var got []string
		for email, err := range c.Emails.GetAll(t.Context(), slices.Values([]string{"a", "gone", "b", ""})) {
			if err != nil {
				got = append(got, "!"+email.ID)
				continue
			}
			got = append(got, email.ID)
		}
		assert.Equal(t, []string{"a", "!gone", "b", "!"}, got)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		n := 0
		for _, err := range c.Emails.GetAll(ctx, slices.Values([]string{"a", "b", "c", "d"})) {
			assert.NoError(t, err)
			if n++; n == 2 {
				cancel()
			}
		}
		assert.Equal(t, 2, n, "the context ends the loop")
	})
}

func TestEmailsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		email := func(status EmailStatus) *http.Response {
			return respond(200, `{"id":"e","status":"`+string(status)+`"}`)
		}
		c := newBubbleClient(t, inOrder(email("queued"), email("queued"), email("bounced"), email("delivered"), email("delivered")))
		start := time.Now()
		got, err := c.Emails.Wait(t.Context(), "e", Email.Settled)
		require.NoError(t, err)
		assert.Equal(t, EmailStatusBounced, got.Status)
		assert.Equal(t, 2*lookupGap, time.Since(start).Round(time.Millisecond))
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second+500*time.Millisecond)
		defer cancel()
		got, err = c.Emails.Wait(ctx, "e", func(Email) bool { return false })
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, EmailStatusDelivered, got.Status)
	})
}
