package platform

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/model"
)

// within runs a function in a transaction of account 1.
func within(t *testing.T, p *Platform, act func(t *tx) error) {
	t.Helper()
	require.NoError(t, p.transactAndRevise(nil, func(t *tx) error {
		t.account = p.accountLocked(1)
		return act(t)
	}))
}

// The sort order and the filter of a query must name a known field.
func TestContactQuery(t *testing.T) {
	for text, good := range map[string]bool{
		"/": true, "id:asc/": true, "email:desc/": true, "status:asc/": true, "subscribed_on:desc/": true,
		"id/": false, "id:/": false, "id:up/": false, "name:asc/": false, ":asc/": false,
		"/status:active": true, "/email:a@x": true, "/tag:": true, "/interest:a:b": true,
		"/status": false, "/tag": false, "/name:x": false, "/:x": false,
	} {
		sort, filter, _ := strings.Cut(text, "/")
		q, err := contactQuery(sort, filter)
		assert.Equal(t, good, err == nil, "%s: %+v, %v", text, q, err)
	}
	q, err := contactQuery("email:desc", "interest:a:b")
	require.NoError(t, err)
	assert.Equal(t, query{field: "interest", value: "a:b", sort: "email", descending: true}, q)
}

// TestManyValues: many attributes, tags or ids in a request take linear time, because other requests wait for it. With
// quadratic time, this test would take minutes.
func TestManyValues(t *testing.T) {
	const n = 200_000
	p := restored(t, stateText("9", oneList, contactsText(2)))
	ctx := WithCaller(t.Context(), &Caller{AccountID: 1})
	attributes, tags, ids := make([]api.CustomAttributeUpdate, n), make([]string, n), make([]int64, n)
	for i := range n {
		tags[i], ids[i] = strconv.Itoa(i), 2
		attributes[i] = api.CustomAttributeUpdate{Name: tags[i], Value: &tags[i]}
	}
	attributes = append(attributes, api.CustomAttributeUpdate{Name: "7"}, attributes[3], api.CustomAttributeUpdate{Name: "unknown"})
	_, err := p.UpdateContact(ctx, api.UpdateContactRequestObject{ListID: 1, ContactID: 2, Body: &api.ContactUpdate{CustomAttributes: attributes}})
	require.NoError(t, err)
	_, err = p.TagContacts(ctx, api.TagContactsRequestObject{ListID: 1, Body: &api.ContactTagging{ContactIds: ids, Tags: append(tags, tags...)}})
	require.NoError(t, err)
	c := p.accounts[1].Lists.get(1).contacts.find(2)
	assert.Len(t, c.CustomAttributes, n-1)
	assert.Equal(t, tags, c.Tags)
}

func TestPaging(t *testing.T) {
	for in, want := range map[[2]int64]pageRequest{
		{0, 0}: {page: 1, perPage: api.DefaultPerPage}, {1, 1}: {page: 1, perPage: 1}, {7, api.MaxPerPage}: {page: 7, perPage: api.MaxPerPage},
		{-1, 1}: {}, {1, -1}: {}, {1, api.MaxPerPage + 1}: {},
	} {
		got, err := paging(in[0], in[1], false)
		assert.Equal(t, want, got, "page %d of %d", in[0], in[1])
		assert.Equal(t, want == pageRequest{}, err != nil, "page %d of %d", in[0], in[1])
	}
}

// A template replaces inline content and vice versa. Content with both is rejected, even if the template does not exist.
func TestTemplateOrInline(t *testing.T) {
	shop := &tx{account: newAccount(1)}
	shop.account.Templates.add(3, &api.Template{TemplateID: 3})
	for _, in := range []api.MessageContent{{TemplateID: 3, HTML: "h"}, {TemplateID: 3, Text: "t"}} {
		assert.EqualError(t, shop.checkContent(in, false), "content.template_id: must contain either a template or inline parts")
	}
	text := api.Nullable{Set: true, Value: "t"}
	for _, in := range []api.MessageContentUpdate{{TemplateID: new(int64(3)), HTML: new("h")}, {TemplateID: new(int64(3)), Text: text}} {
		assert.EqualError(t, shop.changeContent(&api.MessageContent{}, in), "content.template_id: must contain either a template or inline parts")
	}
	before := api.MessageContent{Subject: "s", TemplateID: 3}
	for _, row := range []struct {
		in   api.MessageContentUpdate
		want api.MessageContent
	}{
		{api.MessageContentUpdate{Subject: new("n")}, api.MessageContent{Subject: "n", TemplateID: 3}},
		{api.MessageContentUpdate{HTML: new("h")}, api.MessageContent{Subject: "s", HTML: "h"}},
		{api.MessageContentUpdate{Text: text}, api.MessageContent{Subject: "s", Text: "t"}},
	} {
		got := before
		err := new(tx).changeContent(&got, row.in)
		require.NoError(t, err, "%+v", row.in)
		assert.Equal(t, row.want, got, "%+v", row.in)
	}
	assert.NoError(t, checkSender(api.Sender{}, false), "an omitted optional sender")
	assert.Error(t, checkSender(api.Sender{}, true), "an omitted required sender is accepted")
}

