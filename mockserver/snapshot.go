package mockserver

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// snapshotVersion changes with the format of snapshots.
const snapshotVersion = 1

// snapshot is the whole state as JSON. Messages share their contents, as they
// do in memory: a campaign has many messages and says one thing.
type snapshot struct {
	Version    int                `json:"version"`
	LastID     int64              `json:"last_id"`
	Accounts   []accountSnapshot  `json:"accounts"`
	Contents   []content          `json:"contents"`
	Messages   []messageSnapshot  `json:"messages"` // those that were sent, in order, then the others
	Deliveries []deliverySnapshot `json:"deliveries"`
	Events     []*FiredEvent      `json:"events"`
	LastEvent  int                `json:"last_event"`
}

type accountSnapshot struct {
	ID         int64          `json:"account_id"`
	Templates  []*template    `json:"templates"`
	Lists      []listSnapshot `json:"lists"`
	Campaigns  []*campaign    `json:"campaigns"`
	Workflows  []*workflow    `json:"workflows"`
	Webhooks   []*hook        `json:"webhooks"` // with their secrets
	Suppressed []suppressed   `json:"suppressed_emails"`
	Tags       []string       `json:"tags"`
}

type listSnapshot struct {
	list
	Contacts []*contact `json:"contacts"`
}

type messageSnapshot struct {
	message
	Content int `json:"content"` // which of the contents
}

type deliverySnapshot struct {
	*Delivery
	Tries     int  `json:"tries"`
	Duplicate bool `json:"duplicate,omitzero"`
}

// Snapshot writes the whole state as one JSON object: every record of every
// account, the messages, the journals of events and deliveries with what is
// still to be delivered, and the secrets of webhooks, so keep it like one. The
// fault plan and the log of requests are not part of it. It may be called at
// any time; what is being attempted counts as still to be delivered.
func (s *Server) Snapshot(w io.Writer) error {
	body, err := s.platform.snapshot()
	if err != nil {
		return fmt.Errorf("mockserver: snapshot: %w", err)
	}
	if _, err := w.Write(body); err != nil {
		return fmt.Errorf("mockserver: snapshot: %w", err)
	}
	return nil
}

func (p *platform) snapshot() ([]byte, error) {
	p.whole.Lock()
	defer p.whole.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	out := snapshot{Version: snapshotVersion, LastID: p.lastID}
	for _, id := range slices.Sorted(maps.Keys(p.accounts)) {
		out.Accounts = append(out.Accounts, p.accounts[id].snapshot())
	}
	out.takeMessages(&p.records)
	d := p.deliver
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, delivery := range d.journal {
		out.Deliveries = append(out.Deliveries, deliverySnapshot{delivery, delivery.tries, delivery.duplicate})
	}
	out.Events, out.LastEvent = d.events, d.lastEvent
	return json.MarshalIndent(out, "", " ")
}

func (a *account) snapshot() accountSnapshot {
	out := accountSnapshot{
		ID:         a.ID,
		Templates:  a.Templates.all,
		Campaigns:  a.Campaigns.all,
		Workflows:  a.Workflows.all,
		Webhooks:   a.Webhooks.all,
		Suppressed: a.Suppression.all,
		Tags:       slices.Sorted(maps.Keys(a.Tags)),
	}
	for _, l := range a.Lists.all {
		out.Lists = append(out.Lists, listSnapshot{*l, l.contacts.all})
	}
	return out
}

func (sn *snapshot) takeMessages(from *records) {
	known := map[content]int{}
	take := func(m *message) {
		i, ok := known[m.Content]
		if !ok {
			i = len(sn.Contents)
			known[m.Content] = i
			sn.Contents = append(sn.Contents, m.Content)
		}
		sn.Messages = append(sn.Messages, messageSnapshot{*m, i})
	}
	for _, m := range from.outbox {
		take(m)
	}
	for _, id := range slices.Sorted(maps.Keys(from.messages)) {
		if m := from.messages[id]; !m.sent() {
			take(m)
		}
	}
}

// sent reports whether a message is in the outbox.
func (m *message) sent() bool { return m.Status != messageRejected && m.Status != messageError }

