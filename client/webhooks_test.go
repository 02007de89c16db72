package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/internal/tests/check"
	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/webhook"
)

func subscription(events ...events.Name) WebhookCreate {
	return WebhookCreate{URL: "http://hooks.test/ensured", Events: events}
}

func TestEnsureWebhook(t *testing.T) {
	withPlatform(t, func(t *testing.T, p *platform) {
		c, ctx := p.clean, t.Context()
		ensure := func(w WebhookCreate) Webhook {
			t.Helper()
			hook, err := c.Webhooks.Ensure(ctx, w)
			require.NoError(t, err)
			require.NotEmpty(t, hook.Secret.Reveal())
			require.Equal(t, "sha256", hook.HashFunction)
			return hook
		}
		count := func() int { return size(p, c.Webhooks.All(ctx, ListWebhooksParams{})) }

		first := ensure(subscription(events.NameEmailBounced, events.NameEmailClicked))
		turned := subscription(events.NameEmailClicked, events.NameEmailBounced)
		turned.URL = "HTTP://Hooks.test/ensured"
		again := ensure(turned)
		assert.Equal(t, first.ID, again.ID, "the same events and URL in another spelling")
		assert.Equal(t, 1, count(), "the same events and URL in another spelling")
		if other := ensure(subscription(events.NameCampaignSent)); other.ID == first.ID || count() != 2 {
			t.Error("a webhook without a common event prevents a new one")
		}
		require.NoError(t, c.Webhooks.Archive(ctx, first.ID))
		if next := ensure(turned); next.ID == first.ID || count() != 3 {
			t.Error("got an archived webhook")
		}
		limited := WebhookCreate{URL: "http://hooks.test/", Events: turned.Events, RateLimit: 5}
		made := ensure(limited)
		if limited.URL = "http://hooks.test"; ensure(limited).ID != made.ID {
			t.Error("a rate limit without a period, and a URL without a path: got two webhooks")
		}
		limited.RateLimitPeriod = RateLimitPeriodMinute
		if other := ensure(limited); other.ID == made.ID || other.RateLimitPeriod != limited.RateLimitPeriod {
			t.Errorf("a rate limit with another period: got %+v", other)
		}
		unlimited := WebhookCreate{URL: "http://hooks.test/unlimited", Events: turned.Events, RateLimitPeriod: RateLimitPeriodMinute}
		made = ensure(unlimited)
		assert.Equal(t, made.ID, ensure(unlimited).ID, "a period without a rate limit: got two webhooks")
	})
}

// TestEnsureOtherEvents: events that the specification lacks are sent and compared as they are.
func TestEnsureOtherEvents(t *testing.T) {
	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	c, err := New(Config{BaseURL: srv.URL(), Token: srv.Token()})
	require.NoError(t, err)
	in := subscription("List.Archived", events.NameCampaignSent, "list.archived")
	hook, err := c.Webhooks.Ensure(t.Context(), in)
	if err != nil || !slices.Equal(hook.Events, in.Events) {
		t.Errorf("got %v, %v", hook.Events, err)
	}
	again, err := c.Webhooks.Ensure(t.Context(), in)
	require.NoError(t, err)
	assert.Equal(t, hook.ID, again.ID)
	other, err := c.Webhooks.Ensure(t.Context(), subscription("List.Archived", events.NameCampaignSent))
	if err != nil || other.ID == hook.ID {
		t.Errorf("got the webhook with other events, %v", err)
	}
}

