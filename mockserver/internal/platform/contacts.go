package platform

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/contract"
)

func (t *tx) contact(listID, id int64) (*list, *contact, error) {
	l, err := t.list(listID)
	if err != nil {
		return nil, nil, err
	}
	c := l.contacts.find(id)
	if c == nil {
		return nil, nil, apierror.NotFound("contact", id, "path", "contact_id")
	}
	return l, c, nil
}

// editableContact returns the contact that a request path identifies, or an error if the
// contact is deleted. The caller may change the returned contact.
func (t *tx) editableContact(listID, id int64) (*list, *contact, error) {
	l, c, err := t.contact(listID, id)
	if err == nil && c.Status == statusDeleted {
		err = apierror.NotFound("contact", id, "path", "contact_id")
	}
	if err != nil {
		return nil, nil, err
	}
	return l, l.contacts.edit(c), nil
}

func (t *tx) createContact(r api.CreateContactRequestObject) (api.CreateContactResponseObject, error) {
	if !contract.IsEmail(r.Body.Email) {
		return nil, apierror.Invalid("not an email address", "body", "email")
	}
	l, err := t.list(r.ListID)
	if err != nil {
		return nil, err
	}
	resubscribe := r.Params.Resubscribe == nil || *r.Params.Resubscribe
	c, err := t.addContact(l, *r.Body, r.Params.SendDoubleOptIn, resubscribe)
	if err != nil {
		return nil, err
	}
	return api.CreateContact201JSONResponse(c.toAPI()), nil
}

func (t *tx) listContacts(r api.ListContactsRequestObject) (api.ListContactsResponseObject, error) {
	page, err := paging(r.Params.Page, r.Params.PerPage, r.Params.WithCount)
	if err != nil {
		return nil, err
	}
	q, err := contactQuery(r.Params.Sort, r.Params.Filter)
	if err != nil {
		return nil, err
	}
	l, err := t.list(r.ListID)
	if err != nil {
		return nil, err
	}
	found, n := l.contacts.page(q, page)
	out := api.ListContacts200JSONResponse{Data: make([]api.Contact, len(found)), Pagination: page.pagination(n)}
	for i, c := range found {
		out.Data[i] = c.toAPI()
	}
	return out, nil
}

// contactQuery parses sort=field:direction and filter=field:value.
func contactQuery(sort, filter string) (query, error) {
	q := query{sort: "id"}
	if sort != "" {
		field, direction, _ := strings.Cut(sort, ":")
		if contactOrders[field] == nil || direction != "asc" && direction != "desc" {
			return q, apierror.Invalid("must be "+keyList(contactOrders)+", followed by :asc or :desc", "query", "sort")
		}
		q.sort, q.descending = field, direction == "desc"
	}
	if filter != "" {
		field, value, ok := strings.Cut(filter, ":")
		if !ok || contactFilters[field] == nil {
			return q, apierror.Invalid("must be "+keyList(contactFilters)+", followed by a colon and a value", "query", "filter")
		}
		q.field, q.value = field, value
	}
	return q, nil
}

// keyList returns the keys as a text, such as "a, b or c".
func keyList[V any](m map[string]V) string {
	keys := slices.Sorted(maps.Keys(m))
	last := len(keys) - 1
	return strings.Join(keys[:last], ", ") + " or " + keys[last]
}

func (t *tx) getContact(r api.GetContactRequestObject) (api.GetContactResponseObject, error) {
	_, c, err := t.contact(r.ListID, r.ContactID)
	if err != nil {
		return nil, err
	}
	return api.GetContact200JSONResponse(c.toAPI()), nil
}

func (t *tx) updateContact(r api.UpdateContactRequestObject) (api.UpdateContactResponseObject, error) {
	_, c, err := t.editableContact(r.ListID, r.ContactID)
	if err != nil {
		return nil, err
	}
	c.CustomAttributes = setAttributes(c.CustomAttributes, r.Body.CustomAttributes)
	return api.UpdateContact200JSONResponse(c.toAPI()), nil
}

func (t *tx) deleteContact(r api.DeleteContactRequestObject) (api.DeleteContactResponseObject, error) {
	l, c, err := t.editableContact(r.ListID, r.ContactID)
	if err != nil {
		return nil, err
	}
	l.contacts.setStatus(c, statusDeleted)
	t.contactRemoved(l, c)
	return api.DeleteContact204Response{}, nil
}

