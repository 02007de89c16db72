package platform

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
)

// The statuses of contacts (specification, "Contact").
const (
	statusActive       = "active"
	statusPending      = "pending"
	statusUnsubscribed = "unsubscribed"
	statusDeleted      = "deleted"
	statusSpam         = "spam"
	statusBounced      = "bounced"
)

// contact is a member of a list. Its slices are never changed in place, so
// that copies may share them.
type contact struct {
	ID             int64       `json:"id"`
	Added          int64       `json:"added"` // grows with every time that a contact is added anywhere
	Email          string      `json:"email"`
	Status         string      `json:"status"`
	SubscribedOn   int64       `json:"subscribed_on"`
	Attributes     []attribute `json:"attributes,omitzero"`
	Tags           []string    `json:"tags,omitzero"`
	Interests      []string    `json:"interests,omitzero"`
	LastBounceType string      `json:"last_bounce_type,omitzero"`
	Bounces        int64       `json:"bounces,omitzero"`
	slot           uint32
}

type attribute struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func (c *contact) wire() api.Contact {
	out := api.Contact{
		ID:               c.ID,
		Email:            c.Email,
		Status:           c.Status,
		SubscribedOn:     c.SubscribedOn,
		CustomAttributes: make([]api.CustomAttribute, len(c.Attributes)),
		Tags:             orEmpty(c.Tags),
		Interests:        orEmpty(c.Interests),
		LastBounceType:   c.lastBounce(),
		BouncesCount:     c.Bounces,
	}
	for i, a := range c.Attributes {
		out.CustomAttributes[i] = api.CustomAttribute(a)
	}
	return out
}

func (c *contact) lastBounce() string {
	if c.LastBounceType == "" {
		return "none"
	}
	return c.LastBounceType
}

func orEmpty(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}

// setAttribute returns attributes with one of them set, in a slice of its own.
func setAttribute(attributes []attribute, name, value string) []attribute {
	attributes = slices.Clone(attributes)
	for i := range attributes {
		if attributes[i].Name == name {
			attributes[i].Value = value
			return attributes
		}
	}
	return append(attributes, attribute{name, value})
}

// validAddress reports whether s is an address that can be sent to.
func validAddress(s string) bool {
	local, domain, ok := strings.Cut(s, "@")
	return ok && len(s) <= 254 && validLocal(local) && validDomain(domain)
}

func validLocal(s string) bool {
	return s != "" && len(s) <= 64 && s[0] != '.' && s[len(s)-1] != '.' &&
		!strings.Contains(s, "..") && !strings.ContainsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(`"(),:;<>@[\]`, r) || r == unicode.ReplacementChar
	})
}

// validDomain reports whether s has two labels or more of letters, digits and hyphens.
func validDomain(s string) bool {
	labels := 0
	for label := range strings.SplitSeq(s, ".") {
		labels++
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		for _, r := range label {
			if r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
				return false
			}
		}
	}
	return labels > 1
}

// contact returns the contact that a path names.
func (t *tx) contact(listID, id int64) (*list, *contact, error) {
	l, err := t.list(listID)
	if err != nil {
		return nil, nil, err
	}
	c := l.contacts.find(id)
	if c == nil {
		return nil, nil, problem.NotFound("contact", id, "path", "contact_id")
	}
	return l, c, nil
}

// member is the same for what changes a contact: a deleted one can be read,
// but it is no longer there to be changed.
func (t *tx) member(listID, id int64) (*list, *contact, error) {
	l, c, err := t.contact(listID, id)
	if err == nil && c.Status == statusDeleted {
		err = problem.NotFound("contact", id, "path", "contact_id")
	}
	return l, c, err
}

// CreateContact implements POST /lists/{list_id}/contacts.
func (p *Platform) CreateContact(ctx context.Context, r api.CreateContactRequestObject) (api.CreateContactResponseObject, error) {
	if !validAddress(r.Body.Email) {
		return nil, problem.Invalid("not an email address", "body", "email")
	}
	return do(ctx, p, func(t *tx) (api.CreateContactResponseObject, error) {
		l, err := t.list(r.ListID)
		if err != nil {
			return nil, err
		}
		c, err := t.addContact(l, *r.Body, r.Params.SendDoubleOptIn)
		if err != nil {
			return nil, err
		}
		return api.CreateContact201JSONResponse(c.wire()), nil
	})
}

// addContact adds an address to a list, or adds it again.
func (t *tx) addContact(l *list, in api.ContactCreate, doubleOptIn bool) (*contact, error) {
	if doubleOptIn {
		if err := l.mayBeSentTo("path", "list_id"); err != nil {
			return nil, err
		}
	}
	c := l.contacts.at(in.Email)
	switch {
	case c == nil:
		c = t.newContact(l, in.Email, statusPending)
	case c.Status == statusUnsubscribed || c.Status == statusDeleted:
		c.Added = t.nextID()
		l.contacts.setStatus(c, statusPending)
	default:
		return nil, problem.Conflict("contact_exists", fmt.Sprintf("%s is on the list and %s", c.Email, c.Status), "body", "email")
	}
	t.describe(l, c, in.CustomAttributes, in.Tags, in.Interests)
	if doubleOptIn {
		t.sendConfirmation(l, c)
	} else {
		t.activate(l, c)
	}
	return c, nil
}

