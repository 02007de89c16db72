package mockserver

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"example.com/emailplatform/mockserver/internal/api"
)

// ImportContacts implements POST /lists/{list_id}/contacts/import.
func (p *platform) ImportContacts(ctx context.Context, r api.ImportContactsRequestObject) (api.ImportContactsResponseObject, error) {
	if len(r.Body.Contacts) > maxImport {
		return nil, fail(http.StatusUnprocessableEntity, "too_many_contacts",
			"at most "+strconv.Itoa(maxImport)+" contacts in one import", "body", "contacts")
	}
	status := string(r.Body.ImportTo)
	if status == "" {
		status = statusActive
	}
	if !api.ImportTo(status).Valid() {
		return nil, invalid("want active, unsubscribed or deleted", "body", "import_to")
	}
	out := api.ImportContacts200JSONResponse{Errors: []api.ImportError{}}
	entries := readEntries(r.Body.Contacts, &out)
	return do(ctx, p, func(t *tx) (api.ImportContactsResponseObject, error) {
		l, err := t.list(r.ListID)
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if t.importContact(l, entry, status) {
				out.Imported++
			} else {
				out.Updated++
			}
		}
		return out, nil
	})
}

// readEntries decodes the entries and reports the bad ones.
func readEntries(raw []json.RawMessage, out *api.ImportContacts200JSONResponse) []api.ImportContact {
	entries := make([]api.ImportContact, 0, len(raw))
	for i, b := range raw {
		var entry api.ImportContact
		d := checkEntry(b, &entry)
		if d == nil {
			entries = append(entries, entry)
			continue
		}
		out.Errors = append(out.Errors, api.ImportError{
			Index: int64(i),
			Email: entry.Email,
			Loc:   append([]any{"body", "contacts", i}, d.Loc...),
			Msg:   d.Msg,
			Type:  d.Type,
		})
	}
	return entries
}

// checkEntry decodes one entry and returns its first mistake, if it has one;
// loc is relative to the entry.
func checkEntry(b []byte, entry *api.ImportContact) *api.ProblemDetail {
	d := func(kind, msg string, loc ...any) *api.ProblemDetail {
		found := detail(kind, msg, loc...)
		return &found
	}
	if err := json.Unmarshal(b, entry); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return d("value_error", misfit(wrong), misfitLoc(wrong)[1:]...)
		}
		return d("value_error", err.Error())
	}
	if entry.Email == "" {
		return d("missing", "required", "email")
	}
	if !validAddress(entry.Email) {
		return d("value_error", "not an email address", "email")
	}
	for i, a := range entry.CustomAttributes {
		if a.Name == "" {
			return d("missing", "required", "custom_attributes", i, "name")
		}
	}
	for i, tag := range entry.Tags {
		if tag == "" {
			return d("value_error", "must not be empty", "tags", i)
		}
	}
	for i, interest := range entry.Interests {
		if interest == "" {
			return d("value_error", "must not be empty", "interests", i)
		}
	}
	return nil
}

// importContact adds or updates one contact and reports whether it is new.
// Nobody who complained or whose address bounced becomes active by an import.
// An import that unsubscribes or deletes fires nothing.
func (t *tx) importContact(l *list, entry api.ImportContact, status string) bool {
	c := l.contacts.at(entry.Email)
	isNew := c == nil
	if isNew {
		c = t.newContact(l, entry.Email, statusPending)
	}
	t.describe(l, c, entry.CustomAttributes, entry.Tags, entry.Interests)
	switch {
	case c.Status == status:
	case status != statusActive:
		l.contacts.setStatus(c, status)
	case c.Status == statusSpam || c.Status == statusBounced:
	default:
		if !isNew && c.Status != statusPending {
			c.Added = t.nextID()
		}
		t.activate(l, c)
	}
	return isNew
}
