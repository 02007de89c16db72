package control_test

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/probe"
	"example.com/emailplatform/mockserver"
)

// actionsResponse is the response of POST /_mock/outbox/actions.
type actionsResponse struct {
	IDs    []string
	Failed int
	Error  string
	Events []struct {
		Event     string
		MessageID string `json:"message_id"`
	}
}

func act(p probe.Probe, query, body string) (out actionsResponse) {
	p.Helper()
	require.NoError(p, json.Unmarshal([]byte(p.Post("/_mock/outbox/actions"+query, body).OK().Body), &out))
	return out
}

// sixty is a server with a campaign to 60 contacts and an email to another address.
func sixty(t *testing.T, seed uint64) (p probe.Probe, campaign string) {
	t.Helper()
	p = probe.New(t, mockserver.Config{FaultSeed: seed, RecordEvents: true})
	list := p.List()
	var contacts []string
	for i := range 60 {
		contacts = append(contacts, fmt.Sprintf(`{"email":"reader%d@example.org"}`, i))
	}
	p.Post(list+"/contacts/import", `{"contacts":[`+strings.Join(contacts, ",")+`]}`).OK()
	campaign = p.Campaign(list, `"subject":"Sale","html":"<a href=\"https://shop.example/\">x</a>"`)
	p.Post(campaign+"/schedule", nil).OK()
	require.NoError(t, p.Wait(t.Context()))
	p.Email("other@example.org")
	return p, "?campaign_id=" + strings.TrimPrefix(campaign, "/campaigns/")
}

// An action can apply to a percentage of the recipients. The same seed chooses the same recipients, but each further
// call chooses others.
func TestActionOnPercent(t *testing.T) {
	chosen := func(seed uint64) (all [][]string) {
		p, campaign := sixty(t, seed)
		to := map[string]string{}
		for _, m := range p.Outbox() {
			to[m.ID] = m.To
		}
		for action, want := range map[string]int{`{"action":"bounce","category":"bounce_sb","percent":5}`: 3, `{"action":"complain","percent":0.5}`: 0} {
			got := act(p, campaign+"&status=delivered", action)
			assert.Len(t, got.IDs, want, action)
			assert.Len(t, got.Events, want, action)
			assert.Zero(t, got.Failed, action)
		}
		for range 2 {
			var names []string
			for _, id := range act(p, campaign, `{"action":"click","percent":50}`).IDs {
				names = append(names, to[id])
			}
			slices.Sort(names)
			all = append(all, names)
		}
		for _, m := range p.Outbox() {
			if m.To == "other@example.org" && (m.Status == "bounced" || m.Clicks > 0) || m.BounceCategory != "" && m.BounceCategory != mockserver.SoftBounce {
				t.Errorf("changed %+v", m)
			}
		}
		return all
	}
	first := chosen(7)
	assert.Equal(t, first, chosen(7))
	assert.NotEqual(t, first, chosen(8))
	assert.NotEqual(t, first[0], first[1])
	assert.Equal(t, 30, len(first[0]))
}

// An action applies to the given messages, or to all that match. It returns only the events that it caused, not
// earlier ones. A deletion can be undone.
func TestActionOnMessages(t *testing.T) {
	p, campaign := sixty(t, 1)
	other := p.OutboxTo("other@example.org")[0].ID
	require.NoError(t, p.Open(other))
	got := act(p, "?search=reader59", `{"action":"open"}`)
	assert.Equal(t, []string{p.OutboxTo("reader59@example.org")[0].ID}, got.IDs)
	require.Len(t, got.Events, 1)
	assert.Equal(t, "Email.Opened", got.Events[0].Event)
	assert.Equal(t, got.IDs[0], got.Events[0].MessageID)

	got = act(p, "", `{"action":"unsubscribe","ids":["`+other+`","nothing"]}`)
	assert.Equal(t, 2, got.Failed)
	assert.Equal(t, "message "+other+" was not sent to a list contact", got.Error)
	assert.Empty(t, got.IDs)
	assert.Equal(t, 1, act(p, "", `{"action":"click","ids":["`+other+`"]}`).Failed, "the message has no link")
	assert.Empty(t, act(p, "", `{"action":"delete","ids":[]}`).IDs)

	got = act(p, campaign+"&account_id=1", `{"action":"open","ids":["`+other+`"]}`)
	assert.Empty(t, got.IDs, "the message is not of the campaign")
	assert.Equal(t, "message "+other+" does not match the parameters", got.Error)
	got = act(p, "?account_id=2", `{"action":"delete","ids":["`+other+`"]}`)
	assert.Equal(t, 1, got.Failed, "the message is of another account")

	gone := act(p, campaign, `{"action":"delete"}`)
	assert.Equal(t, 60, len(gone.IDs))
	assert.Equal(t, 1, len(p.Outbox()))
	ids, err := json.Marshal(gone.IDs)
	require.NoError(t, err)
	assert.Equal(t, 60, act(p, "?account_id=2", `{"action":"restore","ids":`+string(ids)+`}`).Failed)
	assert.Equal(t, 60, len(act(p, campaign, `{"action":"restore","ids":`+string(ids)+`}`).IDs))
	assert.Equal(t, 61, len(p.Outbox()))
	assert.Equal(t, 61, len(act(p, "", `{"action":"global-unsubscribe"}`).IDs))
	for body, field := range map[string]string{
		`{"action":"bounc"}`: "did you mean bounce?", `{}`: "action", `{"action":"bounce","percent":0}`: "percent", `{"action":"bounce","percent":101}`: "percent",
		`{"action":"restore"}`: "ids", `{"action":"open","category":"bounce_sb"}`: "category", `{"action":"bounce","provider":"x"}`: "provider",
		`{"action":"complain","url":"https://x.example"}`: "url", `{"action":"click","diagnostic":"x"}`: "diagnostic",
	} {
		p.Post("/_mock/outbox/actions", body).Has(422, field)
	}
}

