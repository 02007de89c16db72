package platform

import (
	"encoding/json"
	"fmt"
	"net/http"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/problem"
)

// importContacts implements POST /lists/{list_id}/contacts/import.
func (t *tx) importContacts(r api.ImportContactsRequestObject) (api.ImportContactsResponseObject, error) {
	if len(r.Body.Contacts) > api.MaxImport {
		return nil, problem.New(http.StatusUnprocessableEntity, "too_many_contacts",
			fmt.Sprintf("at most %d contacts in one import", api.MaxImport), "body", "contacts")
	}
	status := string(r.Body.ImportTo)
	if status == "" {
		status = statusActive
	}
	if !api.ImportTo(status).Valid() {
		return nil, problem.Invalid("must be active, unsubscribed or deleted", "body", "import_to")
	}
	out := api.ImportContacts200JSONResponse{Errors: []api.ImportError{}}
	entries := readEntries(r.Body.Contacts, t.user.BadEntries, &out)
	l, err := t.list(r.ListID)
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		if t.importContact(l, entry, status, r.Body.Resubscribe) {
			out.Imported++
		} else {
			out.Updated++
		}
	}
	return out, nil
}

// readEntries returns the valid entries, and adds the errors for invalid entries to the
// response. The errors in known come from request validation in package contract.
func readEntries(
	raw []json.RawMessage, known map[int]api.ProblemDetail, out *api.ImportContacts200JSONResponse,
) []api.ImportContact {
	entries := make([]api.ImportContact, 0, len(raw))
	for i, b := range raw {
		var entry api.ImportContact
		d, bad := known[i]
		switch err := json.Unmarshal(b, &entry); {
		case bad:
		case err != nil:
			d, bad = entryDetail(i, b, err), true
		case !isEmail(entry.Email):
			d, bad = problem.At("value_error", "not an email address", "body", "contacts", i, "email"), true
		}
		if !bad {
			entries = append(entries, entry)
			continue
		}
		out.Errors = append(out.Errors, api.ImportError{
			Index: int64(i), Email: entry.Email, Loc: d.Loc, Msg: d.Msg, Type: d.Type,
		})
	}
	return entries
}

// entryDetail returns the error for an entry that cannot be decoded. It is called
// only for requests that were not validated.
func entryDetail(i int, entry []byte, err error) api.ProblemDetail {
	p := problem.OfJSON(entry, err).Details[0]
	return problem.At("value_error", p.Msg, append([]any{"body", "contacts", i}, p.Loc[1:]...)...)
}

// importContact adds or updates one contact and reports whether the contact is new.
// The status unsubscribed or deleted replaces any other status and fires no event.
func (t *tx) importContact(l *list, entry api.ImportContact, status string, resubscribe bool) bool {
	c := l.contacts.editAt(entry.Email)
	isNew := c == nil
	if isNew {
		c = t.newContact(l, entry.Email, status)
	}
	t.describe(l, c, entry.CustomAttributes, entry.Tags, entry.Interests)
	switch {
	case !isNew && c.Status == status:
	case status != statusActive:
		l.contacts.setStatus(c, status)
	case !isNew && !mayBecomeActive(c, resubscribe):
	default:
		if !isNew && c.Status != statusPending {
			t.addAgain(l, c)
		}
		t.activate(l, c)
	}
	return isNew
}

// mayBecomeActive reports whether an import may activate an existing contact. Contacts
// that complained or bounced never become active. Unsubscribed and pending contacts
// become active only if resubscribe is set.
func mayBecomeActive(c *contact, resubscribe bool) bool {
	switch c.effectiveStatus() {
	case statusSpam, statusBounced:
		return false
	case statusUnsubscribed, statusPending:
		return resubscribe
	}
	return true
}
