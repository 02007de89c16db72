package platform

import (
	"fmt"
	"os"
	"strings"
	"testing"

	yaml "github.com/oasdiff/yaml3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/api"
)

// documented returns the values of a schema in openapi.yaml.
func documented(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile("../../../openapi.yaml")
	require.NoError(t, err)
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Enum []any `yaml:"enum"`
			} `yaml:"schemas"`
		} `yaml:"components"`
	}
	require.NoError(t, yaml.Unmarshal(text, &doc))
	var values []string
	for _, value := range doc.Components.Schemas[name].Enum {
		values = append(values, fmt.Sprint(value))
	}
	return values
}

// TestContactStatuses compares the table of statuses with the documents, and its columns with the behavior of the platform.
func TestContactStatuses(t *testing.T) {
	reasons := []string{"suppressed"}
	for _, s := range contactStatuses {
		if s.rejects != rejectNone {
			reasons = append(reasons, s.name)
		}
		t.Run(s.name, func(t *testing.T) {
			p := restored(t, stateText("9", oneList, strings.Replace(contactsText(2), `"status":"active"`, `"status":"`+s.name+`"`, 1)))
			ctx := WithCaller(t.Context(), &Caller{AccountID: 1})
			assert.Equal(t, 1, p.Overview(1, 0, 0).Contacts[s.name], "counted")
			page, err := p.ListContacts(ctx, api.ListContactsRequestObject{ListID: 1, Params: api.ListContactsParams{Filter: "status:" + s.name}})
			require.NoError(t, err)
			contacts := page.(api.ListContacts200JSONResponse).Data
			require.Len(t, contacts, 1)
			for _, kind := range []api.EmailType{api.EmailTypeMarketing, api.EmailTypeTransactional} {
				in := submission(contacts[0].Email)
				in.Body.Content.Type = kind
				sent, err := p.SubmitEmail(ctx, in)
				require.NoError(t, err)
				rejected := s.rejects == rejectAll || s.rejects == rejectMarketing && kind == api.EmailTypeMarketing
				assert.Equal(t, rejected, sent.(api.SubmitEmail201JSONResponse).Status == messageRejected, "%s is rejected", kind)
			}
		})
	}
	assert.ElementsMatch(t, documented(t, "RejectReason"), reasons, "RejectReason in openapi.yaml")
	var known []string
	for _, status := range events.ContactStatuses() {
		known = append(known, string(status))
	}
	assert.ElementsMatch(t, known, append(ContactStatuses(), "suppressed"), "ContactStatus in openapi.yaml, and contactStatuses in contactstatus.go") // no contact of the mock server is suppressed
	text, err := os.ReadFile("../../../docs/decisions.md")
	require.NoError(t, err)
	decisions := strings.Join(strings.Fields(string(text)), " ")
	for _, sentence := range []string{
		"Known statuses are " + listed(known, " and "),
		"An import activates " + listed(activated(reactivateIfResubscribed), " and ") + " contacts only if",
		"An import never activates contacts with the status " + listed(activated(reactivateNever), " or ") + ",",
	} {
		if !strings.Contains(decisions, sentence) {
			t.Errorf("docs/decisions.md does not contain %q", sentence)
		}
	}
}

func activated(when activation) (names []string) {
	for _, s := range contactStatuses {
		if s.reactivates == when {
			names = append(names, s.name)
		}
	}
	return names
}

func listed(words []string, last string) string {
	return strings.Join(words[:len(words)-1], ", ") + last + words[len(words)-1]
}

// The contacts of all lists are counted.
func TestContactCounts(t *testing.T) {
	list, counts := newContactTable(), ContactCounts{}
	list.add(&contact{Contact: api.Contact{ID: 1, Email: "ada@example.org", Status: statusSpam}})
	counts.add(list)
	counts.add(list)
	assert.Equal(t, 2, counts[statusSpam])
}
