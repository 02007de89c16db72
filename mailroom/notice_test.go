package mailroom

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/tests/check"
)

// TestNoticeOf: an event that contains everything becomes a complete notice.
func TestNoticeOf(t *testing.T) {
	e := check.Need(events.Parse([]byte(`{"event":"Contact.Unsubscribed","timestamp":"2024-01-01T00:00:00Z",
		"data":{"contact_id":"1","list_id":"2","email_address":"Ada@Example.org"}}`)))(t)
	n, partial := noticeOf(e)
	assert.False(t, partial)
	n.Event = nil
	assert.Equal(t, Notice{Reason: Unsubscribed, Address: "ada@example.org", ListID: "2", ContactID: "1", Time: e.Time}, n)
}
