//go:build oapiclient

package oapiclient

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	_ "github.com/oapi-codegen/runtime" // the generated client imports it
	openapi_types "github.com/oapi-codegen/runtime/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver"
)

const (
	ada  = openapi_types.Email("ada@example.org")
	shop = openapi_types.Email("shop@example.com")
)

// delivery is a request to the webhook's URL.
type delivery struct {
	signature string
	body      []byte
}

// start starts a mock server, a client and a receiver at http://hook.test.
func start(t *testing.T) (*ClientWithResponses, *mockserver.Server, <-chan delivery) {
	received := make(chan delivery, 10)
	hook := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		received <- delivery{r.Header.Get("X-Service-Signature"), body}
	})
	srv := mockserver.New(mockserver.Config{
		Targets:     map[string]http.Handler{"hook.test": hook},
		OnViolation: func(err error) { t.Errorf("violation of openapi.yaml: %v", err) },
	})
	t.Cleanup(srv.Close)
	return newClient(t, srv, srv.Token()), srv, received
}

func newClient(t *testing.T, srv *mockserver.Server, token string) *ClientWithResponses {
	c, err := NewClientWithResponses(srv.URL(), WithHTTPClient(srv.HTTPClient()),
		WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
			r.Header.Set("Authorization", "Bearer "+token)
			return nil
		}))
	require.NoError(t, err)
	return c
}

// must returns a response that is not nil.
func must[R any](t *testing.T, response *R, body []byte) *R {
	t.Helper()
	require.NotNil(t, response, "%s", body)
	return response
}

// newList creates a list with an accepted policy.
func newList(t *testing.T, c *ClientWithResponses) ListID {
	list, err := c.CreateListWithResponse(t.Context(), ListCreate{Name: "News"})
	require.NoError(t, err)
	id := must(t, list.JSON201, list.Body).ListId
	accepted, err := c.AcceptListPolicyWithResponse(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, http.StatusNoContent, accepted.StatusCode())
	return id
}

// TestCampaign sends a campaign with a template to contacts that were added and imported.
func TestCampaign(t *testing.T) {
	c, srv, _ := start(t)
	list := newList(t, c)

	added, err := c.CreateContactWithResponse(t.Context(), list, &CreateContactParams{}, ContactCreate{Email: ada, Tags: &[]string{"vip"}})
	require.NoError(t, err)
	got, err := c.GetContactWithResponse(t.Context(), list, must(t, added.JSON201, added.Body).Id)
	require.NoError(t, err)
	assert.Equal(t, added.JSON201, got.JSON200)

	imported, err := c.ImportContactsWithResponse(t.Context(), list, ContactImport{Contacts: []ImportContact{
		{Email: "grace@example.org", CustomAttributes: &[]CustomAttribute{{Name: "name", Value: "Grace"}}}, {Email: string(ada)}, {Email: "nobody"},
	}})
	require.NoError(t, err)
	report := must(t, imported.JSON200, imported.Body)
	assert.Equal(t, []int64{1, 1, 1}, []int64{report.Imported, report.Updated, int64(len(report.Errors))})
	assert.Equal(t, int64(2), report.Errors[0].Index)

	page, err := c.ListContactsWithResponse(t.Context(), list, &ListContactsParams{PerPage: new(int64(1)), Page: new(int64(2)), WithCount: new(true)})
	require.NoError(t, err)
	contacts := must(t, page.JSON200, page.Body)
	assert.Len(t, contacts.Data, 1)
	assert.Equal(t, Pagination{Count: new(int64(2)), Page: 2, PerPage: 1}, contacts.Pagination)

	template, err := c.CreateTemplateWithResponse(t.Context(), TemplateCreate{Name: "News", Content: &TemplateContent{Text: new("Hi {{name}}")}})
	require.NoError(t, err)
	id := must(t, template.JSON201, template.Body).TemplateId
	campaign, err := c.CreateCampaignWithResponse(t.Context(), CampaignCreate{
		Name: "May", ListId: &list, Sender: &Sender{Email: shop}, Content: &MessageContent{Subject: new("News"), TemplateId: &id},
	})
	require.NoError(t, err)
	scheduled, err := c.ScheduleCampaignWithResponse(t.Context(), must(t, campaign.JSON201, campaign.Body).CampaignId, CampaignSchedule{})
	require.NoError(t, err)
	must(t, scheduled.JSON200, scheduled.Body)
	require.NoError(t, srv.Wait(t.Context()))

	sent := srv.OutboxTo("grace@example.org")
	require.Len(t, sent, 1)
	assert.Equal(t, "Hi Grace", strings.TrimSpace(sent[0].Text))
	assert.Equal(t, 2, len(srv.Outbox()))
	done, err := c.GetCampaignWithResponse(t.Context(), campaign.JSON201.CampaignId)
	require.NoError(t, err)
	assert.Equal(t, "delivered", must(t, done.JSON200, done.Body).Status)
}

