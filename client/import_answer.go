package client

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"example.com/emailplatform/internal/json/jsonscan"
)

// ImportBatch imports at most 1,000 contacts with one request. Importing the
// same batch twice creates nothing twice. Contacts that are on the list already
// are updated: attributes, tags and interests that an entry leaves out stay as
// they are, and nobody becomes active again who had unsubscribed, nor active who
// is pending, unless batch.Resubscribe asks for it. Who complained or bounced does
// not become active in any case; who was deleted counts as what they were before.
// Another status than active, of batch.ImportTo, is everybody's. [Contacts.Import]
// takes any number.
//
// The result accounts for each contact: it is in one of the three counts, or
// Errors names it. An answer that does not is an [ErrInvalidResponse], and which of the
// contacts are on the list is then unknown. An address that is in the batch again
// need not be counted again.
// (Specification: Lists and contacts, Limits.)
func (s *Contacts) ImportBatch(ctx context.Context, listID int64, batch ContactImport) (ImportResult, error) {
	c := &call{request: importContactsRequest(listID, batch)}
	var answer importAnswer
	c.decode = func(body []byte) (err error) {
		if answer, err = decode(body, readImportAnswer); err != nil {
			return err
		}
		return answer.check(batch.Contacts)
	}
	err := s.x(ctx, c)
	switch {
	case err == nil:
		return answer.result(int64(len(batch.Contacts)), c.maybeDone), nil
	case isMismatch(err):
		return answer.ImportResult, err
	}
	return ImportResult{}, err
}

// importAnswer is what the platform says of a batch.
type importAnswer struct {
	ImportResult // the Index of an error is -1 if nothing tells it

	taken bool // the platform says that it took the batch, but not how many
}

// readImportAnswer reads what an answer says, and how much of it there is.
func readImportAnswer(c *jsonscan.Cursor) (v importAnswer) {
	for name := range c.Object() {
		switch name {
		case "errors":
			v.Errors = jsonscan.Slice(c, readImportMistake)
		case "imported":
			v.Imported = v.readCount(c)
		case "updated":
			v.Updated = v.readCount(c)
		case "detail", "error":
			readRefusal(c, name)
		default:
			c.Skip()
		}
	}
	return v
}

// readCount reads a count. One that is no number says that the contacts were
// taken, unless it is false or empty; a list has those that it counts.
func (v *importAnswer) readCount(c *jsonscan.Cursor) (n int64) {
	switch c.Peek() {
	case '[':
		for range c.Array() {
			c.Skip()
			n++
		}
		return n
	case '"':
		text := c.String()
		n, _ := strconv.ParseInt(text, 10, 64)
		v.taken = v.taken || strings.EqualFold(text, "true")
		return n
	case 't':
		v.taken = c.Bool()
		return 0
	case '{':
		for range c.Object() {
			c.Skip()
			v.taken = true
		}
		return 0
	case 'f', 'n':
		c.Skip()
		return 0
	}
	return c.Int()
}

// readImportMistake reads an ImportError, of which the place is all that has to
// be there: its index, or else what its location tells. A code stands for a type
// that is missing.
func readImportMistake(c *jsonscan.Cursor) (v ImportError) {
	placed, code := false, ""
	for name := range c.Object() {
		switch name {
		case "index":
			if placed = !c.Null(); placed {
				v.Index = c.Int()
			}
		case "email":
			v.Email = jsonscan.Optional(c, (*jsonscan.Cursor).String)
		case "loc":
			v.Loc = jsonscan.Optional(c, readLocation)
		case "msg":
			v.Msg = jsonscan.Optional(c, (*jsonscan.Cursor).String)
		case "type":
			v.Type = jsonscan.Optional(c, (*jsonscan.Cursor).String)
		case "code":
			code = jsonscan.Optional(c, readAnyID)
		default:
			c.Skip()
		}
	}
	if !placed {
		v.Index = v.Loc.entry()
	}
	if v.Type == "" {
		v.Type = code
	}
	return v
}

// entry returns the entry of a batch that l is in, or -1: the first whole number.
func (l Location) entry() int64 {
	for _, s := range l {
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			return n
		}
	}
	return -1
}

// check refuses an answer that does not fit a batch: nobody could say then which
// of its contacts are on the list.
func (v *importAnswer) check(batch []ImportContact) error {
	n := int64(len(batch))
	for _, e := range v.Errors {
		switch {
		case e.Index < 0:
			return errors.New("it reports an error without saying of which entry")
		case e.Index >= n:
			return fmt.Errorf("it reports on entry %d of a batch of %d", e.Index, n)
		}
	}
	within := func(count int64) int64 { return max(min(count, n), 0) }
	rejected := v.rejected()
	told := int64(len(rejected)) + within(v.Imported) + within(v.Updated)
	if !v.taken && told < n && told < different(batch, rejected) {
		return fmt.Errorf("it accounts for %d of %d contacts", told, n)
	}
	return nil
}

// different returns how many contacts an answer has to account for at least: a
// platform may count one once whose address is in the batch several times.
func different(batch []ImportContact, rejected map[int64]bool) int64 {
	addresses := map[string]bool{}
	for i, contact := range batch {
		if !rejected[int64(i)] {
			addresses[strings.ToLower(contact.Email)] = true
		}
	}
	return int64(len(addresses) + len(rejected))
}

// rejected returns the entries that have errors.
func (v *importAnswer) rejected() map[int64]bool {
	entries := map[int64]bool{}
	for _, e := range v.Errors {
		entries[e.Index] = true
	}
	return entries
}

// result returns what the answer to a batch of n contacts says. If again is set,
// an earlier attempt may have been carried out, so that what counts as updated may
// have been new.
func (v *importAnswer) result(n int64, again bool) ImportResult {
	r, rest := v.ImportResult, n-int64(len(v.rejected()))
	switch {
	case v.taken || r.Imported < 0 || r.Updated < 0 || r.Imported+r.Updated != rest:
		r.Imported, r.Updated, r.Accepted = 0, 0, rest
	case again:
		r.Updated, r.Accepted = 0, r.Updated
	}
	return r
}
