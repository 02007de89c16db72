package platform

import (
	"cmp"
	"slices"

	"example.com/emailplatform/mockserver/internal/api"
)

// The slices of a contact are never changed in place, so its copies can share
// them.
type contact struct {
	api.Contact                // LastBounceType is "" instead of "none"
	Added               int64  `json:"added"`           // sequence number of the last addition to the list
	StatusUnlessDeleted string `json:"before,omitzero"` // status that a deleted contact would have otherwise
	Barred              bool   `json:"barred,omitzero"` // complained or bounced since it was active, so no import activates it

	slot uint32
}

func (c *contact) wire() api.Contact {
	out := c.Contact
	out.CustomAttributes = orEmpty(out.CustomAttributes)
	out.Tags, out.Interests = orEmpty(out.Tags), orEmpty(out.Interests)
	out.LastBounceType = c.lastBounce()
	return out
}

// effectiveStatus returns the contact's status or, if the contact is deleted, the status
// that it would have without the deletion. If an import added the contact as deleted,
// this status is active.
func (c *contact) effectiveStatus() string {
	if c.Status == statusDeleted {
		return cmp.Or(c.StatusUnlessDeleted, statusActive)
	}
	return c.Status
}

func (c *contact) lastBounce() string { return cmp.Or(c.LastBounceType, "none") }

func orEmpty[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// setAttribute returns a copy of attributes with one attribute set.
func setAttribute(attributes []api.CustomAttribute, name, value string) []api.CustomAttribute {
	attributes = slices.Clone(attributes)
	i := slices.IndexFunc(attributes, func(a api.CustomAttribute) bool { return a.Name == name })
	if i < 0 {
		return append(attributes, api.CustomAttribute{Name: name, Value: value})
	}
	attributes[i].Value = value
	return attributes
}
