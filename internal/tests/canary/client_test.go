package canary

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
)

// calls returns operations of each kind: reading, setting a state, creating, sending,
// paging, importing, looking up, and the operations that return a secret.
func calls(c *client.Client) map[string]func(context.Context) error {
	contacts := client.ContactsFromSlice([]client.ImportContact{{Email: "ann@example.com"}})
	return map[string]func(context.Context) error{
		"read":        func(ctx context.Context) error { _, err := c.Templates.Get(ctx, 1); return err },
		"set a state": func(ctx context.Context) error { return c.Lists.AcceptPolicy(ctx, 1) },
		"delete":      func(ctx context.Context) error { return c.Templates.Delete(ctx, 1) },
		"create": func(ctx context.Context) error {
			_, err := c.Lists.Create(ctx, client.ListCreate{Name: "L"})
			return err
		},
		"send": func(ctx context.Context) error {
			_, err := c.Emails.Send(ctx, client.EmailSubmission{To: "ann@example.com"})
			return err
		},
		"look up": func(ctx context.Context) error { _, err := c.Emails.Get(ctx, "e1"); return err },
		"render":  func(ctx context.Context) error { _, err := c.Templates.Render(ctx, 1); return err },
		"page": func(ctx context.Context) error {
			for _, err := range c.Contacts.All(ctx, 1, client.ListContactsParams{}) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"import": func(ctx context.Context) error {
			_, err := c.Contacts.Import(ctx, 1, contacts, client.ImportOptions{})
			return err
		},
		"create a webhook": func(ctx context.Context) error {
			_, err := c.Webhooks.Create(ctx,
				client.WebhookCreate{URL: "http://127.0.0.1/hook", Events: []events.Name{"Email.Bounced"}})
			return err
		},
		"get a webhook": func(ctx context.Context) error { _, err := c.Webhooks.Get(ctx, "1"); return err },
	}
}

// leaking returns handlers whose responses contain a secret that they should not contain.
func leaking() map[string]http.HandlerFunc {
	say := func(status int, contentType, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", contentType)
			w.Header().Set("X-Request-Id", r.Header.Get("Authorization"))
			w.Header().Set("Location", "/?token="+r.Header.Get("Authorization"))
			w.Header().Set("Retry-After", r.Header.Get("Authorization"))
			w.WriteHeader(status)
			fmt.Fprintf(w, strings.ReplaceAll(text, "TOKEN", "%[1]s"), r.Header.Get("Authorization"))
		}
	}
	page := template.Must(template.New("").Parse(`<p>No such token: {{.}}</p>`))
	escape := strings.NewReplacer("/", `\/`, "<", `\u003C`, "+", `\u002b`)
	return map[string]http.HandlerFunc{
		"JSON that escapes": func(w http.ResponseWriter, r *http.Request) {
			token := r.Header.Get("Authorization")
			w.Header().Set("X-Request-Id", url.QueryEscape(token))
			w.WriteHeader(http.StatusUnprocessableEntity)
			_, _ = fmt.Fprintf(w, `{"detail":[{"loc":["header","%[1]s"],"msg":"bad %[1]s","type":"%[1]s"}],"seen":"%[1]s"}`,
				escape.Replace(token))
		},
		"HTML that escapes": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(http.StatusUnauthorized)
			_ = page.Execute(w, r.Header.Get("Authorization"))
		},
		"JSON that echoes": say(422, "application/json",
			`{"detail":[{"loc":["header","TOKEN"],"msg":"bad TOKEN","type":"TOKEN"}]}`),
		"HTML that echoes": say(500, "text/html", `<pre>GET / HTTP/1.1\nAuthorization: TOKEN</pre>`),
		"a refusal":        say(401, "text/plain", `no such token: TOKEN`),
		"no right":         say(403, "application/json", `"TOKEN"`),
		"too many":         say(429, "text/plain", `TOKEN has made too many requests`),
		"a redirect":       say(307, "text/html", `<a href="/?TOKEN">`),
		"not JSON at all":  say(200, "text/html", `hello TOKEN`),
		"a wrong type": say(
			200,
			"application/json",
			`{"template_id":"TOKEN","list_id":"TOKEN","id":{"TOKEN":1},"data":"TOKEN","imported":"TOKEN",`+
				`"webhook_id":["TOKEN"]}`,
		),
		"a secret, broken": say(201, "application/json", `{"webhook_id":"1","secret":"`+canaryKey+`","url":`),
		"a secret, ill-typed": say(
			200,
			"application/json",
			`{"webhook_id":"1","secret":"`+canaryKey+`","url":{"a":1},"template_id":[],"list_id":[],"id":[],"data":1,`+
				`"imported":[]}`,
		),
		"a lost connection": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"cut short": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "9999")
			_, _ = fmt.Fprint(w, r.Header.Get("Authorization"), canaryKey)
			panic(http.ErrAbortHandler)
		},
	}
}