func (t *tx) newContact(l *list, email, status string) *contact {
	id := t.nextID()
	c := &contact{ID: id, Added: id, Email: email, Status: status, SubscribedOn: t.unix()}
	l.contacts.add(c)
	return c
}

// describe sets the attributes of a contact and adds tags and interests.
func (t *tx) describe(l *list, c *contact, attributes []api.CustomAttribute, tags, interests []string) {
	for _, a := range attributes {
		c.Attributes = setAttribute(c.Attributes, a.Name, a.Value)
	}
	l.contacts.tag(c, tags)
	l.contacts.interest(c, interests)
	for _, tag := range tags {
		t.account.Tags[tag] = true
	}
}

// activate makes a contact active: it joins the list now, and the workflows of
// the list greet it.
func (t *tx) activate(l *list, c *contact) {
	l.contacts.setStatus(c, statusActive)
	if c.SubscribedOn != t.unix() {
		l.contacts.setDate(c, t.unix())
	}
	t.contactAdded(l, c)
	t.runWorkflows(l, c)
}

// ListContacts implements GET /lists/{list_id}/contacts.
func (p *Platform) ListContacts(ctx context.Context, r api.ListContactsRequestObject) (api.ListContactsResponseObject, error) {
	page, err := paging(r.Params.Page, r.Params.PerPage, r.Params.WithCount)
	if err != nil {
		return nil, err
	}
	q, err := contactQuery(r.Params.Sort, r.Params.Filter)
	if err != nil {
		return nil, err
	}
	return do(ctx, p, func(t *tx) (api.ListContactsResponseObject, error) {
		l, err := t.list(r.ListID)
		if err != nil {
			return nil, err
		}
		found, n := l.contacts.page(q, page)
		out := api.ListContacts200JSONResponse{Data: make([]api.Contact, len(found)), Pagination: page.pagination(n)}
		for i, c := range found {
			out.Data[i] = c.wire()
		}
		return out, nil
	})
}

// contactQuery reads sort=field:direction and filter=field:value.
func contactQuery(sort, filter string) (query, error) {
	q := query{sort: "id"}
	if sort != "" {
		field, direction, _ := strings.Cut(sort, ":")
		if !slices.Contains([]string{"id", "email", "status", "subscribed_on"}, field) || direction != "asc" && direction != "desc" {
			return q, problem.Invalid("want id, email, status or subscribed_on, then :asc or :desc", "query", "sort")
		}
		q.sort, q.descending = field, direction == "desc"
	}
	if filter != "" {
		field, value, ok := strings.Cut(filter, ":")
		if !ok || !slices.Contains([]string{"status", "email", "tag", "interest"}, field) {
			return q, problem.Invalid("want status, email, tag or interest, then a colon and the value", "query", "filter")
		}
		q.field, q.value = field, value
	}
	return q, nil
}

// GetContact implements GET /lists/{list_id}/contacts/{contact_id}.
func (p *Platform) GetContact(ctx context.Context, r api.GetContactRequestObject) (api.GetContactResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.GetContactResponseObject, error) {
		_, c, err := t.contact(r.ListID, r.ContactID)
		if err != nil {
			return nil, err
		}
		return api.GetContact200JSONResponse(c.wire()), nil
	})
}

// UpdateContact implements PATCH /lists/{list_id}/contacts/{contact_id}.
func (p *Platform) UpdateContact(ctx context.Context, r api.UpdateContactRequestObject) (api.UpdateContactResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.UpdateContactResponseObject, error) {
		_, c, err := t.member(r.ListID, r.ContactID)
		if err != nil {
			return nil, err
		}
		for _, a := range r.Body.CustomAttributes {
			if a.Value != nil {
				c.Attributes = setAttribute(c.Attributes, a.Name, *a.Value)
				continue
			}
			c.Attributes = slices.DeleteFunc(slices.Clone(c.Attributes), func(b attribute) bool { return b.Name == a.Name })
		}
		return api.UpdateContact200JSONResponse(c.wire()), nil
	})
}

// DeleteContact implements DELETE /lists/{list_id}/contacts/{contact_id}.
func (p *Platform) DeleteContact(ctx context.Context, r api.DeleteContactRequestObject) (api.DeleteContactResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.DeleteContactResponseObject, error) {
		l, c, err := t.member(r.ListID, r.ContactID)
		if err != nil {
			return nil, err
		}
		l.contacts.setStatus(c, statusDeleted)
		t.contactRemoved(l, c)
		return api.DeleteContact204Response{}, nil
	})
}

// UnsubscribeContact implements POST /lists/{list_id}/contacts/{contact_id}/unsubscribe.
func (p *Platform) UnsubscribeContact(ctx context.Context, r api.UnsubscribeContactRequestObject) (api.UnsubscribeContactResponseObject, error) {
	return do(ctx, p, func(t *tx) (api.UnsubscribeContactResponseObject, error) {
		l, c, err := t.member(r.ListID, r.ContactID)
		if err != nil {
			return nil, err
		}
		if c.Status != statusUnsubscribed {
			l.contacts.setStatus(c, statusUnsubscribed)
			t.contactRemoved(l, c)
			t.contactUnsubscribed(l, c)
		}
		return api.UnsubscribeContact204Response{}, nil
	})
}
