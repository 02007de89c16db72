package mailroom

import (
	"context"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"example.com/emailplatform/client"
)

const (
	again         = 2 * time.Second // before the next look at an email that may be in progress
	lookupTimeout = 2 * time.Minute // for one lookup, with the wait for the rate limit
	patience      = 4 * time.Hour   // for an email or a bounce that is missing
	skew          = time.Minute     // maximum difference between the clocks of this process and the platform
)

// lookup is the value of an item of the kind "lookup".
type lookup struct {
	EmailID string   `json:"email_id"`
	Notices []Notice `json:"notices,omitempty"` // that wait for the result
	Tries   int      `json:"tries,omitempty"`   // failed lookups

	Missing time.Time `json:"missing,omitzero"` // when a lookup first found no email or no bounce
}

// lookUpLater adds an email to the queue of lookups, because its notice is partial or may
// lack its key. All notices of an email share one lookup.
func (r *Room) lookUpLater(ctx context.Context, tx Tx, n Notice, partial bool) error {
	it, err := getOrInsert(ctx, tx, Item{Kind: kindLookup, Key: storable(n.EmailID), Value: encode(lookup{EmailID: n.EmailID})})
	if err != nil {
		return err
	}
	l, err := decode[lookup](it)
	if err != nil {
		return err
	}
	if partial || n.Reason != "" {
		l.Notices = append(l.Notices, n)
	}
	it.Due, it.Value = time.Now(), encode(l)
	if !partial {
		it.Due = it.Due.Add(again) // the response may arrive soon
	}
	r.store.AfterCommit(ctx, r.lookups.wake)
	return tx.Put(ctx, it)
}

// lookUp looks up the email with the key, or any email if key is "".
func (r *Room) lookUp(ctx context.Context, key string) (wait time.Duration, err error) {
	var id string
	err = r.store.Update(ctx, func(ctx context.Context, tx Tx) error {
		id, wait, err = r.claimLookup(ctx, tx, key)
		return err
	})
	if err != nil || id == "" {
		return wait, err
	}
	lookupCtx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	email, failure := r.c.Emails.Get(lookupCtx, id)
	if failure != nil && ctx.Err() == nil {
		r.opts.Logger.WarnContext(ctx, "mailroom: lookup failed", "email_id", id, "error", failure)
	}
	updateCtx, cancelUpdate := context.WithTimeout(context.WithoutCancel(ctx), dbTimeout)
	defer cancelUpdate()
	return 0, r.store.Update(updateCtx, func(ctx context.Context, tx Tx) error { return r.lookedUp(ctx, tx, id, email, failure) })
}

// lookedUp handles the result of a lookup.
func (r *Room) lookedUp(ctx context.Context, tx Tx, id string, email client.Email, failure error) error {
	it, found, err := tx.Get(ctx, kindLookup, storable(id))
	if err != nil || !found {
		return err
	}
	l, err := decode[lookup](it)
	if err != nil {
		return err
	}
	last := l.abandon(email, failure)
	switch {
	case errors.Is(failure, context.Canceled): // a shutdown
		it.Due = time.Now()
		return tx.Put(ctx, it)
	case failure != nil && !last:
		return lookUpAgain(ctx, tx, it, l)
	}
	return r.concludeLookup(ctx, tx, it, l, email, last)
}

// abandon reports whether the Room gives up after an incomplete result of a lookup. The
// Room repeats incomplete lookups for the duration patience, because the platform may
// deliver an event before it can return the email or the bounce.
func (l *lookup) abandon(email client.Email, failure error) bool {
	switch {
	case errors.Is(failure, client.ErrNotFound), errors.Is(failure, client.ErrValidation): // perhaps not an id of the platform
	case errors.Is(failure, client.ErrForbidden), errors.Is(failure, client.ErrUnauthorized): // perhaps a token without this right
	case failure == nil && slices.ContainsFunc(l.Notices, func(n Notice) bool { return n.lacksBounce(email) }):
	default:
		return false
	}
	if l.Missing.IsZero() {
		l.Missing = time.Now()
	}
	return time.Since(l.Missing) >= patience
}

// claimLookup returns the id of an email to look up, and reserves it for this process.
func (r *Room) claimLookup(ctx context.Context, tx Tx, which string) (id string, wait time.Duration, err error) {
	it, wait, err := take(ctx, tx, kindLookup, which)
	if err != nil || wait != 0 {
		return "", wait, err
	}
	l, err := decode[lookup](it)
	if err != nil {
		return "", 0, r.setAside(ctx, tx, it, err)
	}
	if len(l.Notices) == 0 {
		if key, err := keyOf(ctx, tx, l.EmailID); err != nil {
			return "", 0, err
		} else if key != "" { // the response has arrived
			return "", 0, tx.Delete(ctx, kindLookup, it.Key)
		}
	}
	it.Due = time.Now().Add(2 * lookupTimeout) // for another process, if this one ends
	return l.EmailID, 0, tx.Put(ctx, it)
}

