package mockserver_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/tests/rawhttp"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

// probe is a server with a plain HTTP client, because other tests cover the SDK with the mock
// server.
type probe struct {
	*mockserver.Server
	t     testing.TB
	token string
}

// newProbe returns a server in process. A response that violates openapi.yaml fails the test.
func newProbe(t testing.TB, cfg mockserver.Config) probe {
	t.Helper()
	if cfg.OnViolation == nil {
		cfg.OnViolation = func(err error) { t.Errorf("contract: %v", err) }
	}
	srv := mockserver.New(cfg)
	t.Cleanup(srv.Close)
	return probe{srv, t, srv.Token()}
}

// as returns the same server with another token.
func (p probe) as(token string) probe {
	p.token = token
	return p
}

type response struct {
	status int
	header http.Header
	text   string
	object map[string]any // the body, if it is a JSON object
}

// id returns an id field as text.
func (r response) id(name string) string {
	switch id := r.object[name].(type) {
	case string:
		return id
	case float64:
		return fmt.Sprint(int64(id))
	}
	return ""
}

// do sends a request. The body is JSON text, "" for no body, or a value to encode.
func (p probe) do(method, path string, body any) response {
	p.t.Helper()
	text, isText := body.(string)
	if !isText && body != nil {
		encoded, err := json.Marshal(body)
		require.NoError(p.t, err)
		text = string(encoded)
	}
	return p.send(rawhttp.NewRequest(p.t, method, p.URL()+path, p.token, text))
}

func (p probe) send(req *http.Request) response {
	p.t.Helper()
	res, text := rawhttp.Send(p.t, p.HTTPClient(), req)
	if found := local(text); found != "" {
		p.t.Errorf("%s %s: the response contains …%s, want UTC", req.Method, req.URL.Path, found)
	}
	r := response{status: res.StatusCode, header: res.Header, text: text}
	_ = json.Unmarshal([]byte(text), &r.object)
	return r
}

// must sends a request that must succeed.
func (p probe) must(method, path string, body any) response {
	p.t.Helper()
	r := p.do(method, path, body)
	require.Equal(p.t, 2, r.status/100, "%s %s: %d %s", method, path, r.status, r.text)
	return r
}

// list creates a list, accepts its policy, and returns its path.
func (p probe) list() string {
	p.t.Helper()
	path := "/lists/" + p.must("POST", "/lists", `{"name":"Customers"}`).id("list_id")
	p.must("POST", path+"/accept-policy", nil)
	return path
}

// contact adds a contact to a list and returns its id.
func (p probe) contact(list, email string) string {
	p.t.Helper()
	return p.must("POST", list+"/contacts", map[string]any{"email": email}).id("id")
}

// email submits a message by the Email API and returns its id. The subject is also the content.
func (p probe) email(to string, subject ...string) string {
	p.t.Helper()
	text := strings.Join(append(subject, "Hello")[:1], "")
	return p.must("POST", "/v2/emails", map[string]any{
		"email":   to,
		"sender":  map[string]any{"email": "shop@example.com", "name": "Shop"},
		"content": map[string]any{"subject": text, "html": "<p>" + text + "</p>"},
	}).id("id")
}

// webhook subscribes http://app.test/hook to events, and returns its path.
func (p probe) webhook(names ...events.Name) string {
	p.t.Helper()
	r := p.must("POST", "/webhooks", map[string]any{"url": "http://app.test/hook", "events": names})
	return "/webhooks/" + r.id("webhook_id")
}

func (p probe) inject(faults ...mockserver.Fault) {
	p.t.Helper()
	_, err := p.Inject(faults...)
	require.NoError(p.t, err)
}

// causeDelivery causes one delivery to a new webhook.
func (p probe) causeDelivery() {
	p.t.Helper()
	p.webhook(events.NameSuppressedEmailAdded)
	p.must("POST", "/suppressed-emails", `{"email":"a@example.org"}`)
}

// fired waits for all deliveries and returns their events.
func (p probe) fired() []events.Name {
	p.t.Helper()
	require.NoError(p.t, p.Wait(p.t.Context()))
	names := []events.Name{}
	for _, d := range p.Deliveries() {
		names = append(names, d.Event)
	}
	return names
}

// receiver responds to every delivery with 204.
func receiver() map[string]http.Handler {
	return map[string]http.Handler{"app.test": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})}
}

func (p probe) campaign(list, content string) string {
	p.t.Helper()
	return "/campaigns/" + p.must("POST", "/campaigns", `{"name":"Sale","list_id":`+strings.TrimPrefix(list, "/lists/")+
		`,"sender":{"email":"shop@example.com"},"content":{`+content+`}}`).id("campaign_id")
}

func parsedSecret(t testing.TB, text string) webhook.Secret {
	t.Helper()
	secret, err := webhook.ParseSecret(text, "")
	require.NoError(t, err)
	return secret
}

// overview is the response of GET /_mock/overview.
type overview struct {
	Now      time.Time
	Messages map[string]int64
	Failed   int64
	Minutes  []struct {
		Minute                             time.Time
		Messages, Events, Attempts, Failed int64
	}
	Waiting []struct {
		Why   string
		N     int
		Until time.Time
	}
}

func (p probe) overview(query string) (out overview) {
	p.t.Helper()
	require.NoError(p.t, json.Unmarshal([]byte(p.must("GET", "/_mock/overview"+query, nil).text), &out))
	return out
}
