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

// address is the address of the contact; it is unused, and nothing is sent to
// it.
const address = "check-platform@example.com"

// creations returns the rows that create records. All except the list are
// removed at the end.
func creations() []check {
	return []check{
		{"2", "creating a list is 201 with the list", true, ownList},
		{"36", "accepting a policy twice is 204 both times", true, func(ctx context.Context, p *platform) verdict {
			return twice(ctx, p.own.list != 0, func(ctx context.Context) error { return p.c.Lists.AcceptPolicy(ctx, p.own.list) })
		}},
		{"11", "creating a contact is 201 with the contact, which is active", true, func(ctx context.Context, p *platform) verdict {
			if p.own.list == 0 {
				return verdict{notTried, "there is no list"}
			}
			var contact client.Contact
			a := ask(ctx, func(ctx context.Context) (err error) {
				contact, err = p.c.Contacts.Create(ctx, p.own.list, client.ContactCreate{Email: address})
				return err
			})
			p.own.contact, p.contact = contact.ID, contact.ID
			p.mayStay(a, contact.ID, fmt.Sprintf("the contact %s on the list %d", address, p.own.list))
			return a.differ(a.code(201), spelling(a.object(), "id"), unless(contact.Status == events.ContactStatusActive, "it is "+string(contact.Status)))
		}},
		{"12", "the same address again is 409, contact_exists", true, func(ctx context.Context, p *platform) verdict {
			if p.own.contact == 0 {
				return verdict{notTried, "there is no contact"}
			}
			a := ask(ctx, func(ctx context.Context) error {
				_, err := p.c.Contacts.Create(ctx, p.own.list, client.ContactCreate{Email: address})
				return err
			})
			return a.refused(http.StatusConflict, "contact_exists")
		}},
		{"14", "an import counts, and reports a bad entry by its index", true, imports},
		{"15", "tagging is 204", true, func(ctx context.Context, p *platform) verdict {
			return once(ctx, p.own.contact != 0, func(ctx context.Context) error {
				return p.c.Contacts.Tag(ctx, p.own.list, client.ContactTagging{ContactIDs: []int64{p.own.contact}, Tags: []string{"check-platform"}})
			})
		}},
		{"16", "updating a contact is 200 with the contact, and sets an attribute", true, updates},
		{"9", "creating a template is 201 with the template", true, func(ctx context.Context, p *platform) verdict {
			a := ask(ctx, func(ctx context.Context) error {
				content := client.TemplateContent{HTML: "<p>Hello {{name}}</p>", Text: "Hello"}
				template, err := p.c.Templates.Create(ctx, client.TemplateCreate{Name: "check-platform", Content: content})
				p.own.template, p.template = template.ID, template.ID
				return err
			})
			p.mayStay(a, p.own.template, `a template "check-platform"`)
			return a.differ(a.code(201), spelling(a.object(), "template_id"))
		}},
		{"9", "a change of a template leaves the rest of it", true, partialUpdate},
	}
}

// ownList makes the list that all other rows write to.
func ownList(ctx context.Context, p *platform) verdict {
	name := "check-platform " + time.Now().UTC().Format(time.DateTime)
	a := ask(ctx, func(ctx context.Context) error {
		list, err := p.c.Lists.Create(ctx, client.ListCreate{Name: name})
		p.own.list, p.list = list.ID, list.ID
		return err
	})
	if p.own.list != 0 {
		p.stays = append(p.stays, fmt.Sprintf("the list %d, %q: the platform has no way to delete one", p.own.list, name))
	}
	p.mayStay(a, p.own.list, fmt.Sprintf("a list %q", name))
	return a.differ(a.code(201), spelling(a.object(), "list_id"))
}

// mayStay reports a record that may exist after a create operation with an
// unknown outcome: without its id it cannot be removed.
func (p *platform) mayStay(a result, id int64, what string) {
	if id == 0 && errors.Is(a.err, client.ErrOutcomeUnknown) {
		p.stays = append(p.stays, "perhaps "+what+": what became of its creation is not known")
	}
}

