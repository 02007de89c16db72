package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver"
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
			if err != nil || hook.Secret.Reveal() == "" || hook.HashFunction != "sha256" {
				t.Fatalf("got %v with hash function %q, %v", hook.ID, hook.HashFunction, err)
			}
			return hook
		}
		count := func() int { return size(p, c.Webhooks.All(ctx, ListWebhooksParams{})) }

		first := ensure(subscription(events.NameEmailBounced, events.NameEmailClicked))
		turned := subscription(events.NameEmailClicked, events.NameEmailBounced)
		turned.URL = "HTTP://Hooks.test/ensured"
		if again := ensure(turned); again.ID != first.ID || count() != 1 {
			t.Errorf("the same events and URL in another spelling: got %v, want %v", again.ID, first.ID)
		}
		if other := ensure(subscription(events.NameCampaignSent)); other.ID == first.ID || count() != 2 {
			t.Error("a webhook without a common event prevents a new one")
		}
		for name, w := range map[string]WebhookCreate{
			"one event more": subscription(events.NameEmailBounced, events.NameEmailClicked, events.NameEmailOpened),
			"one event less": subscription(events.NameEmailBounced),
			"a rate limit":   {URL: first.URL, Events: turned.Events, RateLimit: 5, RateLimitPeriod: RateLimitPeriodMinute},
		} {
			_, err := c.Webhooks.Ensure(ctx, w)
			if !errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), first.ID) || count() != 2 {
				t.Errorf("%s: got %v", name, err)
			}
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
		if _, err := c.Webhooks.Ensure(ctx, limited); !errors.Is(err, ErrConflict) {
			t.Errorf("a rate limit with another period: got %v", err)
		}
		unlimited := WebhookCreate{URL: "http://hooks.test/unlimited", Events: turned.Events, RateLimitPeriod: RateLimitPeriodMinute}
		made = ensure(unlimited)
		assert.Equal(t, made.ID, ensure(unlimited).ID, "a period without a rate limit: got two webhooks")
	})
}

