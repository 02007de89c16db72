package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
)

// address is the address of the created contact. The program sends no email to it.
const address = "check-platform@example.com"

// creations returns the rows that create records. At the end, all records except the list are
// removed.
func (p *platform) creations() []check {
	create := func(ctx context.Context, c client.ContactCreate) (client.Contact, error) {
		return p.c.Contacts.Create(ctx, p.own.list, c)
	}
	tag := func(ctx context.Context, id int64) error {
		return p.c.Contacts.Tag(ctx, p.own.list, client.ContactTagging{ContactIDs: []int64{id}, Tags: []string{"check-platform"}})
	}
	return []check{
		{"2", "creating a list is 201 with the list", p.createList},
		{"36", "accepting a policy twice is 204 both times", twice(&p.own.list, p.c.Lists.AcceptPolicy)},
		{"11", "creating a contact is 201 with an active contact", needs(&p.own.list, "no list", func(ctx context.Context) verdict {
			contact, response := ask(ctx, create, client.ContactCreate{Email: address})
			p.own.contact, p.contact = contact.ID, contact.ID
			p.mayStay(response, contact.ID, fmt.Sprintf("contact %s in list %d", address, p.own.list))
			return response.differ(response.code(201), format(response.object(), "id"), unless(contact.Status == events.ContactStatusActive, "status is "+string(contact.Status)))
		})},
		{"12", "creating the same contact again is 409 contact_exists", needs(&p.own.contact, "no contact", func(ctx context.Context) verdict {
			_, response := ask(ctx, create, client.ContactCreate{Email: address})
			return response.rejected(http.StatusConflict, "contact_exists")
		})},
		{"14", "an import returns counts and the index of each invalid contact", needs(&p.own.contact, "no contact", p.imports)},
		{"15", "tagging is 204", once(&p.own.contact, tag)},
		{"16", "updating a contact is 200 and sets an attribute", needs(&p.own.contact, "no contact", p.updates)},
		{"9", "creating a template is 201 with the template", func(ctx context.Context) verdict {
			content := client.TemplateContent{HTML: "<p>Hello {{name}}</p>", Text: "Hello"}
			template, response := ask(ctx, p.c.Templates.Create, client.TemplateCreate{Name: "check-platform", Content: content})
			p.own.template, p.template = template.ID, template.ID
			p.mayStay(response, p.own.template, `template "check-platform"`)
			return response.differ(response.code(201), format(response.object(), "template_id"))
		}},
		{"9", "updating a template keeps the omitted fields", needs(&p.own.template, "no template", p.partialUpdate)},
	}
}

// createList creates the list that the other rows use.
func (p *platform) createList(ctx context.Context) verdict {
	name := "check-platform " + time.Now().UTC().Format(time.DateTime)
	list, response := ask(ctx, p.c.Lists.Create, client.ListCreate{Name: name})
	p.own.list, p.list = list.ID, list.ID
	if p.own.list != 0 {
		p.remaining = append(p.remaining, fmt.Sprintf("list %d, %q, because the API cannot delete lists", p.own.list, name))
	}
	p.mayStay(response, p.own.list, fmt.Sprintf("list %q", name))
	return response.differ(response.code(201), format(response.object(), "list_id"))
}

// mayStay reports a record that may exist after a create operation with an unknown outcome.
// The program cannot remove such a record, because its id is unknown.
func (p *platform) mayStay(response result, id int64, what string) {
	if id == 0 && errors.Is(response.err, client.ErrOutcomeUnknown) {
		p.remaining = append(p.remaining, what+" may exist, because the outcome of its creation is unknown")
	}
}