// imports has the contact imported, which updates it, and an entry that is none.
func imports(ctx context.Context, p *platform) verdict {
	if p.own.contact == 0 {
		return verdict{notTried, "there is no contact"}
	}
	var result client.ImportResult
	a := ask(ctx, func(ctx context.Context) (err error) {
		result, err = p.c.Contacts.ImportBatch(ctx, p.own.list, client.ImportBatch{Contacts: []client.ImportContact{{Email: address}, {Email: "nobody"}}})
		return err
	})
	mistakes, _ := a.object()["errors"].([]any)
	var index any
	if len(mistakes) == 1 {
		mistake, _ := mistakes[0].(map[string]any)
		index = mistake["index"]
	}
	return a.differ(a.code(200), number(a.object(), "updated", 1), number(map[string]any{"index": index}, "index", 1),
		unless(len(result.Errors) == 1, fmt.Sprintf("%d errors in place of one", len(result.Errors))))
}

func updates(ctx context.Context, p *platform) verdict {
	if p.own.contact == 0 {
		return verdict{notTried, "there is no contact"}
	}
	var contact client.Contact
	a := ask(ctx, func(ctx context.Context) (err error) {
		contact, err = p.c.Contacts.Update(ctx, p.own.list, p.own.contact, client.ContactUpdate{
			CustomAttributes: []client.CustomAttributeUpdate{{Name: "name", Value: client.Value("Check")}},
		})
		return err
	})
	set := len(contact.CustomAttributes) == 1 && contact.CustomAttributes[0].Value == "Check"
	return a.differ(a.code(200), spelling(a.object(), "id"), unless(set, fmt.Sprintf("the attributes are then %v", contact.CustomAttributes)))
}

func partialUpdate(ctx context.Context, p *platform) verdict {
	if p.own.template == 0 {
		return verdict{notTried, "there is no template"}
	}
	var template client.Template
	a := ask(ctx, func(ctx context.Context) (err error) {
		template, err = p.c.Templates.Update(ctx, p.own.template, client.TemplateUpdate{Name: new("check-platform, renamed")})
		return err
	})
	return a.differ(a.code(200), spelling(a.object(), "template_id"), unless(template.Content.Text == "Hello", "the content is gone"))
}

// removals are the rows that remove what was made.
func removals() []check {
	return []check{
		{"36", "unsubscribing twice is 204 both times", true, func(ctx context.Context, p *platform) verdict {
			return twice(ctx, p.own.contact != 0, func(ctx context.Context) error { return p.c.Contacts.Unsubscribe(ctx, p.own.list, p.own.contact) })
		}},
		{"2", "deleting a contact is 204", true, func(ctx context.Context, p *platform) verdict {
			return p.removed(ctx, p.own.contact != 0, fmt.Sprintf("the contact %d", p.own.contact), func(ctx context.Context) error { return p.c.Contacts.Delete(ctx, p.own.list, p.own.contact) })
		}},
		{"36", "deleting a contact that is gone is 404", true, func(ctx context.Context, p *platform) verdict {
			return gone(ctx, p.own.contact != 0, func(ctx context.Context) error { return p.c.Contacts.Delete(ctx, p.own.list, p.own.contact) })
		}},
		{"2", "deleting a template is 204", true, func(ctx context.Context, p *platform) verdict {
			return p.removed(ctx, p.own.template != 0, fmt.Sprintf("the template %d", p.own.template), func(ctx context.Context) error { return p.c.Templates.Delete(ctx, p.own.template) })
		}},
		{"36", "deleting a template that is gone is 404", true, func(ctx context.Context, p *platform) verdict {
			return gone(ctx, p.own.template != 0, func(ctx context.Context) error { return p.c.Templates.Delete(ctx, p.own.template) })
		}},
	}
}

// once makes a call whose response is only a status, if it is possible.
func once(ctx context.Context, possible bool, call func(context.Context) error) verdict {
	if !possible {
		return verdict{notTried, "what it needs was not made"}
	}
	a := ask(ctx, call)
	return a.differ(a.code(204))
}

func twice(ctx context.Context, possible bool, call func(context.Context) error) verdict {
	if v := once(ctx, possible, call); v.outcome != holds {
		return v
	}
	return once(ctx, possible, call)
}

// removeWithin is how long a removal may take that nothing interrupts.
const removeWithin = 10 * time.Second

// removed is once, also after an interrupt, and takes down what stays.
func (p *platform) removed(ctx context.Context, possible bool, what string, call func(context.Context) error) verdict {
	if !possible {
		return once(ctx, false, call)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeWithin)
	defer cancel()
	a := ask(ctx, call)
	if a.err != nil {
		p.stays = append(p.stays, what)
	}
	return a.differ(a.code(204))
}

func gone(ctx context.Context, possible bool, call func(context.Context) error) verdict {
	if !possible {
		return once(ctx, false, call)
	}
	return ask(ctx, call).refused(http.StatusNotFound, "")
}
