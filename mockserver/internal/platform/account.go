package platform

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/table"
)

type records struct {
	lastID   int64 // one sequence for all resources, so ids are unique
	accounts map[int64]*account
	messages table.Table[message] // of all accounts, in order of creation
	places   map[string]int       // indexes in messages, by message id
}

func newRecords() records {
	return records{accounts: map[int64]*account{}, places: map[string]int{}}
}

func (r *records) addMessage(m *message) {
	r.places[m.ID] = r.messages.Len()
	r.messages.Add(m)
}

// message returns the message with the given id, or nil if there is none. The caller
// must not change the message.
func (r *records) message(id string) *message {
	if i, ok := r.places[id]; ok {
		return r.messages.At(i)
	}
	return nil
}

func (r *records) webhooks() (all []delivery.Webhook) {
	for _, id := range slices.Sorted(maps.Keys(r.accounts)) {
		all = append(all, r.accounts[id].Webhooks.copies()...)
	}
	return all
}

func (r *records) stopCampaigns() {
	for _, a := range r.accounts {
		a.stopCampaigns()
	}
}

func (a *account) stopCampaigns() {
	for c := range a.Campaigns.all() {
		c.alarm.Stop()
	}
}

// accountsLocked yields the account with the given id, or all accounts if the id is 0.
func (r *records) accountsLocked(only int64) iter.Seq[*account] {
	return func(yield func(*account) bool) {
		for _, id := range slices.Sorted(maps.Keys(r.accounts)) {
			if (only == 0 || id == only) && !yield(r.accounts[id]) {
				return
			}
		}
	}
}

type account struct {
	ID          int64
	Templates   collection[int64, api.Template]
	Lists       collection[int64, list]
	Campaigns   collection[int64, campaign]
	Workflows   collection[int64, api.Workflow]
	Webhooks    collection[int64, delivery.Webhook]
	Suppression suppressionList
	Tags        map[string]bool
	addressees  addressees
	lookups     map[int64]*lookupState // by user
	outcomes    outcomes
}

func newAccount(id int64) *account {
	return &account{
		ID:         id,
		Tags:       map[string]bool{},
		addressees: addressees{},
		lookups:    map[int64]*lookupState{},
		outcomes:   newOutcomes(),
	}
}

// Outcome counts messages and their results.
type Outcome struct {
	Sent               int64 `json:"sent" doc:"sent messages"`
	Bounced            int64 `json:"bounced" doc:"bounced messages"`
	Opened             int64 `json:"opened" doc:"messages that were opened at least once"`
	Clicked            int64 `json:"clicked" doc:"messages with at least one click on a link"`
	Unsubscribed       int64 `json:"unsubscribed" doc:"messages whose recipients unsubscribed from the list"`
	GlobalUnsubscribed int64 `json:"global_unsubscribed" doc:"messages whose recipients unsubscribed from all email"`
	ReportedAsSpam     int64 `json:"reported_as_spam" doc:"messages that were reported as spam"`
}

// count adds a message to the counts if by is 1, and subtracts it if by is -1.
func (o *Outcome) count(m *message, by int64) {
	o.Sent += by
	for _, c := range []struct {
		is bool
		n  *int64
	}{
		{m.Status == messageBounced, &o.Bounced},
		{m.Opens > 0, &o.Opened},
		{m.Clicks > 0, &o.Clicked},
		{m.Unsubscribed, &o.Unsubscribed},
		{m.GlobalUnsubscribed, &o.GlobalUnsubscribed},
		{m.ReportedAsSpam, &o.ReportedAsSpam},
	} {
		if c.is {
			*c.n += by
		}
	}
}

// Each change to a message updates the outcomes of its account, so no scan is
// necessary.
type outcomes struct {
	all     Outcome
	of      map[int64]*Outcome // results by campaign or workflow
	minutes delivery.PerMinute // number of sent messages by minute
}

