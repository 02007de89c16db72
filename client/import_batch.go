package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"example.com/emailplatform/internal/json/jsonscan"
)

// ImportBatch imports up to 1,000 contacts with one request. For more contacts, use
// [Contacts.Import]. Importing a contact again does not create a duplicate, but activates
// the contact if it was deleted in the meantime. Even a single call can import a contact
// two times, because the client sends the batch again after a lost response. If the contact
// is deleted between the two attempts, the second attempt activates it. To prevent this,
// use WithMaxAttempts(1); see [WithMaxAttempts].
//
// If the list already contains the contact, the platform updates the contact, but keeps
// the attributes, tags and interests that the batch omits. If batch.ImportTo requests
// the status active, the contact's new status depends on its old status:
//
//   - If it has unsubscribed or is pending, it becomes active only if batch.Resubscribe
//     is set.
//   - If it complained or bounced, it never becomes active.
//   - If it was deleted, its status before the deletion decides in the same way.
//
// If batch.ImportTo is a status other than active, all contacts get that status.
//
// The result accounts for each contact: the contact is counted in Imported, Updated or
// Accepted, or it is listed in Errors. However, the platform may count duplicate
// addresses in the batch as one contact, and ImportBatch accepts this count. If the
// response does not account for each contact, the error is [ErrInvalidResponse], and it
// is unknown which contacts were imported. (Specification: Lists and contacts, Limits.)
func (s *Contacts) ImportBatch(ctx context.Context, listID int64, batch ImportBatch) (ImportResult, error) {
	return s.importBatch(ctx, listID, batch, true)
}

func (s *Contacts) importBatch(ctx context.Context, listID int64, batch ImportBatch, repeatable bool) (ImportResult, error) {
	c := &call{request: importContactsRequest(listID, batch)}
	c.repeatable = repeatable
	var response importResponse
	c.decode = func(body []byte) (err error) {
		response, err = decode(body, readImportResponse)
		if bad, ok := errors.AsType[*jsonscan.Error](err); ok && !bad.Ignored {
			return err
		}
		return cmp.Or(response.check(batch.Contacts), err)
	}
	err := s.handler.run(ctx, c)
	if err != nil {
		return zeroUnlessUsable(response.ImportResult, err)
	}
	return response.result(int64(len(batch.Contacts)), c.effect == maybeDone), nil
}

type importResponse struct {
	hasResult    bool // the response contains a part of the result
	ImportResult      // the Index of a rejected entry is -1 if the response does not contain it
}

func readImportResponse(c *jsonscan.Cursor) (v importResponse) {
	for name := range c.Members() {
		switch name {
		case "errors":
			v.Errors = readItems(c, readRejectedEntry)
			v.hasResult = v.hasResult || len(v.Errors) > 0
		case "imported":
			v.hasResult = v.hasResult || c.Peek() != 'n'
			v.Imported = c.Int()
		case "updated":
			v.hasResult = v.hasResult || c.Peek() != 'n'
			v.Updated = c.Int()
		case "detail", "error":
			readErrorField(c, name)
		default:
			c.Skip()
		}
	}
	return v
}

// readRejectedEntry reads a RejectedEntry. Some platforms write the index in the location
// instead of in the field "index", and the type in the field "code" instead of in the
// field "type".
func readRejectedEntry(c *jsonscan.Cursor) (v RejectedEntry) {
	if c.Peek() != '{' {
		c.Reject("an object")
		return v
	}
	placed, code := false, ""
	for name := range c.Object() {
		switch name {
		case "index":
			v.Index, placed = c.NullInt()
		case "email":
			v.Email = c.String()
		case "loc":
			v.Loc = readLocation(c)
		case "msg":
			v.Msg = c.String()
		case "type":
			v.Type = c.String()
		case "code":
			code = readAnyID(c)
		default:
			c.Skip()
		}
	}
	if !placed {
		v.Index = v.Loc.entry()
	}
	v.Type = cmp.Or(v.Type, code)
	return v
}

// entry returns the index of an entry in the batch, which is the first integer
// in the location. If the location does not contain an integer, entry returns
// -1.
func (l Location) entry() int64 {
	for _, s := range l {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n
		}
	}
	return -1
}

// check returns an error if the response does not account for all contacts in the
// batch.
func (v *importResponse) check(batch []ImportContact) error {
	n := int64(len(batch))
	if n > 0 && !v.hasResult { // for example only the id of a job, which another request would start again
		return errNoImportResult
	}
	for _, e := range v.Errors {
		switch {
		case e.Index < 0:
			return errors.New("the response contains an error without an index")
		case e.Index >= n:
			return fmt.Errorf("the response contains an error for index %d, but the batch has %d contacts", e.Index, n)
		}
	}
	within := func(count int64) int64 { return max(min(count, n), 0) }
	rejected := v.rejected()
	accounted := int64(len(rejected)) + within(v.Imported) + within(v.Updated)
	if accounted < n && accounted < different(batch, rejected) {
		return fmt.Errorf("the response accounts for %d of %d contacts", accounted, n)
	}
	return nil
}

// different returns the number of rejected contacts plus the number of different
// addresses among the other contacts. A duplicate address counts once, because a platform
// may count the duplicates as one contact.
func different(batch []ImportContact, rejected map[int64]bool) int64 {
	addresses := map[string]bool{}
	for i, contact := range batch {
		if !rejected[int64(i)] {
			addresses[strings.ToLower(contact.Email)] = true
		}
	}
	return int64(len(addresses) + len(rejected))
}

func (v *importResponse) rejected() map[int64]bool {
	entries := map[int64]bool{}
	for _, e := range v.Errors {
		entries[e.Index] = true
	}
	return entries
}

// result returns the result for a batch of n contacts. If the request was retried, a
// contact that the platform counts as updated may have been imported by an earlier
// attempt.
func (v *importResponse) result(n int64, retried bool) ImportResult {
	r, rest := v.ImportResult, n-int64(len(v.rejected()))
	switch {
	case r.Imported < 0 || r.Updated < 0 || r.Imported+r.Updated != rest:
		r.Imported, r.Updated, r.Accepted = 0, 0, rest
	case retried:
		r.Updated, r.Accepted = 0, r.Updated
	}
	return r
}