// TestEnsureSearchFails: Ensure returns the error of a failed search. It creates nothing after a failed first search.
func TestEnsureSearchFails(t *testing.T) {
	withPlatform(t, func(t *testing.T, p *platform) {
		ctx, c := t.Context(), p.clean
		for operation, ensure := range map[string]func() error{
			"listWebhooks":  func() error { return last(c.Webhooks.Ensure(ctx, subscription(events.NameEmailBounced))) },
			"listLists":     func() error { return last(c.Lists.Ensure(ctx, ListCreate{Name: "Berlin"})) },
			"listTemplates": func() error { return last(c.Templates.Ensure(ctx, TemplateCreate{Name: "Ticket"})) },
		} {
			for nth, requests := range map[int]int{1: 1, 2: 3} { // the search, then a creation and another search
				must(t)(p.Inject(mockserver.Fault{Operation: operation, Nth: nth, Action: mockserver.FaultStatus, Status: 403}))
				before := len(p.Requests())
				if err := ensure(); !errors.Is(err, ErrForbidden) || len(p.Requests()) != before+requests {
					t.Errorf("%s fails at search %d: %v after %d requests, want ErrForbidden after %d", operation, nth, err, len(p.Requests())-before, requests)
				}
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
	if !errors.As(err, &e) || !errors.Is(err, ErrInvalidResponse) || e.StatusCode != 200 || !strings.Contains(err.Error(), "missing secret") {
		t.Errorf("got %v, want an ErrInvalidResponse with status 200 and the missing secret", err)
	}
}

// TestWebhookRotation: a successor has the same configuration and another secret. A repeated Rotate returns the same
// successor, and Active returns both webhooks.
func TestWebhookRotation(t *testing.T) {
	withPlatform(t, func(t *testing.T, p *platform) {
		c, ctx := p.clean, t.Context()
		created, err := c.Webhooks.Create(ctx, WebhookCreate{
			URL: "http://hooks.test/rotated", Events: []events.Name{events.NameEmailBounced, events.NameEmailOpened},
			RateLimit: 5, RateLimitPeriod: RateLimitPeriodMinute,
		})
		must(t)(created, err)
		must(t)(c.Webhooks.Create(ctx, subscription(events.NameEmailBounced))) // at another URL
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
		must(t)(p.Inject(lost))
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
		must(t)(third, err)
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
			must(t)(p.Inject(mockserver.Fault{Operation: operation, Action: mockserver.FaultDelay, Delay: 30 * time.Millisecond}))
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
			if got[i] != got[0] || successors[i] != successors[0] {
				t.Errorf("replica %d got %s and %s, the first one %s and %s", i, got[i], successors[i], got[0], successors[0])
			}
		}
		hooks, err := p.clean.Webhooks.Active(ctx, subscription().URL)
		if err != nil || len(hooks) != 2 {
			t.Errorf("%d active webhooks, %v; want one and its successor", len(hooks), err)
		}
		if n := size(p, p.clean.Webhooks.All(ctx, ListWebhooksParams{})); n < 3 {
			t.Errorf("%d webhooks: the replicas did not race", n)
		}
		assert.Equal(t, 1, size(p, p.clean.Templates.All(ctx, ListTemplatesParams{})), "templates")
	})
}

// TestEnsureConcurrentConflict starts two processes with different events. One of them gets its webhook, and the other
// one gets ErrConflict.
func TestEnsureConcurrentConflict(t *testing.T) {
	withPlatform(t, func(t *testing.T, p *platform) {
		for _, operation := range []string{"listWebhooks", "createWebhook"} {
			must(t)(p.Inject(mockserver.Fault{Operation: operation, Action: mockserver.FaultDelay, Delay: time.Second}))
		}
		wants := []WebhookCreate{
			subscription(events.NameEmailBounced), subscription(events.NameEmailBounced, events.NameEmailOpened),
		}
		var errs [2]error
		var wg sync.WaitGroup
		for i, want := range wants {
			wg.Go(func() { _, errs[i] = p.clean.Webhooks.Ensure(t.Context(), want) })
		}
		wg.Wait()
		if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs[:]...), ErrConflict) {
			t.Errorf("got %v, want one ErrConflict", errs)
		}
		hooks, err := p.clean.Webhooks.Active(t.Context(), wants[0].URL)
		if err != nil || len(hooks) != 1 {
			t.Errorf("%d active webhooks, %v; want 1", len(hooks), err)
		}
	})
}

func TestFind(t *testing.T) {
	withPlatform(t, func(t *testing.T, p *platform) {
		c, f, ctx := p.clean, p.fixture(), t.Context()
		for i := range 120 { // more items than fit on the first page
			must(t)(c.Lists.Create(ctx, ListCreate{Name: fmt.Sprint("list ", i)}))
			must(t)(c.Templates.Create(ctx, TemplateCreate{Name: fmt.Sprint("template ", i)}))
			must(t)(c.Campaigns.Create(ctx, CampaignCreate{Name: fmt.Sprint("campaign ", i)}))
		}
		older, err := c.Templates.Find(ctx, "template 119")
		must(t)(older, err)
		must(t)(c.Templates.Create(ctx, TemplateCreate{Name: "template 119"}))
		list, err := c.Lists.Find(ctx, "list 119")
		if err != nil || list.Name != "list 119" {
			t.Errorf("got %+v, %v", list, err)
		}
		template, err := c.Templates.Find(ctx, "template 119")
		if err != nil || template.ID != older.ID {
			t.Errorf("got %+v, %v; want the older of two, %d", template, err, older.ID)
		}
		campaign, err := c.Campaigns.Find(ctx, "campaign 119")
		if err != nil || campaign.Name != "campaign 119" {
			t.Errorf("got %+v, %v", campaign, err)
		}
		before := len(p.Requests())
		contact, err := c.Contacts.Find(ctx, f.list, "ANN@example.com")
		if asked := len(p.Requests()) - before; err != nil || contact.ID != f.contact || asked != 1 {
			t.Errorf("got %+v, %v by %d requests", contact, err, asked)
		}
	})
}

func TestFindNotFound(t *testing.T) {
	withPlatform(t, func(t *testing.T, p *platform) {
		c, f := p.clean, p.fixture()
		for name, find := range map[string]func(context.Context, string) error{
			"contact":  func(ctx context.Context, email string) error { return last(c.Contacts.Find(ctx, f.list, email)) },
			"list":     func(ctx context.Context, name string) error { return last(c.Lists.Find(ctx, name)) },
			"campaign": func(ctx context.Context, name string) error { return last(c.Campaigns.Find(ctx, name)) },
			"template": func(ctx context.Context, name string) error { return last(c.Templates.Find(ctx, name)) },
		} {
			if e, ok := errors.AsType[*Error](find(t.Context(), "missing@example.com")); !ok || !errors.Is(e, ErrNotFound) {
				t.Errorf("%s: got %v", name, e)
			}
			before := len(p.Requests())
			if err := find(t.Context(), ""); !errors.Is(err, ErrValidation) || len(p.Requests()) != before {
				t.Errorf("%s: got %v for an empty name", name, err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := find(ctx, "x"); !errors.Is(err, context.Canceled) || errors.Is(err, ErrNotFound) {
				t.Errorf("%s: got %v with a canceled context", name, err)
			}
		}
		assert.ErrorIs(t, last(c.Contacts.Find(t.Context(), 99, "ann@example.com")), ErrNotFound, "a list that does not exist")
	})
}