func newOutcomes() outcomes { return outcomes{of: map[int64]*Outcome{}} }

func (o *outcomes) sent(m *message) {
	o.count(m, 1)
	o.minutes.Add(clock.Unix(m.SubmittedOn))
}

// count ignores messages that are not in the outbox.
func (o *outcomes) count(m *message, by int64) {
	if !m.sent() {
		return
	}
	o.all.count(m, by)
	origin := m.CampaignID + m.WorkflowID // at most one of them is set
	if origin == 0 {
		return
	}
	if o.of[origin] == nil {
		o.of[origin] = &Outcome{}
	}
	o.of[origin].count(m, by)
}

// by returns the results of the messages from a campaign or a workflow.
func (o *outcomes) by(origin int64) Outcome {
	return *cmp.Or(o.of[origin], &Outcome{})
}

// addressees maps a lower-case address to the contact that receives an email without a
// list id. If an address is on several lists, it is the contact that was added last.
// Entries are never removed, because even a deleted contact stays on its list.
type addressees map[string]addressee

type addressee struct {
	list *list
	slot uint32 // of the contact
}

func (a addressees) added(l *list, c *contact) {
	if _, last := a.find(c.Email); last == nil || last.Added < c.Added {
		a[strings.ToLower(c.Email)] = addressee{l, c.slot}
	}
}

func (a addressees) find(address string) (*list, *contact) {
	found, ok := a[strings.ToLower(address)]
	if !ok {
		return nil, nil
	}
	return found.list, found.list.contacts.slot(found.slot)
}

// LookupLimit is an algorithm for the lookup rate limit, which allows one lookup per
// second for each user and account. A lookup that is rejected does not count toward the
// limit.
type LookupLimit int

// The algorithms for the lookup rate limit.
const (
	// LookupMinInterval accepts a lookup if the last accepted lookup was at least one
	// second ago.
	LookupMinInterval LookupLimit = iota
	// LookupTokenBucket adds a token every second, up to two tokens, and each lookup
	// removes a token.
	LookupTokenBucket
	// LookupFixedWindow accepts one lookup in each second of the clock.
	LookupFixedWindow
	// LookupUnlimited accepts all lookups.
	LookupUnlimited
)

func lookupNames() map[LookupLimit]string {
	return map[LookupLimit]string{
		LookupMinInterval: "min_interval", LookupTokenBucket: "token_bucket", LookupFixedWindow: "fixed_window", LookupUnlimited: "unlimited",
	}
}

// String returns min_interval, token_bucket, fixed_window or unlimited.
func (l LookupLimit) String() string { return cmp.Or(lookupNames()[l], "min_interval") }

// MarshalText implements [encoding.TextMarshaler].
func (l LookupLimit) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler]. The valid values are
// min_interval, token_bucket, fixed_window and unlimited.
func (l *LookupLimit) UnmarshalText(text []byte) error {
	for limit, name := range lookupNames() {
		if name == string(text) {
			*l = limit
			return nil
		}
	}
	return fmt.Errorf("mockserver: lookup limit must be min_interval, token_bucket, fixed_window or unlimited, got %q", text)
}

type lookupState struct {
	last   time.Time // time of the last accepted lookup
	tokens float64   // number of tokens at that time
}

// accept reports whether a lookup is allowed now, and counts an allowed lookup.
func (s *lookupState) accept(limit LookupLimit, now time.Time) bool {
	if now.Before(s.last) { // the clock was set back
		*s = lookupState{}
	}
	since := now.Sub(s.last)
	switch limit {
	case LookupTokenBucket:
		tokens := min(2, s.tokens+since.Seconds())
		if tokens < 1 {
			return false
		}
		s.tokens = tokens - 1
	case LookupFixedWindow:
		if now.Unix() == s.last.Unix() {
			return false
		}
	case LookupUnlimited:
	default:
		if since < time.Second {
			return false
		}
	}
	s.last = now
	return true
}