// TestEnsureOddWebhook: if Ensure, Active or Rotate cannot read a value of a webhook, the method returns
// ErrInvalidResponse and creates nothing.
func TestEnsureOddWebhook(t *testing.T) {
	const hook = `{"webhook_id":"1","url":"http://hooks.test/ensured","events":["Email.Bounced"],"status":"active","secret":"s","rate_limit":5,"rate_limit_period":"hour"}`
	for good, odd := range map[string]string{
		`"active"`: `{"name":"archived"}`, `["Email.Bounced"]`: `[{"name":"Email.Bounced"}]`, `:["Email.Bounced"]`: `:"Email.Bounced"`,
		`"http://hooks.test/ensured"`: `["http://hooks.test/ensured"]`, `5`: `{"limit":5}`, `"hour"`: `3600`,
	} {
		body := strings.Replace(hook, good, odd, 1)
		for name, call := range map[string]func(c *Client) error{
			"ensure": func(c *Client) error {
				return last(c.Webhooks.Ensure(t.Context(), subscription(events.NameEmailBounced)))
			},
			"active": func(c *Client) error { return last(c.Webhooks.Active(t.Context(), subscription().URL)) },
			"rotate": func(c *Client) error {
				_, _, err := c.Webhooks.Rotate(t.Context(), "1")
				return err
			},
		} {
			var posts int
			c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
				switch {
				case r.Method == http.MethodPost:
					posts++
				case !strings.HasSuffix(r.URL.Path, "/1"):
					return respond(200, `{"data":[`+body+`]}`), nil
				}
				return respond(200, body), nil
			}, withoutRetries)
			assert.ErrorIs(t, call(c), ErrInvalidResponse, "%s of %s", name, body)
			assert.Zero(t, posts, "%s of %s", name, body)
		}
	}
}

// TestEnsureSearchFails: Ensure returns the error of a failed search. If the first search fails, Ensure creates
// nothing.
func TestEnsureSearchFails(t *testing.T) {
	withPlatform(t, func(t *testing.T, p *platform) {
		ctx, c := t.Context(), p.clean
		for operation, ensure := range map[string]func() error{
			"listWebhooks":  func() error { return last(c.Webhooks.Ensure(ctx, subscription(events.NameEmailBounced))) },
			"listLists":     func() error { return last(c.Lists.Ensure(ctx, ListCreate{Name: "Berlin"})) },
			"listTemplates": func() error { return last(c.Templates.Ensure(ctx, TemplateCreate{Name: "Ticket"})) },
		} {
			for nth, requests := range map[int]int{1: 1, 2: 3} { // the search, then a creation and another search
				check.Need(p.Inject(mockserver.Fault{Operation: operation, Nth: nth, Action: mockserver.FaultStatus, Status: 403}))(t)
				before := len(p.Requests())
				err := ensure()
				assert.ErrorIs(t, err, ErrForbidden, "%s fails at search %d", operation, nth)
				assert.Len(t, p.Requests(), before+requests, "%s fails at search %d", operation, nth)
				p.Clear()
			}
		}
	})
}

// TestEnsureWithoutSecret: a webhook without its secret is an invalid response, because its deliveries cannot be verified.
func TestEnsureWithoutSecret(t *testing.T) {
	const hook = `{"webhook_id":"7","url":"http://hooks.test/","events":["Email.Bounced"],"status":"active"}`
	c := newBubbleClient(t, inOrder(respond(200, `{"data":[`+hook+`],"pagination":{"page":1,"per_page":50,"count":1}}`), respond(200, hook)))
	_, err := c.Webhooks.Ensure(t.Context(), WebhookCreate{URL: "http://hooks.test/", Events: []events.Name{events.NameEmailBounced}})
	var e *Error
	require.ErrorAs(t, err, &e)
	assert.ErrorIs(t, err, ErrInvalidResponse)
	assert.Equal(t, 200, e.StatusCode)
	assert.ErrorContains(t, err, "missing secret")
}

// TestEnsureStoredDifferently: if the platform stores another URL or rate limit, Replace returns an error, and does not
// treat the new webhook as old. An equivalent URL is not an error.
func TestEnsureStoredDifferently(t *testing.T) {
	for stored, want := range map[string]error{
		`"url":"https://a.example/","events":["Email.Bounced"],"rate_limit":5,"rate_limit_period":"second"`: ErrInvalidResponse,
		`"url":"https://a.example/?","events":["Email.Bounced"]`:                                            ErrInvalidResponse,
		`"url":"HTTPS://A.example","events":["Email.Bounced"]`:                                              nil,
	} {
		testEnsureStored(t, `{"webhook_id":"1","secret":"s",`+stored+`}`, want)
	}
}