// If an import reactivates a contact, it becomes the last contact added. Pending and active contacts keep their
// places.
func TestImportUpdatesLastAdded(t *testing.T) {
	p := restored(t, oneCampaign(time.Now().Add(time.Hour)))
	within(t, p, func(t *tx) error {
		l := t.account.Lists.get(1)
		for status, again := range map[string]bool{statusUnsubscribed: true, statusDeleted: true, statusPending: false, statusActive: false} {
			c := t.newContact(l, status+"@example.org", statusActive)
			l.contacts.setStatus(c, status)
			added := c.Added
			if isNew := t.importContact(l, api.ImportContact{Email: c.Email}, statusActive, true); isNew || c.Status != statusActive {
				return fmt.Errorf("%s: new %v, then %s", status, isNew, c.Status)
			}
			if (c.Added != added) != again {
				return fmt.Errorf("%s: added at %d, then at %d; want that it changes: %v", status, added, c.Added, again)
			}
		}
		if !t.importContact(l, api.ImportContact{Email: "new@example.org"}, statusActive, false) {
			return errors.New("the contact is not new")
		}
		if c := l.contacts.at("new@example.org"); c.Status != statusActive || c.Added != c.ID {
			return fmt.Errorf("the new contact is %+v", c)
		}
		return nil
	})
}

// Emails to a list have a List-Unsubscribe header, except confirmations and transactional emails.
func TestListUnsubscribe(t *testing.T) {
	for _, row := range []struct {
		m                  message
		confirms, mayLeave bool
	}{
		{message{SentBy: events.SendingTypeCampaign, ContactID: 2}, false, true},
		{message{SentBy: events.SendingTypeEmailAPI, ContactID: 2}, false, true},
		{message{SentBy: events.SendingTypeEmailAPI}, false, false},
		{message{SentBy: events.SendingTypeTransactional, ContactID: 2}, false, false},
		{message{SentBy: events.SendingTypeWorkflow, ContactID: 2, WorkflowID: 5}, false, true},
		{message{SentBy: events.SendingTypeWorkflow, ContactID: 2}, true, false},
	} {
		row.m.From = api.Sender{Name: `The "Shop"`, Email: "shop@example.org"}
		out, mayLeave := row.m.rendered("https://platform.example"), false
		assert.Equal(t, `"The \"Shop\"" <shop@example.org>`, out.Headers[1].Value, "from")
		for _, h := range out.Headers {
			mayLeave = mayLeave || h.Name == "List-Unsubscribe"
		}
		assert.Equal(t, row.confirms, out.Confirmation, "%s to contact %d, workflow %d", row.m.SentBy, row.m.ContactID, row.m.WorkflowID)
		assert.Equal(t, row.mayLeave, mayLeave, "%s to contact %d, workflow %d", row.m.SentBy, row.m.ContactID, row.m.WorkflowID)
		if link := row.m.mergeTagLookup("https://platform.example")(tagConfirm); (link != "") != row.confirms {
			t.Errorf("%s to contact %d, workflow %d: the link to confirm is %q", row.m.SentBy, row.m.ContactID, row.m.WorkflowID, link)
		}
	}
}

// No event is created without an active webhook that subscribes to it.
func TestEventsWithoutSubscriber(t *testing.T) {
	hooks := func(of string) string {
		state := strings.Replace(oneCampaign(time.Now().Add(time.Hour)), `"sent_by":"email_api"`,
			`"sent_by":"campaign","campaign_id":3,"list_id":1,"contact_id":2`, 1)
		return strings.Replace(state, `"campaigns":`,
			`"webhooks":[{"id":7,"account_id":1,"url":"http://127.0.0.1:1/","secret":"s","hash_function":"sha256",`+of+`}],"campaigns":`, 1)
	}
	for of, want := range map[string]int{
		`"events":["Email.ReportedAsSpam"]`:                 1,
		`"events":["Email.ReportedAsSpam"],"archived":true`: 0,
		`"events":["Email.Bounced"]`:                        0,
	} {
		p := restored(t, hooks(of))
		p.Close() // nothing is delivered
		require.NoError(t, p.Complain("m", ""))
		got := p.Deliveries.Events(func(*model.FiredEvent) bool { return true })
		if len(got) != want {
			t.Errorf("%s: %d events, want %d", of, len(got), want)
		}
		if want == 1 && !strings.Contains(string(got[0].Body), "Mailbox.example") {
			t.Errorf("the event does not name the mailbox provider: %s", got[0].Body)
		}
	}
}

// A custom attribute replaces a merge link of the same name, even if the attribute is empty.
func TestAttributesReplaceLinks(t *testing.T) {
	m := message{ID: "m", ContactID: 1, SentBy: events.SendingTypeEmailAPI, Attributes: []api.CustomAttribute{{Name: tagUnsubscribe}}}
	assert.Empty(t, m.mergeTagLookup("http://x")(tagUnsubscribe))
	m.Values = map[string]string{tagGlobalUnsubscribe: ""}
	assert.Empty(t, m.mergeTagLookup("http://x")(tagGlobalUnsubscribe))
}
