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
	Added               int64  `json:"added"`                          // sequence number of the last addition to the list
	StatusUnlessDeleted string `json:"status_unless_deleted,omitzero"` // status that a deleted contact would have otherwise
	Barred              bool   `json:"barred,omitzero"`                // complained or bounced since it was active, so no import activates it

	slot uint32
}

func (c *contact) toAPI() api.Contact {
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

// setAttributes returns the attributes after the changes. A change to null removes its attribute.
// The running time is linear, because a request can contain a million changes.
func setAttributes(attributes []api.CustomAttribute, changes []api.CustomAttributeUpdate) []api.CustomAttribute {
	if len(changes) == 0 {
		return attributes
	}
	positions, removed := map[string]int{}, map[int]bool{}
	out := make([]api.CustomAttribute, 0, len(attributes)+len(changes))
	set := func(name, value string) {
		if i, exists := positions[name]; exists {
			out[i].Value = value
			return
		}
		positions[name] = len(out)
		out = append(out, api.CustomAttribute{Name: name, Value: value})
	}
	for _, a := range attributes {
		set(a.Name, a.Value)
	}
	for _, c := range changes {
		if c.Value != nil {
			set(c.Name, *c.Value)
		} else if i, exists := positions[c.Name]; exists {
			removed[i] = true
			delete(positions, c.Name)
		}
	}
	kept := out[:0]
	for i, a := range out {
		if !removed[i] {
			kept = append(kept, a)
		}
	}
	return slices.Clip(kept)
}
