package platform

import (
	"slices"

	"example.com/emailplatform/mockserver/internal/api"
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
	Before         string      `json:"before,omitzero"` // the status that a deleted one had
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

// standing is the status that counts when the contact is added again.
func (c *contact) standing() string {
	if c.Status == statusDeleted {
		return c.Before
	}
	return c.Status
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
