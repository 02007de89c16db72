package platform

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/feed"
	"example.com/emailplatform/mockserver/internal/problem"
)

// Restore replaces the whole state by that of a snapshot.
func (p *Platform) Restore(r io.Reader) error {
	var in snapshot
	if err := json.NewDecoder(r).Decode(&in); err != nil {
		return problem.Plainly(err)
	}
	if in.Version != snapshotVersion {
		return fmt.Errorf("version: want %d, not %d", snapshotVersion, in.Version)
	}
	restored, err := in.records()
	if err != nil {
		return err
	}
	return p.replace(restored, &in)
}

// Reset forgets everything.
func (p *Platform) Reset() {
	// Nothing in an empty state could be wrong; a closed server has none to lose.
	_ = p.replace(newRecords(), &snapshot{})
}

// ErrClosed is what a platform does no more.
var ErrClosed = errors.New("the server is closed")

// replace puts records in the place of those that there are.
func (p *Platform) replace(with records, from *snapshot) error {
	after, err := func() ([]func(), error) {
		p.whole.Lock()
		defer p.whole.Unlock()
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.closed {
			return nil, ErrClosed
		}
		p.stopCampaignsLocked()
		p.records = with
		p.deliver.Replace(with.webhooks(), from.State)
		return p.resumeCampaignsLocked(), nil
	}()
	for _, f := range after {
		f()
	}
	p.changes.Tell(feed.State, nil)
	return err
}

func (p *Platform) stopCampaignsLocked() {
	for _, a := range p.accounts {
		for _, c := range a.Campaigns.all {
			c.stop()
		}
	}
}

// resumeCampaignsLocked starts what is scheduled, and what was under way.
func (p *Platform) resumeCampaignsLocked() []func() {
	t := &tx{Platform: p, now: time.Now()}
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

// webhooks are those of all accounts.
func (r *records) webhooks() (all []delivery.Webhook) {
	for _, id := range slices.Sorted(maps.Keys(r.accounts)) {
		for _, h := range r.accounts[id].Webhooks.all {
			all = append(all, h.Webhook)
		}
	}
	return all
}
