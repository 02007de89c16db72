package control

import (
	"cmp"
	"context"
	"iter"
	"strconv"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/changes"
	"example.com/emailplatform/mockserver/internal/platform"
)

func (c *Control) contactRoutes() []route {
	return []route{
		listRoute("GET contacts", c.contacts()),
		listRoute("GET lists/{id}/contacts", c.contacts()),
		handle("POST lists/{id}/contacts/actions", jsonBody(c.actOnContacts)),
	}
}

func (c *Control) contacts() listing[platform.ListedContact, platform.ListedContact] {
	return listing[platform.ListedContact, platform.ListedContact]{
		find: func(r *request) (int, iter.Seq[platform.ListedContact], error) {
			given, id := r.PathValue("id"), int64(0) // all lists
			if given != "" {
				id, _ = strconv.ParseInt(given, 10, 64)
				id = cmp.Or(id, -1) // no list has this id
			}
			n, contacts, ok := c.Platform.NewestContacts(id)
			if !ok {
				return 0, nil, apierror.NotFound("list", given, "path", "id")
			}
			return n, contacts, nil
		},
		id:   func(c platform.ListedContact) string { return strconv.FormatInt(c.ID, 10) },
		text: func(to []byte, c platform.ListedContact) []byte { return lines(to, c.Email) },
		record: func(c platform.ListedContact) platform.ListedContact {
			c.Tags = append([]string{}, c.Tags...)
			return c
		},
		filters: []filter[platform.ListedContact]{
			whereAccount("the account of the contacts", func(c platform.ListedContact) int64 { return c.AccountID }),
			where(choice("status", "the status of the contacts", platform.ContactStatuses()...),
				func(c platform.ListedContact) string { return c.Status }),
		},
	}
}

type contactAction string

type contactActionBody struct {
	Action contactAction `json:"action" doc:"the action"`
	IDs    []string      `json:"ids" doc:"the ids of the contacts"`
}

func (c *Control) contactActions() map[contactAction]func(ctx context.Context, list, contact int64) error {
	return map[contactAction]func(ctx context.Context, list, contact int64) error{
		"unsubscribe": func(ctx context.Context, list, contact int64) error {
			_, err := c.Platform.UnsubscribeContact(ctx, api.UnsubscribeContactRequestObject{ListID: list, ContactID: contact})
			return err
		},
		"delete": func(ctx context.Context, list, contact int64) error {
			_, err := c.Platform.DeleteContact(ctx, api.DeleteContactRequestObject{ListID: list, ContactID: contact})
			return err
		},
	}
}

// actOnContacts performs an operation of the API for each contact, as the account's first
// user with write access.
func (c *Control) actOnContacts(r *request, in contactActionBody) (bulkResult, error) {
	out := bulkResult{IDs: []string{}}
	for _, l := range c.Platform.Lists() {
		if strconv.FormatInt(l.ID, 10) != r.PathValue("id") {
			continue
		}
		user, _ := c.Auth.OfUser(l.AccountID, 0)
		ctx := platform.WithCaller(r.Context(), &platform.Caller{AccountID: l.AccountID, UserID: user.UserID, UserEmail: user.UserEmail})
		for _, id := range in.IDs {
			n, _ := strconv.ParseInt(id, 10, 64) // no contact has the id 0
			out.add(id, c.contactActions()[in.Action](ctx, l.ID, n))
		}
		c.Changes.Publish(changes.Records, nil)
		return out, nil
	}
	return out, apierror.NotFound("list", r.PathValue("id"), "path", "id")
}
