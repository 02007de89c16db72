package mockserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/webhook"
)

// probe is a server of a test, with a client that speaks plain HTTP: the
// mock and the SDK are tested against each other elsewhere.
type probe struct {
	*mockserver.Server
	t     testing.TB
	token string
}

// newProbe makes a server in process. Whatever breaks the API's document fails the test.
func newProbe(t testing.TB, cfg mockserver.Config) probe {
	t.Helper()
	if cfg.OnViolation == nil {
		cfg.OnViolation = func(err error) { t.Errorf("contract: %v", err) }
	}
	srv := mockserver.New(cfg)
	t.Cleanup(srv.Close)
	return probe{srv, t, srv.Token()}
}

// as returns the same platform for another token.
func (p probe) as(token string) probe {
	p.token = token
	return p
}

type answer struct {
	status int
	header http.Header
	text   string
	object map[string]any // the body, if it is a JSON object
}

// id returns a member that is an id.
func (a answer) id(name string) string {
	switch id := a.object[name].(type) {
	case string:
		return id
	case float64:
		return fmt.Sprint(int64(id))
	}
	return ""
}

// detail returns the type of the first mistake in an error, and where it is.
func (a answer) detail() (kind, loc string) {
	details, _ := a.object["detail"].([]any)
	if len(details) == 0 {
		return "", ""
	}
	first := details[0].(map[string]any)
	return first["type"].(string), fmt.Sprint(first["loc"])
}

// do sends a request with a body, which is JSON text or a value to encode.
func (p probe) do(method, path string, body any) answer {
	p.t.Helper()
	var reader io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		reader = bytes.NewReader([]byte(b))
	default:
		text, err := json.Marshal(body)
		if err != nil {
			p.t.Fatal(err)
		}
		reader = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(context.Background(), method, p.URL()+path, reader)
	if err != nil {
		p.t.Fatal(err)
	}
	if reader != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if p.token != "" {
		req.Header.Set("Authorization", "Bearer "+p.token)
	}
	return p.send(req)
}

func (p probe) send(req *http.Request) answer {
	p.t.Helper()
	res, err := (&http.Client{Transport: p.Transport()}).Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	if found := local(string(text)); found != "" {
		p.t.Errorf("%s %s: the response contains …%s, want UTC", req.Method, req.URL.Path, found)
	}
	a := answer{status: res.StatusCode, header: res.Header, text: string(text)}
	_ = json.Unmarshal(text, &a.object)
	return a
}

// must is do for what has to succeed.
func (p probe) must(method, path string, body any) answer {
	p.t.Helper()
	a := p.do(method, path, body)
	if a.status/100 != 2 {
		p.t.Fatalf("%s %s: %d %s, want a success", method, path, a.status, a.text)
	}
	return a
}

// list makes a list that may be sent to and returns its path.
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

func (p probe) status(list, contact string) string {
	p.t.Helper()
	s, _ := p.must("GET", list+"/contacts/"+contact, nil).object["status"].(string)
	return s
}

// email submits a message to an address by the Email API and returns its id.
func (p probe) email(to string) string {
	p.t.Helper()
	return p.must("POST", "/v2/emails", map[string]any{
		"email":   to,
		"sender":  map[string]any{"email": "shop@example.com", "name": "Shop"},
		"content": map[string]any{"subject": "Hello", "html": "<p>Hello</p>"},
	}).id("id")
}

// everything is all events of the document.
var everything = eventNames()

func eventNames() (names []events.Name) {
	for _, name := range api.EventNames() {
		names = append(names, events.Name(name))
	}
	return names
}

// webhook subscribes http://app.test/hook to events and returns its path.
func (p probe) webhook(names ...events.Name) string {
	p.t.Helper()
	a := p.must("POST", "/webhooks", map[string]any{"url": "http://app.test/hook", "events": names})
	return "/webhooks/" + a.id("webhook_id")
}

// fired waits until all is delivered and returns the names of the events.
func (p probe) fired() []events.Name {
	p.t.Helper()
	if err := p.Wait(p.t.Context()); err != nil {
		p.t.Fatal(err)
	}
	names := []events.Name{}
	for _, d := range p.Deliveries() {
		names = append(names, d.Event)
	}
	return names
}

// receiver answers every delivery with 204.
func receiver() map[string]http.Handler {
	return map[string]http.Handler{"app.test": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	})}
}

// in brings a contact of a list into a status.
func (p probe) in(status, list, address string) string {
	p.t.Helper()
	switch status {
	case "pending":
		return p.must("POST", list+"/contacts?send_double_opt_in=true", map[string]any{"email": address}).id("id")
	case "active":
		return p.contact(list, address)
	}
	id := p.contact(list, address)
	act := map[string]func(string) error{
		"spam":    func(email string) error { return p.Complain(email, "") },
		"bounced": func(email string) error { return p.Bounce(email, mockserver.HardBounce) },
	}[status]
	switch {
	case act != nil:
		if err := act(p.email(address)); err != nil {
			p.t.Fatal(err)
		}
	case status == "unsubscribed":
		p.must("POST", list+"/contacts/"+id+"/unsubscribe", nil)
	case status == "deleted":
		p.must("DELETE", list+"/contacts/"+id, nil)
	}
	if got := p.status(list, id); got != status {
		p.t.Fatalf("the contact is %s, not %s", got, status)
	}
	return id
}

func (p probe) campaign(list, content string) string {
	p.t.Helper()
	return "/campaigns/" + p.must("POST", "/campaigns", `{"name":"Sale","list_id":`+strings.TrimPrefix(list, "/lists/")+
		`,"sender":{"email":"shop@example.com"},"content":{`+content+`}}`).id("campaign_id")
}

func parsedSecret(t testing.TB, text string) webhook.Secret {
	t.Helper()
	secret, err := webhook.ParseSecret(text, "")
	if err != nil {
		t.Fatal(err)
	}
	return secret
}
