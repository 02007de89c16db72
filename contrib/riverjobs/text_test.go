package riverjobs_test

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/riverjobs"
	"example.com/emailplatform/events"
)

// TestInvalidText: a job with text that its arguments cannot contain is not inserted.
func TestInvalidText(t *testing.T) {
	s := newShop(t)
	send := func(change func(*client.EmailSubmission)) riverjobs.SendArgs {
		email := order("A-1")
		change(&email)
		return riverjobs.SendArgs{Key: "A-1", Submission: email}
	}
	for want, args := range map[string]river.JobArgs{
		`Submission.To must be valid UTF-8 without NUL, got "jos\xe9@example.org"`: send(func(e *client.EmailSubmission) { e.To = "jos\xe9@example.org" }),
		"Submission.To must be at most 1,000 bytes long, got 1001":                 send(func(e *client.EmailSubmission) { e.To = strings.Repeat("a", 1001) }),
		"Submission.Content.Subject must be valid UTF-8":                           send(func(e *client.EmailSubmission) { e.Content.Subject = "caf\xe9" }),
		"Submission.Content.Text must be valid UTF-8":                              send(func(e *client.EmailSubmission) { e.Content.Text = "\xed\xa0\x80" }), // a surrogate
		"Submission.Content.HTML must be valid UTF-8 without NUL":                  send(func(e *client.EmailSubmission) { e.Content.HTML = "\x00" }),
		"Submission.CustomAttributes[1].Value must be valid UTF-8": send(func(e *client.EmailSubmission) {
			e.CustomAttributes = client.Attributes{{Name: "a", Value: "b"}, {Name: "c", Value: "\xff"}}
		}),
		"SendArgs.Key must be valid UTF-8 without NUL":       riverjobs.SendArgs{Key: "A\x00", Submission: order("A-1")},
		"LookupArgs.EmailID must be valid UTF-8 without NUL": riverjobs.LookupArgs{EmailID: "e\xff"},
	} {
		_, err := s.inserter().Insert(t.Context(), args, nil)
		assert.ErrorContains(t, err, want)
	}
	assert.Zero(t, s.count("river_job"), "jobs")
}

// TestUnstorableID: an email is recorded as sent, or as not queued, even if PostgreSQL cannot store or index its id.
func TestUnstorableID(t *testing.T) {
	var id, status string
	s := newShop(t)
	front := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id":"`+id+`","email":"a@example.org","status":"`+status+`"}`)
	})
	s.front.Store(&front)
	s.work(riverjobs.Options{})
	long := make([]byte, 0, 12_000) // not compressible, so its index entry is too large
	for i := range 2_000 {
		long = strconv.AppendInt(long, int64(i)*7919%1_000_003, 36)
	}
	for i, tt := range []struct {
		id, status string
		end        rivertype.JobState
		want       riverjobs.State
	}{
		{`e\u0000`, "queued", rivertype.JobStateCompleted, riverjobs.StateSent},
		{string(long), "queued", rivertype.JobStateCompleted, riverjobs.StateSent},
		{`e\u0000`, "rejected", rivertype.JobStateCancelled, riverjobs.StateNotQueued},
	} {
		id, status = tt.id, tt.status
		key := "A-" + strconv.Itoa(i)
		row, out := s.ended(s.insert(key))
		assert.Equal(t, tt.end, row.State, "%+v", out)
		assert.Equal(t, tt.want, out.State)
		assert.Empty(t, out.EmailID)
		assert.Contains(t, out.Reason, "the email id cannot be stored: ")
	}
	assert.Equal(t, 2, s.count("emailplatform_sends WHERE state = 'sent'"))
}

// TestReconcileUnstorableText: an event whose text PostgreSQL cannot store does not fail the transaction of the event.
func TestReconcileUnstorableText(t *testing.T) {
	s := newShop(t)
	j, _ := s.work(riverjobs.Options{})
	s.lose(order("A-1"))
	for _, tt := range []struct{ id, address string }{
		{`e\u0000`, order("A-1").To}, {"e-1", `ada\u0000@example.org`}, {`e\u0000`, `ada\u0000@example.org`},
	} {
		e, err := events.Parse([]byte(`{"id":"1","event":"Email.Opened","created_on":1700000000,"data":{"email_id":"` + tt.id + `","email_address":"` + tt.address + `"}}`))
		require.NoError(t, err)
		require.Equal(t, strings.ReplaceAll(tt.id, `\u0000`, "\x00"), e.EmailID())
		require.NoError(t, pgx.BeginFunc(t.Context(), s.pool, func(tx pgx.Tx) error { return j.Reconcile(t.Context(), tx, e) }))
	}
	assert.Zero(t, s.count("river_job WHERE kind = 'emailplatform_reconcile'"), "lookups")
}