func testEnsureStored(t *testing.T, hook string, want error) {
	t.Helper()
	created := false
	c := newBubbleClient(t, func(r *http.Request) (*http.Response, error) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/1"):
			return respond(200, hook), nil
		case r.Method == http.MethodPost:
			created = true
			return respond(201, hook), nil
		case created && r.URL.Query().Get("page") < "2":
			return respond(200, `{"data":[`+hook+`],"pagination":{"page":1,"per_page":100,"count":1}}`), nil
		}
		return respond(200, `{"data":[],"pagination":{"page":1,"per_page":100,"count":0}}`), nil
	})
	got, old, err := c.Webhooks.Replace(t.Context(), WebhookCreate{URL: "https://a.example:443/", Events: []events.Name{"Email.Bounced"}})
	assert.Equal(t, "1", got.ID, hook)
	assert.Nil(t, old, hook)
	assert.ErrorIs(t, err, want, hook)
}

// TestWebhookRotation: a successor has the same configuration as the old webhook, but another secret. A repeated
// Rotate returns the same successor, and Active returns both webhooks.
func TestWebhookRotation(t *testing.T) {
	withPlatform(t, func(t *testing.T, p *platform) {
		c, ctx := p.clean, t.Context()
		created, err := c.Webhooks.Create(ctx, WebhookCreate{
			URL: "http://hooks.test/rotated", Events: []events.Name{events.NameEmailBounced, events.NameEmailOpened},
			RateLimit: 5, RateLimitPeriod: RateLimitPeriodMinute,
		})
		require.NoError(t, err)
		check.Need(c.Webhooks.Create(ctx, subscription(events.NameEmailBounced)))(t) // at another URL
		active := func(want ...string) {
			t.Helper()
			hooks, err := c.Webhooks.Active(ctx, "HTTP://hooks.test/rotated")
			var ids []string
			for _, h := range hooks {
				if ids = append(ids, h.ID); h.Secret.Reveal() == "" {
					t.Errorf("%s has no secret", h.ID)
				}
			}
			if err != nil || !slices.Equal(ids, want) {
				t.Errorf("active: got %v, %v; want %v", ids, err, want)
			}
		}
		lost := mockserver.Fault{Operation: "createWebhook", Times: 1, Action: mockserver.FaultReset, AfterProcessing: true}
		check.Need(p.Inject(lost))(t)
		if _, _, err := c.Webhooks.Rotate(ctx, created.ID); !errors.Is(err, ErrOutcomeUnknown) {
			t.Errorf("lost response: got %v", err)
		}
		var next Webhook
		for range 2 {
			var old Webhook
			old, next, err = c.Webhooks.Rotate(ctx, created.ID)
			if err != nil || old.ID != created.ID || next.ID == old.ID || next.Secret == old.Secret || next.Secret.Reveal() == "" ||
				old.Secret.Reveal() == "" || !slices.Equal(next.Events, created.Events) || next.RateLimit != 5 ||
				next.RateLimitPeriod != RateLimitPeriodMinute || next.Status != WebhookStatusActive {
				t.Errorf("got %+v, %+v, %v; want a successor of %+v", old, next, err, created)
			}
			active(created.ID, next.ID)
		}
		require.NoError(t, c.Webhooks.Archive(ctx, created.ID))
		active(next.ID)
		if _, _, err := c.Webhooks.Rotate(ctx, created.ID); !errors.Is(err, ErrConflict) {
			t.Errorf("an archived webhook: got %v", err)
		}
		_, third, err := c.Webhooks.Rotate(ctx, next.ID)
		require.NoError(t, err)
		active(next.ID, third.ID)
		if _, err := c.Webhooks.Active(ctx, "http://hooks.test/none"); !errors.Is(err, ErrNotFound) {
			t.Errorf("active at another URL: got %v", err)
		}
		if _, _, err := c.Webhooks.Rotate(ctx, "missing"); !errors.Is(err, ErrNotFound) {
			t.Errorf("a missing webhook: got %v", err)
		}
	})
}

