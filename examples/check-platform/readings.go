package main

import (
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
)

// readings returns the rows that only read. Lists come first, because other
// rows use their ids.
func readings() []check {
	return slices.Concat(pages(), itemSpellings(), resources(), contacts(), lookups())
}

func pages() []check {
	lists := func(params client.ListListsParams) func(context.Context, *platform) result {
		return func(ctx context.Context, p *platform) result {
			return ask(ctx, func(ctx context.Context) error {
				_, err := p.c.Lists.List(ctx, params)
				return err
			})
		}
	}
	return []check{
		{"4", "a page is data and pagination, of 50 items by default", false, func(ctx context.Context, p *platform) verdict {
			a := lists(client.ListListsParams{})(ctx, p)
			items, pagination := a.items()
			return a.differ(a.code(200), unless(items != nil, `no array "data"`), number(pagination, "page", 1), number(pagination, "per_page", 50))
		}},
		{"4", "a page holds at most 100 items; more are cut or refused", false, func(ctx context.Context, p *platform) verdict {
			a := lists(client.ListListsParams{PerPage: 1000})(ctx, p)
			if a.status == http.StatusUnprocessableEntity {
				return verdict{outcome: holds}
			}
			_, pagination := a.items()
			return a.differ(a.code(200), number(pagination, "per_page", 100))
		}},
		{"4", "the count comes with with_count, and without it does not", false, func(ctx context.Context, p *platform) verdict {
			counted, plain := lists(client.ListListsParams{WithCount: true})(ctx, p), lists(client.ListListsParams{})(ctx, p)
			_, with := counted.items()
			_, without := plain.items()
			return counted.differ(unless(with["count"] != nil, "never"), unless(without["count"] == nil, "always"))
		}},
		{"4", "a page past the end is empty", false, func(ctx context.Context, p *platform) verdict {
			a := lists(client.ListListsParams{Page: 1_000_000})(ctx, p)
			items, _ := a.items()
			return a.differ(a.code(200), unless(items != nil && len(items) == 0, fmt.Sprintf("%d items", len(items))))
		}},
	}
}

// unless returns the finding, or nothing if it is right.
func unless(right bool, finding string) string {
	if right {
		return ""
	}
	return finding
}

// number says that a member is another number than wanted.
func number(object map[string]any, name string, want int64) string {
	if n, ok := object[name].(json.Number); ok && n.String() == fmt.Sprint(want) {
		return ""
	}
	return fmt.Sprintf("%s is %v, not %d", name, object[name], want)
}

// items makes a row of a page's items. list takes down an id, and fails if there
// is none.
func items(decision, kind, id string, list func(context.Context, *platform) (n int, err error)) check {
	says := fmt.Sprintf("the items of GET /%s have %s", kind, id)
	return check{decision, says, false, func(ctx context.Context, p *platform) verdict {
		n := 0
		a := ask(ctx, func(ctx context.Context) (err error) {
			n, err = list(ctx, p)
			return err
		})
		if a.err == nil && n == 0 {
			return verdict{notTried, "there are none"}
		}
		page, _ := a.items()
		for _, item := range page {
			if resource, ok := item.(map[string]any); ok {
				return a.differ(a.code(200), spelling(resource, id))
			}
		}
		return a.differ(`no array "data" of objects`)
	}}
}

func itemSpellings() []check {
	return []check{
		items("10", "lists", "list_id", func(ctx context.Context, p *platform) (int, error) {
			page, err := p.c.Lists.List(ctx, client.ListListsParams{})
			if p.list == 0 && len(page.Data) > 0 {
				p.list = page.Data[0].ID
			}
			return len(page.Data), err
		}),
		items("9", "templates", "template_id", func(ctx context.Context, p *platform) (int, error) {
			page, err := p.c.Templates.List(ctx, client.ListTemplatesParams{})
			if p.template == 0 && len(page.Data) > 0 {
				p.template = page.Data[0].ID
			}
			return len(page.Data), err
		}),
		items("17", "campaigns", "campaign_id", func(ctx context.Context, p *platform) (int, error) {
			page, err := p.c.Campaigns.List(ctx, client.ListCampaignsParams{})
			if len(page.Data) > 0 {
				p.campaign = page.Data[0].ID
			}
			return len(page.Data), err
		}),
		items("18", "workflows", "workflow_id", func(ctx context.Context, p *platform) (int, error) {
			page, err := p.c.Workflows.List(ctx, client.ListWorkflowsParams{})
			if len(page.Data) > 0 {
				p.workflow = page.Data[0].ID
			}
			return len(page.Data), err
		}),
		items("20", "webhooks", "webhook_id", func(ctx context.Context, p *platform) (int, error) {
			page, err := p.c.Webhooks.List(ctx, client.ListWebhooksParams{})
			if len(page.Data) > 0 {
				p.webhook = page.Data[0].ID
			}
			return len(page.Data), err
		}),
		items("15", "tags", "name", func(ctx context.Context, p *platform) (int, error) {
			page, err := p.c.Tags.List(ctx, client.ListTagsParams{})
			return len(page.Data), err
		}),
		items("19", "suppressed-emails", "email", func(ctx context.Context, p *platform) (int, error) {
			page, err := p.c.SuppressedEmails.List(ctx, client.ListSuppressedEmailsParams{})
			return len(page.Data), err
		}),
	}
}

// resource makes a row of reading one resource.
func resource(decision, kind, id string, known func(*platform) bool, get func(context.Context, *platform) error, more ...func(result) string) check {
	return check{decision, fmt.Sprintf("a %s is a bare object with %s", kind, id), false, func(ctx context.Context, p *platform) verdict {
		if !known(p) {
			return verdict{notTried, "there is none"}
		}
		a := ask(ctx, func(ctx context.Context) error { return get(ctx, p) })
		found := []string{a.code(200), spelling(a.object(), id)}
		for _, m := range more {
			found = append(found, m(a))
		}
		return a.differ(found...)
	}}
}