// Restore replaces the whole state by that of a snapshot. What was to be
// delivered before is forgotten; what the snapshot has left to deliver begins
// to be delivered, and its campaigns go on. Tokens, the fault plan and the log
// of requests stay. A snapshot with a mistake changes nothing, and the error
// says where it is.
func (s *Server) Restore(r io.Reader) error {
	var in snapshot
	decoder := json.NewDecoder(r)
	if err := decoder.Decode(&in); err != nil {
		return fmt.Errorf("mockserver: restore: %w", err)
	}
	if in.Version != snapshotVersion {
		return fmt.Errorf("mockserver: restore: version: want %d, not %d", snapshotVersion, in.Version)
	}
	restored, err := in.records()
	if err != nil {
		return fmt.Errorf("mockserver: restore: %w", err)
	}
	return s.platform.replace(restored, &in)
}

// Reset forgets everything: the state, the journals, the log of requests and
// the fault plan. Only tokens and configuration stay. Ids begin anew.
func (s *Server) Reset() {
	s.ClearFaults()
	s.requests.clear()
	// Nothing in an empty state could be wrong; a closed server has none to lose.
	_ = s.platform.replace(newRecords(), &snapshot{})
}

var errClosed = errors.New("mockserver: the server is closed")

// replace puts records in the place of those that there are.
func (p *platform) replace(with records, from *snapshot) error {
	after, err := func() ([]func(), error) {
		p.whole.Lock()
		defer p.whole.Unlock()
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.closed {
			return nil, errClosed
		}
		p.stopCampaignsLocked()
		p.records = with
		p.deliver.replace(with.accounts, from)
		return p.resumeCampaignsLocked(), nil
	}()
	for _, f := range after {
		f()
	}
	p.changes.tell(changeState, nil)
	return err
}

func (p *platform) stopCampaignsLocked() {
	for _, a := range p.accounts {
		for _, c := range a.Campaigns.all {
			c.stop()
		}
	}
}

// resumeCampaignsLocked starts what is scheduled, and what was under way.
func (p *platform) resumeCampaignsLocked() []func() {
	t := &tx{platform: p, now: time.Now()}
	for _, a := range p.accounts {
		t.account = a
		for _, c := range a.Campaigns.all {
			if c.Status == campaignDelivering {
				c.Status = campaignScheduled // and it goes on where it was
			}
			if c.Status == campaignScheduled {
				t.arm(c)
			}
		}
	}
	return t.after
}

// replace gives the deliverer other webhooks and another journal.
func (d *deliverer) replace(accounts map[int64]*account, from *snapshot) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, q := range d.queues {
		q.forget()
	}
	d.queues, d.order, d.journal, d.byID = map[int64]*queue{}, nil, nil, map[string]*Delivery{}
	d.events, d.lastEvent = from.Events, from.LastEvent
	for _, id := range slices.Sorted(maps.Keys(accounts)) {
		for _, h := range accounts[id].Webhooks.all {
			q := &queue{hook: *h}
			d.queues[h.ID] = q
			d.order = append(d.order, q)
		}
	}
	for _, saved := range from.Deliveries {
		d.restoreLocked(saved)
	}
	for _, q := range d.order {
		q.restoreLimit(d.journal)
		d.startLocked(q)
	}
}

func (d *deliverer) restoreLocked(saved deliverySnapshot) {
	delivery := saved.Delivery
	delivery.tries, delivery.duplicate = saved.Tries, saved.Duplicate
	delivery.webhookID, _ = strconv.ParseInt(delivery.WebhookID, 10, 64) // 0 is that of no webhook
	d.journal = append(d.journal, delivery)
	d.byID[delivery.ID] = delivery
	q := d.queues[delivery.webhookID]
	switch {
	case q == nil || delivery.State != DeliveryQueued && delivery.State != DeliveryInFlight && delivery.State != DeliveryRetrying:
	case delivery.NextAttempt.IsZero():
		delivery.State = DeliveryQueued
		q.pending = append(q.pending, delivery)
	default:
		q.later(delivery, delivery.NextAttempt)
	}
}