// TestEnsureConcurrent starts several processes on an empty account. All get the same webhook, successor, list and
// template.
func TestEnsureConcurrent(t *testing.T) {
	withPlatform(t, func(t *testing.T, p *platform) {
		ctx := t.Context()
		for _, operation := range []string{"listWebhooks", "createWebhook", "listLists", "createList", "listTemplates", "createTemplate"} {
			check.Need(p.Inject(mockserver.Fault{Operation: operation, Action: mockserver.FaultDelay, Delay: 30 * time.Millisecond}))(t)
		}
		const replicas = 5
		var got, successors [replicas]string
		var wg sync.WaitGroup
		for i := range replicas {
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 20 * time.Millisecond)
				hook, err := p.clean.Webhooks.Ensure(ctx, subscription(events.NameEmailBounced))
				list, err2 := p.clean.Lists.Ensure(ctx, ListCreate{Name: "Berlin"})
				template, err3 := p.clean.Templates.Ensure(ctx, TemplateCreate{Name: "Ticket"})
				_, next, err4 := p.clean.Webhooks.Rotate(ctx, hook.ID)
				assert.NoError(t, errors.Join(err, err2, err3, err4))
				got[i], successors[i] = fmt.Sprint(hook.ID, hook.Secret.Reveal(), list.ID, template.ID), next.ID
			})
		}
		wg.Wait()
		for i := range replicas {
			assert.Equal(t, got[0], got[i], "%+v", i)
			assert.Equal(t, successors[0], successors[i], "%+v", i)
		}
		hooks, err := p.clean.Webhooks.Active(ctx, subscription().URL)
		require.NoError(t, err)
		assert.Len(t, hooks, 2)
		if n := size(p, p.clean.Webhooks.All(ctx, ListWebhooksParams{})); n < 3 {
			t.Errorf("%d webhooks: the replicas did not race", n)
		}
		assert.Equal(t, 1, size(p, p.clean.Templates.All(ctx, ListTemplatesParams{})), "templates")
	})
}

// TestEnsureConcurrentReleases starts two processes of each of two releases with different events. Each process gets the
// webhook of its release.
func TestEnsureConcurrentReleases(t *testing.T) {
	withPlatform(t, func(t *testing.T, p *platform) {
		for _, operation := range []string{"listWebhooks", "createWebhook"} {
			check.Need(p.Inject(mockserver.Fault{Operation: operation, Action: mockserver.FaultDelay, Delay: time.Second}))(t)
		}
		releases := []WebhookCreate{
			subscription(events.NameEmailBounced), subscription(events.NameEmailBounced, events.NameEmailOpened),
		}
		var got [4]Webhook
		var wg sync.WaitGroup
		for i := range got {
			wg.Go(func() {
				var err error
				got[i], err = p.clean.Webhooks.Ensure(t.Context(), releases[i%2])
				assert.NoError(t, err)
			})
		}
		wg.Wait()
		hooks, err := p.clean.Webhooks.Active(t.Context(), releases[0].URL)
		if err != nil || len(hooks) != 2 || got[0].ID != got[2].ID || got[1].ID != got[3].ID || len(got[1].Events) != 2 {
			t.Errorf("got %+v, %d active webhooks, %v; want one webhook for each release", got, len(hooks), err)
		}
	})
}