func newClient(w *watch, cfg client.Config) *client.Client {
	w.Helper()
	cfg.Logger = w.logger("the client")
	cfg.Retry.MaxAttempts = 1
	cfg.LookupLimiter = client.NoLookupLimit{}
	c, err := client.New(cfg)
	must(w, err)
	return c
}

func TestClientErrors(t *testing.T) {
	for name, answer := range leaking() {
		t.Run(name, func(t *testing.T) {
			w := newWatch(t)
			srv := httptest.NewServer(answer)
			defer srv.Close()
			c := newClient(w, client.Config{BaseURL: srv.URL, Token: canaryToken})
			failed := 0
			for op, call := range calls(c) {
				if err := call(t.Context()); err != nil {
					failed++
					w.showError(op, err)
					showClientError(w, op, err)
				}
			}
			if failed == 0 {
				t.Error("nothing failed, so that no error was looked at")
			}
		})
	}
}

// showClientError shows what the fields of the error hold.
func showClientError(w *watch, op string, err error) {
	var e *client.Error
	if !errors.As(err, &e) {
		w.Fatalf("%s: %T is not a *client.Error", op, err)
	}
	w.listen(op+": its body", string(e.Body))
	w.show(op+": its fields", e.Op, e.Path, e.RequestID, e.Details, *e)
}

func TestClientConfigErrors(t *testing.T) {
	w := newWatch(t)
	for name, cfg := range map[string]client.Config{
		"a password in the URL": {BaseURL: "http://user:" + canaryPassword + "@example.com", Token: canaryToken},
		"a URL that is none":    {BaseURL: "https://user:" + canaryPassword + "@exa mple.com:port", Token: canaryToken},
		"a token in the query":  {BaseURL: "https://example.com/?token=" + canaryToken, Token: canaryToken},
		"a token of two lines":  {BaseURL: "https://example.com", Token: canaryToken + "\nX-Evil: 1"},
		"a token and a source of it": {
			BaseURL: "https://example.com", Token: canaryToken,
			TokenSource: func(context.Context) (client.Token, error) { return client.Token{Value: canaryToken}, nil },
		},
	} {
		_, err := client.New(cfg)
		w.showError(name, err)
		w.show(name+": the configuration", cfg, &cfg)
	}
	source := newClient(
		w,
		client.Config{BaseURL: "https://example.com", TokenSource: func(context.Context) (client.Token, error) {
			return client.Token{Value: canaryToken + "\n"}, nil
		}},
	)
	_, err := source.Templates.Get(t.Context(), 1)
	w.showError("a source of bad tokens", err)

	srv := httptest.NewServer(leaking()["a refusal"])
	defer srv.Close()
	asked := 0
	renewing := newClient(w, client.Config{BaseURL: srv.URL, TokenSource: func(context.Context) (client.Token, error) {
		if asked++; asked > 1 {
			return client.Token{}, errors.New("cannot renew " + canaryToken)
		}
		return client.Token{Value: canaryToken}, nil
	}})
	_, err = renewing.Templates.Get(t.Context(), 1)
	w.showError("a source that cannot renew", err)

	offline := newClient(w,
		client.Config{BaseURL: "http://127.0.0.1:1", Token: canaryToken, HTTPClient: &http.Client{Transport: talkative{}}})
	for op, call := range calls(offline) {
		w.showError("a transport that tells all, "+op, call(t.Context()))
	}
}

// talkative is a transport whose errors show the request.
type talkative struct{}

func (talkative) RoundTrip(r *http.Request) (*http.Response, error) {
	return nil, fmt.Errorf("cannot send %v %v: %w", r.URL, r.Header, http.ErrServerClosed)
}

func TestClientValues(t *testing.T) {
	w := newWatch(t)
	srv := mockserver.Start(
		mockserver.Config{Tokens: []mockserver.Token{{Value: canaryToken}}, Logger: w.logger("the platform")})
	defer srv.Close()
	cfg := client.Config{BaseURL: srv.URL(), Token: canaryToken}
	c := newClient(w, cfg)
	created, err := c.Webhooks.Create(t.Context(),
		client.WebhookCreate{URL: "http://127.0.0.1/hook", Events: []events.Name{"Email.Bounced"}})
	if err != nil || created.Secret.Reveal() == "" {
		t.Fatal(created, err)
	}
	w.plant("webhook's secret", created.Secret.Reveal())
	var seen []any
	ctx := client.WithResponseHook(t.Context(), func(r client.Response) { seen = append(seen, r) })
	got, err := c.Webhooks.Get(ctx, created.ID)
	if err != nil || got.Secret != created.Secret {
		t.Fatal(err)
	}
	page, err := c.Webhooks.List(ctx, client.ListWebhooksParams{})
	if err != nil || len(page.Data) != 1 || len(seen) != 2 {
		t.Fatal(page, seen, err)
	}
	w.show("a value", cfg, &cfg, c, *c, created, &created, got, page, created.Secret)
	w.show("a response", seen...)
	w.show("a service", c.Webhooks, c.Emails, c.Contacts)
}