// restoreLimit counts the attempts of the journal against the rate limit.
func (q *queue) restoreLimit(journal []*Delivery) {
	if q.hook.RateLimit == 0 {
		return
	}
	for _, delivery := range journal {
		for _, a := range delivery.Attempts {
			if delivery.webhookID == q.hook.ID {
				q.starts = append(q.starts, a.Time)
			}
		}
	}
	slices.SortFunc(q.starts, time.Time.Compare)
	q.starts = q.starts[max(0, len(q.starts)-int(q.hook.RateLimit)):]
}

// forget leaves a queue with nothing to do, for good.
func (q *queue) forget() {
	if q.timer != nil {
		q.timer.Stop()
	}
	q.pending, q.retries, q.held, q.forgotten = nil, nil, nil, true
}

// records builds and checks the records of a snapshot.
func (sn *snapshot) records() (records, error) {
	out := newRecords()
	out.lastID = sn.LastID
	ids := idCheck{last: sn.LastID, seen: map[int64]bool{}}
	for i, a := range sn.Accounts {
		if a.ID == 0 || out.accounts[a.ID] != nil {
			return out, fmt.Errorf("accounts[%d]: account_id: want one of its own", i)
		}
		restored, err := a.restore(&ids)
		if err != nil {
			return out, fmt.Errorf("accounts[%d]: %w", i, err)
		}
		out.accounts[a.ID] = restored
	}
	for i, m := range sn.Messages {
		if err := sn.restoreMessage(&out, m); err != nil {
			return out, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	return out, sn.checkJournals(out.accounts)
}

func (sn *snapshot) restoreMessage(out *records, saved messageSnapshot) error {
	m := &saved.message
	switch {
	case m.ID == "" || out.messages[m.ID] != nil:
		return errors.New("id: want one of its own")
	case saved.Content < 0 || saved.Content >= len(sn.Contents):
		return errors.New("content: there is none such")
	case out.accounts[m.AccountID] == nil:
		return errors.New("account_id: there is none such")
	case m.Status == messageBounced && m.Bounce == nil:
		return errors.New("bounce: required")
	}
	if err := out.accounts[m.AccountID].checkOrigin(m); err != nil {
		return err
	}
	m.Content = sn.Contents[saved.Content]
	out.messages[m.ID] = m
	if m.sent() {
		out.outbox = append(out.outbox, m)
	}
	return nil
}

// checkOrigin wants what a message says that it came from.
func (a *account) checkOrigin(m *message) error {
	listed := m.ListID != 0
	switch m.SentBy {
	case events.SendingTypeCampaign:
		if a.Campaigns.byID[m.CampaignID] == nil {
			return errors.New("campaign_id: there is none such")
		}
		listed = true
	case events.SendingTypeWorkflow:
		listed = true
	case events.SendingTypeTransactional, events.SendingTypeEmailAPI:
	default:
		return fmt.Errorf("sent_by: %q is unknown", m.SentBy)
	}
	if l := a.Lists.byID[m.ListID]; listed && (l == nil || l.contacts.find(m.ContactID) == nil) {
		return errors.New("contact_id: there is none such on the list")
	}
	return nil
}

func (sn *snapshot) checkJournals(accounts map[int64]*account) error {
	hooks := map[string]bool{"": true}
	for _, a := range accounts {
		for _, h := range a.Webhooks.all {
			hooks[h.id()] = true
		}
	}
	for i, d := range sn.Deliveries {
		switch {
		case d.Delivery == nil || d.ID != deliveryID(i):
			return fmt.Errorf("deliveries[%d]: id: want %s", i, deliveryID(i))
		case !hooks[d.WebhookID]:
			return fmt.Errorf("deliveries[%d]: webhook_id: there is none such", i)
		case d.Tries < 0:
			return fmt.Errorf("deliveries[%d]: tries: want 0 or more", i)
		}
	}
	if slices.Contains(sn.Events, nil) {
		return errors.New("events: want objects")
	}
	return nil
}

func deliveryID(i int) string { return "dlv-" + strconv.Itoa(i+1) }

// idCheck finds ids that are missing, used twice or yet to come.
type idCheck struct {
	last int64
	seen map[int64]bool
}

func (c *idCheck) take(id int64) error {
	if id <= 0 || id > c.last || c.seen[id] {
		return fmt.Errorf("id %d: want one of its own, up to last_id", id)
	}
	c.seen[id] = true
	return nil
}

func (a accountSnapshot) restore(ids *idCheck) (*account, error) {
	out := &account{ID: a.ID, Tags: map[string]bool{}, lookups: map[int64]*lookupState{}}
	err := cmp.Or(
		restoreAll(&out.Templates, "templates", a.Templates, ids, func(t *template) (int64, error) { return t.ID, nil }),
		a.restoreLists(out, ids),
		restoreAll(&out.Campaigns, "campaigns", a.Campaigns, ids, func(c *campaign) (int64, error) {
			return c.ID, out.wantsList(c.ListID, c.Status == campaignScheduled || c.Status == campaignDelivering)
		}),
		restoreAll(&out.Workflows, "workflows", a.Workflows, ids, func(w *workflow) (int64, error) {
			return w.ID, out.wantsList(w.ListID, true)
		}),
		restoreAll(&out.Webhooks, "webhooks", a.Webhooks, ids, func(h *hook) (int64, error) {
			return h.ID, a.checkHook(h)
		}),
	)
	for _, tag := range a.Tags {
		out.Tags[tag] = true
	}
	out.Suppression = suppressionList{all: a.Suppressed, byAddress: map[string]bool{}}
	for _, e := range a.Suppressed {
		out.Suppression.byAddress[strings.ToLower(e.Email)] = true
	}
	return out, err
}

func (a accountSnapshot) checkHook(h *hook) error {
	if h.AccountID != a.ID {
		return errors.New("account_id: want the account's")
	}
	if !absoluteHTTP(h.URL) {
		return errors.New("url: want an absolute http or https URL")
	}
	if _, err := webhook.NewVerifier(webhook.Secret{Key: h.Secret, Hash: h.Hash}); err != nil {
		return errors.New("secret: want a key, and sha256 or sha512")
	}
	if h.RateLimit < 0 {
		return errors.New("rate_limit: want 0 or more")
	}
	return nil
}

// restoreAll fills a collection; check returns an item's id.
func restoreAll[T any](into *collection[T], name string, items []*T, ids *idCheck, check func(*T) (int64, error)) error {
	for i, item := range items {
		if item == nil {
			return fmt.Errorf("%s[%d]: want an object", name, i)
		}
		id, err := check(item)
		if err == nil {
			err = ids.take(id)
		}
		if err != nil {
			return fmt.Errorf("%s[%d]: %w", name, i, err)
		}
		into.add(id, item)
	}
	return nil
}

func (a *account) wantsList(id int64, required bool) error {
	if a.Lists.byID[id] == nil && (required || id != 0) {
		return fmt.Errorf("list_id %d: there is none such", id)
	}
	return nil
}

func (a accountSnapshot) restoreLists(out *account, ids *idCheck) error {
	for i, saved := range a.Lists {
		l := &saved.list
		if err := ids.take(l.ID); err != nil {
			return fmt.Errorf("lists[%d]: %w", i, err)
		}
		l.contacts = newContactTable()
		for j, c := range saved.Contacts {
			if err := l.restoreContact(c, ids); err != nil {
				return fmt.Errorf("lists[%d]: contacts[%d]: %w", i, j, err)
			}
		}
		out.Lists.add(l.ID, l)
	}
	return nil
}

func (l *list) restoreContact(c *contact, ids *idCheck) error {
	n := len(l.contacts.all)
	switch {
	case c == nil:
		return errors.New("want an object")
	case n > 0 && c.ID <= l.contacts.all[n-1].ID:
		return errors.New("id: want them in order")
	case l.contacts.at(c.Email) != nil:
		return errors.New("email: it is on the list already")
	}
	if err := ids.take(c.ID); err != nil {
		return err
	}
	l.contacts.add(c)
	return nil
}