// TestEnsureNewEvents: a new release subscribes to other events. While processes of both releases run, and after a
// rollback, no event is lost or handled twice.
func TestEnsureNewEvents(t *testing.T) {
	two := []events.Name{events.NameEmailBounced, events.NameEmailOpened}
	for name, releases := range map[string][2]WebhookCreate{
		"added event":   {subscription(events.NameEmailBounced), subscription(two...)},
		"removed event": {subscription(two...), subscription(events.NameEmailBounced)},
	} {
		t.Run(name, func(t *testing.T) {
			withPlatform(t, func(t *testing.T, p *platform) {
				r := newReceiver(p)
				old := r.start(releases[0])
				p.SetTarget("hooks.test", http.NotFoundHandler()) // the old webhook retries this event
				r.bounce()
				current := r.start(releases[1])
				assert.Contains(t, r.log.String(), "webhook="+old+" successor="+current)
				r.bounce() // both webhooks deliver it
				r.log.Reset()
				assert.Equal(t, old, r.start(releases[0]), "a process of the old release, or a rollback")
				assert.Empty(t, r.log.String(), "the old release must not archive the webhook of the new one")
				r.bounce()
				assert.Equal(t, current, r.start(releases[1]))
				time.Sleep(8 * time.Hour)
				require.NoError(t, p.clean.Webhooks.Archive(t.Context(), old))
				r.bounce()
				again := r.start(releases[0]) // a rollback after the old webhook was archived
				r.bounce()
				time.Sleep(8 * time.Hour)
				r.mu.Lock()
				defer r.mu.Unlock()
				assert.Equal(t, map[string]int{"1": 1, "2": 1, "3": 1, "4": 1, "5": 1}, r.handled)
				_, replaced, err := p.clean.Webhooks.Replace(t.Context(), releases[0])
				require.NoError(t, err)
				require.Len(t, replaced, 1)
				assert.Equal(t, current, replaced[0].ID, "replaced by %s", again)
			})
		})
	}
}

// receiver receives the bounces of http://hooks.test/ensured.
type receiver struct {
	*platform
	c       *Client
	log     strings.Builder
	once    webhook.Once
	bounces int
	mu      sync.Mutex
	handled map[string]int // by the local part of the address
	emails  map[string]string
}

func newReceiver(p *platform) *receiver {
	r := &receiver{platform: p, once: webhook.NewMemoryOnce(webhook.MemoryOnceOptions{}), handled: map[string]int{}, emails: map[string]string{}}
	r.c = p.client(p.Transport(), func(cfg *Config) { cfg.Logger = slog.New(slog.NewTextHandler(&r.log, nil)) })
	return r
}

// start replaces the process with a process of another release, and returns the id of its webhook.
func (r *receiver) start(release WebhookCreate) string {
	ctx := r.Context()
	hook := check.Need(r.c.Webhooks.Ensure(ctx, release))(r)
	v, err := webhook.NewVerifierFunc(ctx, func(ctx context.Context) (secrets []webhook.Secret, err error) {
		hooks, err := r.c.Webhooks.Active(ctx, release.URL)
		for _, hook := range hooks {
			secret, err := webhook.ParseSecret(hook.Secret.Reveal(), hook.HashFunction)
			if err != nil {
				return nil, err
			}
			secrets = append(secrets, secret)
		}
		return secrets, err
	}, webhook.SourceOptions{})
	require.NoError(r, err)
	r.SetTarget("hooks.test", webhook.NewHandler(v, func(_ context.Context, event *events.Event) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.handled[r.emails[event.EmailID()]]++
		return nil
	}, webhook.Options{Once: r.once, Logger: slog.New(slog.DiscardHandler)}))
	return hook.ID
}

func (r *receiver) bounce() {
	r.bounces++
	name := fmt.Sprint(r.bounces)
	email := check.Need(r.c.Emails.Send(r.Context(), EmailSubmission{To: name + "@example.org", Sender: shop(), Content: EmailContent{Subject: "x", Text: "x"}}))(r)
	r.mu.Lock()
	r.emails[email.ID] = name
	r.mu.Unlock()
	require.NoError(r, r.Bounce(email.ID, mockserver.HardBounce))
	time.Sleep(time.Minute)
}