// imports imports the existing contact, which updates it, and an invalid contact.
func (p *platform) imports(ctx context.Context) verdict {
	result, response := ask(ctx, func(ctx context.Context, batch client.ImportBatch) (client.ImportResult, error) {
		return p.c.Contacts.ImportBatch(ctx, p.own.list, batch)
	}, client.ImportBatch{Contacts: []client.ImportContact{{Email: address}, {Email: "nobody"}}})
	failures, _ := response.object()["errors"].([]any)
	var failure map[string]any
	if len(failures) == 1 {
		failure, _ = failures[0].(map[string]any)
	}
	return response.differ(response.code(200), number(response.object(), "updated", 1), number(failure, "index", 1),
		unless(len(result.Errors) == 1, fmt.Sprintf("%d errors instead of 1", len(result.Errors))))
}

func (p *platform) updates(ctx context.Context) verdict {
	contact, response := ask(ctx, func(ctx context.Context, update client.ContactUpdate) (client.Contact, error) {
		return p.c.Contacts.Update(ctx, p.own.list, p.own.contact, update)
	}, client.ContactUpdate{CustomAttributes: []client.CustomAttributeUpdate{{Name: "name", Value: client.Value("Check")}}})
	set := len(contact.CustomAttributes) == 1 && contact.CustomAttributes[0].Value == "Check"
	return response.differ(response.code(200), format(response.object(), "id"), unless(set, fmt.Sprintf("attributes are %v", contact.CustomAttributes)))
}

func (p *platform) partialUpdate(ctx context.Context) verdict {
	template, response := ask(ctx, func(ctx context.Context, update client.TemplateUpdate) (client.Template, error) {
		return p.c.Templates.Update(ctx, p.own.template, update)
	}, client.TemplateUpdate{Name: new("check-platform, renamed")})
	return response.differ(response.code(200), format(response.object(), "template_id"), unless(template.Content.Text == "Hello", "the content was deleted"))
}

// removals returns the rows that delete the created records.
func (p *platform) removals() []check {
	unsubscribe := func(ctx context.Context, id int64) error { return p.c.Contacts.Unsubscribe(ctx, p.own.list, id) }
	remove := func(ctx context.Context, id int64) error { return p.c.Contacts.Delete(ctx, p.own.list, id) }
	return []check{
		{"36", "unsubscribing twice is 204 both times", twice(&p.own.contact, unsubscribe)},
		{"2", "deleting a contact is 204", p.removed("contact", &p.own.contact, remove)},
		{"36", "deleting a deleted contact is 404", gone(&p.own.contact, remove)},
		{"2", "deleting a template is 204", p.removed("template", &p.own.template, p.c.Templates.Delete)},
		{"36", "deleting a deleted template is 404", gone(&p.own.template, p.c.Templates.Delete)},
	}
}

const notMade = "a required record was not created"

// once returns a check of a call whose response is only a status.
func once(id *int64, call func(context.Context, int64) error) func(context.Context) verdict {
	return needs(id, notMade, func(ctx context.Context) verdict {
		response := callWithoutResult(ctx, call, *id)
		return response.differ(response.code(204))
	})
}

func twice(id *int64, call func(context.Context, int64) error) func(context.Context) verdict {
	return func(ctx context.Context) verdict {
		if v := once(id, call)(ctx); v.outcome != matches {
			return v
		}
		return once(id, call)(ctx)
	}
}

// removeWithin is the timeout of a deletion. An interrupt does not end the deletion.
const removeWithin = 10 * time.Second

// removed is like once, but runs even after an interrupt. If a record was not deleted, removed
// reports it.
func (p *platform) removed(kind string, id *int64, call func(context.Context, int64) error) func(context.Context) verdict {
	return needs(id, notMade, func(ctx context.Context) verdict {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeWithin)
		defer cancel()
		response := callWithoutResult(ctx, call, *id)
		if response.err != nil {
			p.remaining = append(p.remaining, fmt.Sprintf("%s %d", kind, *id))
		}
		return response.differ(response.code(204))
	})
}

func gone(id *int64, call func(context.Context, int64) error) func(context.Context) verdict {
	return needs(id, notMade, func(ctx context.Context) verdict {
		return callWithoutResult(ctx, call, *id).rejected(http.StatusNotFound, "")
	})
}