// Both exports contain the messages that match, as the routes of each message return them.
func TestExport(t *testing.T) {
	p, campaign := sixty(t, 1)
	var messages []mockserver.Message
	text := p.Get("/_mock/outbox.json" + campaign).OK().Body
	require.NoError(t, json.Unmarshal([]byte(text), &messages))
	assert.Equal(t, 60, strings.Count(text, "\n")-1, "one line for each message")
	want := map[string]string{}
	for _, m := range messages {
		assert.Contains(t, m.HTML, "https://shop.example/")
		want[m.ID+".eml"] = p.Get("/_mock/outbox/" + m.ID + "/eml").OK().Body
	}
	require.Len(t, want, 60)
	packed := p.Get("/_mock/outbox.zip" + campaign).OK().Body
	archive, err := zip.NewReader(strings.NewReader(packed), int64(len(packed)))
	require.NoError(t, err)
	require.Equal(t, len(want), len(archive.File))
	for _, f := range archive.File {
		r, err := f.Open()
		require.NoError(t, err)
		content, err := io.ReadAll(r)
		require.NoError(t, err)
		if want[f.Name] != string(content) {
			t.Errorf("%s differs from the message", f.Name)
		}
	}
	assert.Equal(t, "[]\n", p.Get("/_mock/outbox.json?to=nobody@example.org").OK().Body)
	assert.Equal(t, 422, p.Get("/_mock/outbox.zip?limit=1").Status)
}

// An id from a state file does not put a file of the archive into another folder.
func TestExportName(t *testing.T) {
	p, _ := sixty(t, 1)
	id := p.Outbox()[0].ID
	require.NoError(t, p.Restore(strings.NewReader(strings.ReplaceAll(p.State(), id, "../../x"))))
	archive := p.Get("/_mock/outbox.zip").OK().Body
	assert.Contains(t, archive, "..%2F..%2Fx.eml")
	assert.NotContains(t, archive, "../../x.eml")
}