// TestEmail sends an email, receives the event of its bounce, and looks up the email.
func TestEmail(t *testing.T) {
	c, srv, received := start(t)
	hook, err := c.CreateWebhookWithResponse(t.Context(), WebhookCreate{Url: "http://hook.test/", Events: []string{string(EventNameEmailBounced)}})
	require.NoError(t, err)
	secret := must(t, hook.JSON201, hook.Body).Secret

	submitted, err := c.SubmitEmailWithResponse(t.Context(), EmailSubmission{
		Email: ada, Sender: Sender{Email: shop}, Content: EmailContent{Subject: "Order", Text: new("Shipped")},
	})
	require.NoError(t, err)
	id := must(t, submitted.JSON201, submitted.Body).Id
	require.NoError(t, srv.Bounce(id, mockserver.HardBounce))
	require.NoError(t, srv.Wait(t.Context()))

	d := <-received
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(d.body)
	assert.Equal(t, base64.StdEncoding.EncodeToString(mac.Sum(nil)), d.signature)
	var event Event
	require.NoError(t, json.Unmarshal(d.body, &event))
	value, err := event.ValueByDiscriminator()
	require.NoError(t, err)
	require.IsType(t, EmailBouncedEvent{}, value)
	bounce, err := value.(EmailBouncedEvent).Data.AsEmailAPIBounce()
	require.NoError(t, err)
	assert.Equal(t, id, bounce.Email.Id)

	email, err := c.GetEmailWithResponse(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, "bounced", *must(t, email.JSON200, email.Body).Status)
	assert.Equal(t, "hard", *email.JSON200.Bounce.Type)
	email, err = c.GetEmailWithResponse(t.Context(), id)
	require.NoError(t, err)
	must(t, email.JSON429, email.Body)
	assert.Equal(t, "1", *email.Headers429.RetryAfter)
}

// TestErrors: each error response has its type and its location.
func TestErrors(t *testing.T) {
	c, srv, _ := start(t)
	check := func(problem *Problem, body []byte, kind, location string) {
		t.Helper()
		detail := must(t, problem, body).Detail
		require.Len(t, detail, 1, "%s", body)
		assert.Equal(t, kind, detail[0].Type, "%s", body)
		loc, err := json.Marshal(detail[0].Loc)
		require.NoError(t, err)
		assert.Equal(t, location, string(loc))
		assert.NotEmpty(t, detail[0].Msg, "%s", body)
	}
	campaign, err := c.GetCampaignWithResponse(t.Context(), 7)
	require.NoError(t, err)
	check(campaign.JSON404, campaign.Body, "not_found", `["path","campaign_id"]`)
	email, err := c.GetEmailWithResponse(t.Context(), "unknown")
	require.NoError(t, err)
	check(email.JSON404, email.Body, "not_found", `["path","email_id"]`)
	created, err := c.CreateListWithResponse(t.Context(), ListCreate{})
	require.NoError(t, err)
	check(created.JSON422, created.Body, "value_error", `["body","name"]`)
	contacts, err := c.ListContactsWithResponse(t.Context(), newList(t, c), &ListContactsParams{Page: new(int64(0))})
	require.NoError(t, err)
	check(contacts.JSON422, contacts.Body, "value_error", `["query","page"]`)
	lists, err := newClient(t, srv, "unknown").ListListsWithResponse(t.Context(), &ListListsParams{})
	require.NoError(t, err)
	check(lists.JSON401, lists.Body, "unauthorized", `["header","authorization"]`)
}
