package main

import (
	"cmp"
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

// readings returns the rows that only read. Lists come first, because the other rows use
// their ids.
func (p *platform) readings() []check {
	return slices.Concat(p.pages(), p.itemSpellings(), p.resources(), p.contacts(), p.lookups())
}

func (p *platform) pages() []check {
	return []check{
		{"4", "a page has data and pagination, and 50 items by default", func(ctx context.Context) verdict {
			_, response := ask(ctx, p.c.Lists.List, client.ListListsParams{})
			items, pagination := response.items()
			return response.differ(response.code(200), unless(items != nil, `no array "data"`),
				number(pagination, "page", 1), number(pagination, "per_page", 50))
		}},
		{"4", "a page has at most 100 items; a larger per_page is lowered or rejected with 422", func(ctx context.Context) verdict {
			_, response := ask(ctx, p.c.Lists.List, client.ListListsParams{PerPage: 1000})
			if response.status == http.StatusUnprocessableEntity {
				return verdict{outcome: matches}
			}
			_, pagination := response.items()
			return response.differ(response.code(200), number(pagination, "per_page", 100))
		}},
		{"4", "a page has a count only with with_count", func(ctx context.Context) verdict {
			_, counted := ask(ctx, p.c.Lists.List, client.ListListsParams{WithCount: true})
			_, plain := ask(ctx, p.c.Lists.List, client.ListListsParams{})
			_, with := counted.items()
			_, without := plain.items()
			return counted.differ(unless(with["count"] != nil, "no count with with_count"), unless(without["count"] == nil, "a count without with_count"))
		}},
		{"4", "a page after the last one is empty", func(ctx context.Context) verdict {
			_, response := ask(ctx, p.c.Lists.List, client.ListListsParams{Page: 1_000_000})
			items, _ := response.items()
			return response.differ(response.code(200), unless(items != nil && len(items) == 0, fmt.Sprintf("%d items", len(items))))
		}},
	}
}

// unless returns the finding if the condition is false.
func unless(right bool, finding string) string {
	if right {
		return ""
	}
	return finding
}

// number reports a field whose value differs from want.
func number(object map[string]any, name string, want int64) string {
	if n, ok := object[name].(json.Number); ok && n.String() == fmt.Sprint(want) {
		return ""
	}
	return fmt.Sprintf("%s is %v, not %d", name, object[name], want)
}

// items returns a check of a list's items. The function note may store the id of the
// first item for other checks.
func items[Page, Params any](
	decision, kind, id string, list func(context.Context, Params) (Page, error), note func(Page),
) check {
	return check{decision, fmt.Sprintf("GET /%s: each item has %s", kind, id), func(ctx context.Context) verdict {
		page, response := ask(ctx, list, *new(Params))
		note(page)
		items, _ := response.items()
		if response.err == nil && len(items) == 0 {
			return verdict{skipped, "the platform has no " + kind}
		}
		for _, item := range items {
			if resource, ok := item.(map[string]any); ok {
				return response.differ(response.code(200), format(resource, id))
			}
		}
		return response.differ(`no array "data" of objects`)
	}}
}

func (p *platform) itemSpellings() []check {
	return []check{
		items("10", "lists", "list_id", p.c.Lists.List, func(l client.ListPage) { p.list = cmp.Or(p.list, first(l.Data).ID) }),
		items("9", "templates", "template_id", p.c.Templates.List, func(t client.TemplatePage) { p.template = cmp.Or(p.template, first(t.Data).ID) }),
		items("17", "campaigns", "campaign_id", p.c.Campaigns.List, func(c client.CampaignPage) { p.campaign = first(c.Data).ID }),
		items("18", "workflows", "workflow_id", p.c.Workflows.List, func(w client.WorkflowPage) { p.workflow = first(w.Data).ID }),
		items("20", "webhooks", "webhook_id", p.c.Webhooks.List, func(h client.WebhookPage) { p.webhook = first(h.Data).ID }),
		items("15", "tags", "name", p.c.Tags.List, func(client.TagPage) {}),
		items("19", "suppressed-emails", "email", p.c.SuppressedEmails.List, func(client.SuppressedEmailPage) {}),
	}
}

// first returns the first item, or the zero value if there is none.
func first[T any](items []T) (item T) {
	if len(items) > 0 {
		item = items[0]
	}
	return item
}

// resource returns a row that reads one resource.
func resource[T any, ID comparable](
	decision, kind, name string, id *ID, get func(context.Context, ID) (T, error), more ...func(result) string,
) check {
	rule := fmt.Sprintf("a %s is not wrapped in data and has %s", kind, name)
	return check{decision, rule, needs(id, "the id of a "+kind+" is unknown", func(ctx context.Context) verdict {
		_, response := ask(ctx, get, *id)
		found := []string{response.code(200), format(response.object(), name)}
		for _, m := range more {
			found = append(found, m(response))
		}
		return response.differ(found...)
	})}
}

func (p *platform) resources() []check {
	return []check{
		resource("3", "list", "list_id", &p.list, p.c.Lists.Get),
		resource("3", "template", "template_id", &p.template, p.c.Templates.Get),
		{"9", "rendering a template returns text/html", needs(&p.template, "no template", func(ctx context.Context) verdict {
			_, response := ask(ctx, p.c.Templates.Render, p.template)
			media, _, _ := mime.ParseMediaType(response.header.Get("Content-Type"))
			return response.differ(response.code(200), unless(media == "text/html", "Content-Type is "+media))
		})},
		resource("3", "campaign", "campaign_id", &p.campaign, p.c.Campaigns.Get),
		resource("3", "workflow", "workflow_id", &p.workflow, p.c.Workflows.Get),
		resource("20", "webhook", "webhook_id", &p.webhook, p.c.Webhooks.Get, has("secret"), has("hash_function")),
	}
}

// has returns a function that reports a missing field.
func has(name string) func(result) string {
	return func(response result) string {
		return unless(response.object()[name] != nil, fmt.Sprintf("no %q", name))
	}
}

// contacts checks the contacts of the list.
func (p *platform) contacts() []check {
	page := func(ctx context.Context, params client.ListContactsParams) (client.ContactPage, error) {
		return p.c.Contacts.List(ctx, p.list, params)
	}
	get := func(ctx context.Context, id int64) (client.Contact, error) { return p.c.Contacts.Get(ctx, p.list, id) }
	return []check{
		{"11", "a contact in a list has id, email and status", func(ctx context.Context) verdict {
			found, response := ask(ctx, page, client.ListContactsParams{})
			if response.err == nil && len(found.Data) == 0 {
				return verdict{skipped, "the first list has no contacts"}
			}
			if p.contact == 0 && len(found.Data) > 0 {
				p.contact = found.Data[0].ID
			}
			first, _ := response.items()
			item, _ := slices.Concat(first, []any{nil})[0].(map[string]any)
			return response.differ(response.code(200), format(item, "id"), unless(item["email"] != nil, "no email"), unless(item["status"] != nil, "no status"))
		}},
		{"5", "sort=email:desc sorts contacts", func(ctx context.Context) verdict {
			found, response := ask(ctx, page, client.ListContactsParams{Sort: "email:desc"})
			sorted := slices.IsSortedFunc(found.Data, func(a, b client.Contact) int {
				return strings.Compare(strings.ToLower(b.Email), strings.ToLower(a.Email))
			})
			return response.differ(response.code(200), unless(sorted, "not sorted"))
		}},
		{"5", "filter=status:active filters contacts", func(ctx context.Context) verdict {
			found, response := ask(ctx, page, client.ListContactsParams{Filter: "status:" + string(events.ContactStatusActive)})
			i := slices.IndexFunc(found.Data, func(c client.Contact) bool { return c.Status != events.ContactStatusActive })
			return response.differ(response.code(200), unless(i < 0, "contacts with another status are returned too"))
		}},
		{"5", "sorting by an unknown field is rejected with 422", func(ctx context.Context) verdict {
			_, response := ask(ctx, page, client.ListContactsParams{Sort: "shoe_size:asc"})
			return response.rejected(http.StatusUnprocessableEntity, "")
		}},
		resource("11", "contact", "id", &p.contact, get),
	}
}

// lookups returns the rows that look up an email. The rows look up the email two times, to
// test the rate limit.
func (p *platform) lookups() []check {
	return []check{
		resource("26", "submitted email", "id", &p.email, p.c.Emails.Get, has("subject"), has("submitted_on")),
		{"27", "a second lookup within a second is 429 with Retry-After", needs(&p.email, "-email is not set", func(ctx context.Context) verdict {
			_, response := ask(ctx, p.c.Emails.Get, p.email)
			v := response.rejected(http.StatusTooManyRequests, "")
			if v.outcome == matches && response.header.Get("Retry-After") == "" {
				return verdict{differs, "429 without Retry-After"}
			}
			return v
		})},
	}
}

// unknownID is an id that does not exist.
const unknownID int64 = 1 << 52

// conventions returns the rows about rules that apply to all operations.
func (p *platform) conventions() []check {
	return []check{
		{"7", "an unknown id is 404", func(ctx context.Context) verdict {
			_, response := ask(ctx, p.c.Lists.Get, unknownID)
			return response.rejected(http.StatusNotFound, "")
		}},
		{"6", "an error has details of loc, msg and type", func(ctx context.Context) verdict {
			_, response := ask(ctx, p.c.Lists.Get, unknownID)
			details, _ := response.object()["detail"].([]any)
			if len(details) == 0 {
				return verdict{differs, `no array "detail": ` + shorten(response.text)}
			}
			detail, _ := details[0].(map[string]any)
			return result{}.differ(unless(detail["loc"] != nil, "no loc"), unless(detail["msg"] != nil, "no msg"), unless(detail["type"] != nil, "no type"))
		}},
		{"6", "a response has the header X-Request-Id", func(ctx context.Context) verdict {
			_, response := ask(ctx, p.c.Lists.Get, unknownID)
			return result{}.differ(unless(response.header.Get("X-Request-Id") != "", "no X-Request-Id"))
		}},
		{"7", "an unknown token is 401 with WWW-Authenticate: Bearer", func(ctx context.Context) verdict {
			_, response := ask(ctx, p.unauthorized.Lists.Get, unknownID)
			if v := response.rejected(http.StatusUnauthorized, ""); v.outcome != matches {
				return v
			}
			challenge := response.header.Get("WWW-Authenticate")
			return result{}.differ(unless(challenge != "", "401 without WWW-Authenticate"))
		}},
	}
}

// shorten returns the beginning of a text, in one line.
func shorten(s string) string {
	const most = 60
	if len(s) > most {
		s = s[:most] + "…"
	}
	return cmp.Or(s, "empty body")
}