// A logged request is sent again with a token of the same user and the same permissions, and logged again. The log does not
// contain the token.
func TestResend(t *testing.T) {
	p := probe.New(t, mockserver.Config{Tokens: []mockserver.Token{
		{Value: "one"}, {Value: "reader", AccountID: 2, ReadOnly: true}, {Value: "two-secret", AccountID: 2}, {Value: "second", AccountID: 2, UserID: 9},
	}})
	other := p.As("two-secret")
	last := func() string { r := p.Requests(); return r[len(r)-1].ID }
	require.Equal(t, 422, other.Post("/v2/emails?x=1", `{"email":"ada"}`).Status)
	response := p.Post("/_mock/requests/"+last()+"/resend", nil).OK()
	response.Is(200, `{"status":422,"account_id":2,"path":"/v2/emails","query":"x=1","body":"{\"email\":\"ada\"}","id":"`+last()+`","…":0}`)
	assert.NotContains(t, response.Body, "two-secret")
	require.Equal(t, 201, other.Post("/lists", `{"name":"Süd"}`).Status)
	p.MustInject(mockserver.Fault{Operation: "createList", Action: mockserver.FaultStatus, Times: 1})
	resend := "/_mock/requests/" + last() + "/resend"
	assert.Contains(t, p.Post(resend, nil).OK().Body, `"status":503`, "fault rules apply")
	p.MustInject(mockserver.Fault{Operation: "createList", Action: mockserver.FaultReset, AfterProcessing: true, Times: 1})
	assert.Equal(t, 204, p.Post(resend, nil).OK().Status, "the connection is lost")
	assert.Equal(t, "Süd", other.Get("/lists").Column("name")[1])
	p.MustInject(mockserver.Fault{Operation: "createList", Action: mockserver.FaultStatus, Times: 1})
	long := `{"name":"` + strings.Repeat("x", 70_000) + `"}`
	for _, c := range []struct {
		from   probe.Probe
		body   string
		status int
	}{{other, `{"name":"fault"}`, 503}, {p.As("reader"), `{"name":"reader"}`, 403}, {p.As("wrong"), `{"name":"wrong"}`, 401}, {other, `{"name":`, 400}} {
		require.Equal(t, c.status, c.from.Post("/lists", c.body).Status)
		again := p.Post("/_mock/requests/"+last()+"/resend", nil).OK()
		assert.Equal(t, c.body, again.Text("body"))
		if c.status != 503 { // the fault rule applies once
			assert.Equal(t, fmt.Sprint(c.status), again.Text("status"), c.body)
		}
	}
	require.Equal(t, 201, p.As("second").Post("/lists", `{"name":"x"}`).Status)
	again := p.Post("/_mock/requests/"+last()+"/resend", nil).OK()
	again.Is(200, `{"status":201,"account_id":2,"user_id":9,"…":0}`)
	assert.Nil(t, again.Field("read_only"))
	p.Post("/_mock/tokens/revoke", `{"token":"second"}`).OK()
	assert.Contains(t, p.Post("/_mock/requests/"+again.Text("id")+"/resend", nil).OK().Body, `"status":401`)
	for _, from := range []probe.Probe{p.As("reader"), p.As("wrong")} {
		from.Post("/lists", long)
		assert.Equal(t, 409, p.Post("/_mock/requests/"+last()+"/resend", nil).Status)
	}
	require.Equal(t, 401, p.As("wrong").Get("/lists").Status)
	assert.Contains(t, p.Post("/_mock/requests/"+last()+"/resend", nil).OK().Body, `"status":401`)
	require.Equal(t, 422, other.Post("/lists", `{"nam":"`+strings.Repeat("x", 70_000)+`"}`).Status)
	assert.Equal(t, 409, p.Post("/_mock/requests/"+last()+"/resend", nil).Status)
	assert.Equal(t, 404, p.Post("/_mock/requests/unknown/resend", nil).Status)
}

// Lists, streams and counts omit a rejected email. Streams and counts also omit reactions to a deleted message.
func TestRejectedEmailNotInOutbox(t *testing.T) {
	p := probe.New(t, mockserver.Config{})
	p.Post("/suppressed-emails", `{"email":"eve@example.org"}`).OK()
	stream := streamOf(p, p.HTTPClient())
	stream.next()
	rejected := p.Email("eve@example.org")
	if r := stream.until("request"); r["operation"] != "submitEmail" {
		t.Errorf("published %v", r)
	}
	p.Delete("/_mock/outbox/" + rejected).OK()
	sent := p.Email("ada@example.org")
	if r := stream.until("message"); r["id"] != sent {
		t.Errorf("published the message %v, want %s", r["id"], sent)
	}
	require.NoError(t, p.DeleteMessage(sent))
	require.NoError(t, p.Open(sent)) // the recipient still has the message
	another := p.Email("bob@example.org")
	if r := stream.until("message"); r["id"] != another {
		t.Errorf("published the message %v, want %s", r["id"], another)
	}
	p.Get("/_mock/overview").Is(200, `{"messages":{"sent":1,"…":0},"…":0}`)
}

// A search finds words of the text and of the visible HTML, with merge tags replaced, as the recipient sees them.
func TestOutboxSearch(t *testing.T) {
	p := probe.New(t, mockserver.Config{})
	p.Post("/v2/emails", `{"email":"ada@example.org","sender":{"email":"shop@example.com"},"custom_attributes":{"city":"Zürich"},`+
		`"content":{"subject":"Login","text":"Your code is 739-204.","html":"<style>hidden</style><p>Reise nach {{city}}, <b>Gru</b>ß</p>"}}`).OK()
	for search, want := range map[string]string{
		"739-204": `"total":1`, "ZU\u0308RICH": `"total":1`, "gruss": `"total":1`, "login your reise": `"total":1`, "hidden": `"total":0`, "city": `"total":0`,
	} {
		assert.Contains(t, p.Get("/_mock/outbox?search="+url.QueryEscape(search)).OK().Body, want, search)
	}
	assert.Contains(t, p.Post("/_mock/wait", `{"for":"message","search":"739-204"}`).OK().Body, `"total":1`)
}