func (t *tx) unsubscribeContact(r api.UnsubscribeContactRequestObject) (api.UnsubscribeContactResponseObject, error) {
	l, c, err := t.editableContact(r.ListID, r.ContactID)
	if err != nil {
		return nil, err
	}
	t.leaveList(l, c)
	return api.UnsubscribeContact204Response{}, nil
}

// tagContacts implements POST /lists/{list_id}/contacts/tag. If one of the contacts
// does not exist, tagContacts changes none of them.
func (t *tx) tagContacts(r api.TagContactsRequestObject) (api.TagContactsResponseObject, error) {
	for i, tag := range r.Body.Tags {
		if tag == "" {
			return nil, apierror.Invalid("must not be empty", "body", "tags", i)
		}
	}
	l, err := t.list(r.ListID)
	if err != nil {
		return nil, err
	}
	var missing []error
	contacts := make([]*contact, len(r.Body.ContactIds))
	for i, id := range r.Body.ContactIds {
		c := l.contacts.find(id)
		if (c == nil || c.Status == statusDeleted) && len(missing) < apierror.MaxDetails {
			missing = append(missing, apierror.NotFound("contact", id, "body", "contact_ids", i))
		}
		contacts[i] = c
	}
	if err := apierror.Join(missing...); err != nil {
		return nil, err
	}
	slices.SortFunc(contacts, func(a, b *contact) int { return cmp.Compare(a.ID, b.ID) })
	for _, c := range slices.Compact(contacts) { // a request can contain an id a million times
		c = l.contacts.edit(c)
		c.Tags = union(c.Tags, r.Body.Tags)
	}
	for _, tag := range r.Body.Tags {
		t.account.Tags[tag] = true
	}
	return api.TagContacts204Response{}, nil
}

func (t *tx) listTags(r api.ListTagsRequestObject) (api.ListTagsResponseObject, error) {
	names, toAPI := slices.Sorted(maps.Keys(t.account.Tags)), func(name string) api.Tag { return api.Tag{Name: name} }
	data, pagination, err := pageOf(names, r.Params.Page, r.Params.PerPage, r.Params.WithCount, toAPI)
	return api.ListTags200JSONResponse{Data: data, Pagination: pagination}, err
}

func (t *tx) importContacts(r api.ImportContactsRequestObject) (api.ImportContactsResponseObject, error) {
	status := string(r.Body.ImportTo)
	if status == "" {
		status = statusActive
	}
	if !api.ImportTo(status).Valid() {
		return nil, apierror.Invalid("must be active, unsubscribed or deleted", "body", "import_to")
	}
	out := api.ImportContacts200JSONResponse{Errors: []api.ImportError{}}
	entries := readEntries(r.Body.Contacts, t.caller.BadEntries, &out)
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
// response. Some errors are already known from request validation.
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
			p := apierror.OfJSON(err).Details[0] // only if request validation is off
			d, bad = apierror.At("value_error", p.Msg, append([]any{"body", "contacts", i}, p.Loc[1:]...)...), true
		case !contract.IsEmail(entry.Email):
			d, bad = apierror.At("value_error", "not an email address", "body", "contacts", i, "email"), true
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

// importContact adds or updates one contact, and reports whether the contact is new.
// The statuses "unsubscribed" and "deleted" replace any other status, and no event
// fires.
func (t *tx) importContact(l *list, entry api.ImportContact, status string, resubscribe bool) bool {
	c := l.contacts.editAt(entry.Email)
	isNew := c == nil
	if isNew {
		c = t.newContact(l, entry.Email, status)
	}
	t.addDetails(c, entry.CustomAttributes, entry.Tags, entry.Interests)
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

// mayBecomeActive reports whether an import may activate an existing contact. A contact
// that complained or bounced never becomes active, and an unsubscribed or pending
// contact becomes active only if resubscribe is set.
func mayBecomeActive(c *contact, resubscribe bool) bool {
	rule := contactStatusNamed(c.effectiveStatus()).reactivates
	return !c.Barred && (rule == reactivateAlways || rule == reactivateIfResubscribed && resubscribe)
}