func lookUpAgain(ctx context.Context, tx Tx, it Item, l lookup) error {
	l.Tries++
	it.Due, it.Value = time.Now().Add(doubled(again, l.Tries, time.Hour)), encode(l)
	return tx.Put(ctx, it)
}

// concludeLookup resolves an unknown outcome, and accepts the notices that waited for
// the lookup. If last is false, a notice that still lacks its bounce waits for another
// lookup.
func (r *Room) concludeLookup(ctx context.Context, tx Tx, it Item, l lookup, email client.Email, last bool) error {
	key, wait, err := r.findKey(ctx, tx, l.EmailID, email)
	if err != nil {
		return err
	}
	var incomplete []Notice
	for _, n := range l.Notices {
		if !last && n.lacksBounce(email) {
			incomplete = append(incomplete, n)
			continue
		}
		n.Key = key
		n.complete(email)
		switch {
		case n.Reason == "":
		case wait:
			err = suppressFor(ctx, tx, n)
		default:
			err = r.accept(ctx, tx, n)
		}
		if err != nil {
			return err
		}
	}
	if wait {
		it.Due = time.Now().Add(again)
		return tx.Put(ctx, it)
	}
	if len(incomplete) > 0 {
		l.Notices = incomplete
		return lookUpAgain(ctx, tx, it, l)
	}
	return tx.Delete(ctx, kindLookup, it.Key)
}

// findKey returns the key of a looked-up email, or "". If wait is true, the response of its
// request may arrive soon.
func (r *Room) findKey(ctx context.Context, tx Tx, id string, email client.Email) (key string, wait bool, err error) {
	if key, err = keyOf(ctx, tx, id); key != "" || err != nil || email.To == "" {
		return key, false, err
	}
	if key, wait, err = r.match(ctx, tx, id, email); key != "" || err != nil || wait {
		return key, wait, err
	}
	key, err = keyOf(ctx, tx, id) // the response may have arrived in between
	return key, false, err
}

// match resolves an unknown outcome if email matches exactly one email of the outbox. If a
// request for a matching email is in progress, the caller must wait, because the response
// to this request can contain the id.
func (r *Room) match(ctx context.Context, tx Tx, id string, email client.Email) (key string, wait bool, err error) {
	if _, replaced, err := tx.Get(ctx, kindEvent, replacedKey(id)); err != nil || replaced {
		return "", false, err
	}
	items, err := tx.ByRef(ctx, kindSend, refOfAddress(email.To))
	if err != nil {
		return "", false, err
	}
	var found []Item
	for _, it := range items {
		m, err := decode[mail](it)
		if err != nil {
			return "", false, err
		}
		switch {
		case !r.sameEmail(m, email):
		case m.State == sending:
			wait = true
		default:
			found = append(found, it)
		}
	}
	if wait || len(found) != 1 {
		return "", wait, nil
	}
	it, _, err := tx.Get(ctx, kindSend, found[0].Key) // locks it
	if err != nil {
		return "", false, err
	}
	m, err := decode[mail](it)
	if err != nil || m.State != Unknown {
		return "", false, err
	}
	m.EmailID = id
	m.State, m.Detail = outcomeOf(email)
	return it.Key, false, r.settle(ctx, tx, it.Key, m)
}

func outcomeOf(email client.Email) (outcome Reason, detail string) {
	switch email.Status {
	case client.EmailStatusRejected:
		return Rejected, string(email.Reason)
	case client.EmailStatusError:
		return Failed, email.Error
	}
	return Sent, ""
}

// sameEmail reports whether a looked-up email can be an email of the outbox.
func (r *Room) sameEmail(m mail, email client.Email) bool {
	early, late := m.Started.Add(-skew), m.Started.Add(r.lease()+skew)
	return email.SubmittedOn.After(early) && email.SubmittedOn.Before(late) && subject(*m.Submission).MatchString(email.Subject)
}

var mergeTag = regexp.MustCompile(`\{\{\s*(.*?)\s*\}\}`)

// subject returns a pattern for the subject that the platform sends. In the pattern, the
// value of a custom attribute replaces its merge tag. Any other merge tag matches any
// text, because the platform can replace the tag with a value of the contact.
func subject(s client.EmailSubmission) *regexp.Regexp {
	var b strings.Builder
	text, rest := s.Content.Subject, 0
	for _, at := range mergeTag.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(regexp.QuoteMeta(text[rest:at[0]]))
		name := text[at[2]:at[3]]
		if i := slices.IndexFunc(s.CustomAttributes, func(a client.CustomAttribute) bool { return a.Name == name }); i >= 0 {
			b.WriteString(regexp.QuoteMeta(s.CustomAttributes[i].Value))
		} else {
			b.WriteString("(?s:.*)")
		}
		rest = at[1]
	}
	b.WriteString(regexp.QuoteMeta(text[rest:]))
	return regexp.MustCompile("^" + b.String() + "$")
}
