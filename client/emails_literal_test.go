package client_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

// TestLiteral: content arrives unchanged, even if it contains merge tags or parts of them. The submission is not changed.
func TestLiteral(t *testing.T) {
	srv := mockserver.New(mockserver.Config{})
	defer srv.Close()
	c, err := client.New(client.Config{BaseURL: srv.URL(), Token: srv.Token(), HTTPClient: srv.HTTPClient()})
	require.NoError(t, err)
	for _, text := range []string{
		"plain", `{{Blue}} shirt {{{x}}} {{ "a" | b }} }} { {{`, "{{{{a}}}}", "{{unsubscribe_url}}", "{{literal_braces}}", "{ {{",
	} {
		submission := client.EmailSubmission{
			To: "a@example.org", Sender: client.Sender{Email: "s@example.com"},
			Content:          client.EmailContent{Subject: text, Text: text, HTML: "<p>" + text + "</p>"},
			CustomAttributes: client.Attributes{{Name: "x", Value: "y"}},
		}
		_, err := c.Emails.Send(t.Context(), submission.Literal())
		require.NoError(t, err)
		messages := srv.Outbox()
		m := messages[len(messages)-1]
		assert.Equal(t, []string{text, text, "<p>" + text + "</p>"}, []string{m.Subject, m.Text, m.HTML})
		assert.Equal(t, text, submission.Content.Subject)
		assert.Len(t, submission.CustomAttributes, 1)
	}
}
