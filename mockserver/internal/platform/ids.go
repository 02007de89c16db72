package platform

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/webhook"
)

// Fixed contains the values that a seed sets for a new record. If a value is omitted,
// the platform chooses it. An operation with fixed values fires no events.
type Fixed struct {
	ID       int64                // id of the record; 0 if it is not fixed
	Contacts map[string]int64     // ids of contacts, by lower-case address
	Secret   string               // secret of a webhook; random if empty
	Hash     webhook.HashFunction // hash function of a webhook; as configured if empty
}

// applyFixed checks the fixed values and stores them in the transaction.
func (t *tx) applyFixed(f Fixed) error {
	ids := slices.Collect(maps.Values(f.Contacts))
	if f.ID != 0 {
		ids = append(ids, f.ID)
	}
	for _, id := range ids {
		if t.p.idInUse(id) {
			return apierror.Invalid(fmt.Sprintf("the id %d is already in use", id), "body")
		}
	}
	if f.Secret != "" || f.Hash != "" {
		if err := checkSecret(cmp.Or(f.Secret, newSecret()), f.Hash); err != nil {
			return apierror.Invalid(err.Error(), "body")
		}
	}
	for _, id := range ids {
		t.p.lastID = max(t.p.lastID, id) // so new ids are greater than fixed ids
	}
	t.fixed, t.isSeed = f, true
	return nil
}

func (t *tx) newID() int64 {
	if t.fixed.ID != 0 {
		return t.fixed.ID
	}
	return t.nextID()
}

func (t *tx) newContactID(address string) int64 {
	if id := t.fixed.Contacts[strings.ToLower(address)]; id != 0 {
		return id
	}
	return t.nextID()
}

func (r *records) idInUse(id int64) bool {
	if id > r.lastID { // usual for seeds, whose lists must not all be searched for each id
		return false
	}
	for _, a := range r.accounts {
		if a.hasID(id) {
			return true
		}
	}
	return false
}

func (a *account) hasID(id int64) bool {
	return a.Templates.get(id) != nil || a.Lists.get(id) != nil || a.Campaigns.get(id) != nil ||
		a.Workflows.get(id) != nil || a.Webhooks.get(id) != nil ||
		a.hasContact(id)
}

func (a *account) hasContact(id int64) bool {
	for l := range a.Lists.all() {
		if l.contacts.find(id) != nil {
			return true
		}
	}
	return false
}

// UUID returns a random UUID (version 4) for an email or an event.
func UUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