func resources() []check {
	return []check{
		resource("3", "list", "list_id", func(p *platform) bool { return p.list != 0 }, func(ctx context.Context, p *platform) error {
			_, err := p.c.Lists.Get(ctx, p.list)
			return err
		}),
		resource("3", "template", "template_id", func(p *platform) bool { return p.template != 0 }, func(ctx context.Context, p *platform) error {
			_, err := p.c.Templates.Get(ctx, p.template)
			return err
		}),
		{"9", "a template renders as text/html", false, func(ctx context.Context, p *platform) verdict {
			if p.template == 0 {
				return verdict{notTried, "there is no template"}
			}
			a := ask(ctx, func(ctx context.Context) error {
				_, err := p.c.Templates.Render(ctx, p.template)
				return err
			})
			media, _, _ := mime.ParseMediaType(a.header.Get("Content-Type"))
			return a.differ(a.code(200), unless(media == "text/html", "as "+media))
		}},
		resource("3", "campaign", "campaign_id", func(p *platform) bool { return p.campaign != 0 }, func(ctx context.Context, p *platform) error {
			_, err := p.c.Campaigns.Get(ctx, p.campaign)
			return err
		}),
		resource("3", "workflow", "workflow_id", func(p *platform) bool { return p.workflow != "" }, func(ctx context.Context, p *platform) error {
			_, err := p.c.Workflows.Get(ctx, p.workflow)
			return err
		}),
		resource("20", "webhook", "webhook_id", func(p *platform) bool { return p.webhook != "" }, func(ctx context.Context, p *platform) error {
			_, err := p.c.Webhooks.Get(ctx, p.webhook)
			return err
		}, has("secret", "signature"), has("hash_function", "signature")),
	}
}

// has reports that a field is missing, or replaced by another one.
func has(name, instead string) func(result) string {
	return func(a result) string {
		switch {
		case a.object()[name] != nil:
			return ""
		case a.object()[instead] != nil:
			return fmt.Sprintf("%q in %q", name, instead)
		}
		return fmt.Sprintf("no %q", name)
	}
}

// contacts checks the contacts of the list.
func contacts() []check {
	page := func(ctx context.Context, p *platform, params client.ListContactsParams) (client.ContactPage, result) {
		var found client.ContactPage
		a := ask(ctx, func(ctx context.Context) (err error) {
			found, err = p.c.Contacts.List(ctx, p.list, params)
			return err
		})
		return found, a
	}
	return []check{
		{"11", "contacts of a list have id, email and status", false, func(ctx context.Context, p *platform) verdict {
			found, a := page(ctx, p, client.ListContactsParams{})
			if a.err == nil && len(found.Data) == 0 {
				return verdict{notTried, "there are none on the first list"}
			}
			if p.contact == 0 && len(found.Data) > 0 {
				p.contact = found.Data[0].ID
			}
			first, _ := a.items()
			item, _ := slices.Concat(first, []any{nil})[0].(map[string]any)
			return a.differ(a.code(200), spelling(item, "id"), unless(item["email"] != nil, "no email"), unless(item["status"] != nil, "no status"))
		}},
		{"5", "contacts are sorted by sort=email:desc", false, func(ctx context.Context, p *platform) verdict {
			found, a := page(ctx, p, client.ListContactsParams{Sort: "email:desc"})
			sorted := slices.IsSortedFunc(found.Data, func(a, b client.Contact) int {
				return strings.Compare(strings.ToLower(b.Email), strings.ToLower(a.Email))
			})
			return a.differ(a.code(200), unless(sorted, "in another order"))
		}},
		{"5", "contacts are filtered by filter=status:active", false, func(ctx context.Context, p *platform) verdict {
			found, a := page(ctx, p, client.ListContactsParams{Filter: "status:" + string(events.ContactStatusActive)})
			i := slices.IndexFunc(found.Data, func(c client.Contact) bool { return c.Status != events.ContactStatusActive })
			return a.differ(a.code(200), unless(i < 0, "others come too"))
		}},
		{"5", "another field to sort by is 422", false, func(ctx context.Context, p *platform) verdict {
			_, a := page(ctx, p, client.ListContactsParams{Sort: "shoe_size:asc"})
			return a.refused(http.StatusUnprocessableEntity, "")
		}},
		resource("11", "contact", "id", func(p *platform) bool { return p.contact != 0 }, func(ctx context.Context, p *platform) error {
			_, err := p.c.Contacts.Get(ctx, p.list, p.contact)
			return err
		}),
	}
}

// lookups makes two in a row.
func lookups() []check {
	get := func(ctx context.Context, p *platform) error {
		_, err := p.c.Emails.Get(ctx, p.email)
		return err
	}
	return []check{
		resource("26", "submitted email", "id", func(p *platform) bool { return p.email != "" }, get, has("subject", "content"), has("submitted_on", "submitted_time")),
		{"27", "a second lookup within a second is 429 with Retry-After", false, func(ctx context.Context, p *platform) verdict {
			if p.email == "" {
				return verdict{notTried, "-email is not set"}
			}
			a := ask(ctx, func(ctx context.Context) error { return get(ctx, p) })
			v := a.refused(http.StatusTooManyRequests, "")
			if v.outcome == holds && a.header.Get("Retry-After") == "" {
				return verdict{differs, "429 without Retry-After"}
			}
			return v
		}},
	}
}
