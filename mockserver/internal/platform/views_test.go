package platform

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"example.com/emailplatform/mockserver/internal/api"
)

// Reading the outbox does not hold the lock of the platform. Each message is read once, in order.
func TestOutboxConcurrent(t *testing.T) {
	p := restored(t, oneCampaign(time.Now().Add(time.Hour)))
	ctx := WithCaller(t.Context(), &Caller{AccountID: 1})
	const more = 3*256 - 1 // and the one that was there
	for i := range more {
		succeed(t)(p.SubmitEmail(ctx, submission(fmt.Sprintf("u%d@example.org", i%5))))
	}
	n, newest := p.NewestSent()
	var ids []string
	for m := range newest {
		ids = append(ids, m.Summary().ID)
		if err := p.Open(m.ID); err != nil { // takes the lock
			t.Fatal(err)
		}
		if len(ids)%100 == 0 {
			succeed(t)(p.SubmitEmail(ctx, submission("later@example.org")))
		}
	}
	slices.Reverse(ids)
	all := p.Outbox()
	if n != more+1 || len(ids) != n || len(all) != n+n/100 {
		t.Fatalf("%d of %d messages came, and %d are there in the end", len(ids), n, len(all))
	}
	for i, id := range ids {
		if all[i].ID != id || all[i].Opens != 1 {
			t.Fatalf("message %d is %s, opened %d times, and came as %s", i, all[i].ID, all[i].Opens, id)
		}
	}
	if to := p.OutboxTo("U3@example.ORG"); len(to) != more/5 {
		t.Errorf("%d messages to one of five", len(to))
	}
}

func submission(to string) api.SubmitEmailRequestObject {
	return api.SubmitEmailRequestObject{Body: &api.EmailSubmission{
		Email: to, Sender: api.Sender{Email: "s@example.org"}, Content: api.EmailContent{Subject: "S", Text: "T"},
	}}
}

// A deleted message is omitted, and a concurrent reader gets all others.
func TestDeleteMessageConcurrent(t *testing.T) {
	p := restored(t, oneCampaign(time.Now().Add(time.Hour)))
	ctx := WithCaller(t.Context(), &Caller{AccountID: 1})
	for range 500 {
		succeed(t)(p.SubmitEmail(ctx, submission("a@example.org")))
	}
	before, newest := p.NewestSent()
	all := p.Outbox()
	seen := 0
	for range newest {
		if seen == 0 {
			for _, m := range all[:10] {
				must(t, p.DeleteMessage(m.ID))
			}
		}
		seen++
	}
	after, again := p.NewestSent()
	left := 0
	for range again {
		left++
	}
	if seen != before || after != before-10 || left != after || len(p.Outbox()) != after || len(p.OutboxTo("A@example.org")) != after {
		t.Errorf("of %d messages %d came, %d are left and %d come, 10 were deleted", before, seen, after, left)
	}
}

// Reading contacts does not hold the lock of the platform.
func TestContactsConcurrent(t *testing.T) {
	p := restored(t, oneCampaign(time.Now().Add(time.Hour)))
	l := &list{api.List{ListID: 900}, newContactTable()}
	p.accounts[1].Lists.add(l.ListID, l)
	for i := range int64(700 - 1) {
		l.contacts.add(&contact{Contact: api.Contact{ID: i + 2, Email: fmt.Sprintf("u%d@example.org", i)}})
	}
	n, newest, ok := p.NewestMembers(900)
	last, seen := int64(1<<62), 0
	for m := range newest {
		if m.ID >= last {
			t.Fatalf("%d comes after %d", m.ID, last)
		}
		last = m.ID
		seen++
		_ = p.Lookups() // takes the lock
	}
	if !ok || n != 700-1 || seen != n {
		t.Errorf("%d of %d contacts came, %v", seen, n, ok)
	}
	if _, _, ok := p.NewestMembers(901); ok {
		t.Error("there is a list that there is not")
	}
}

// TestOutboxMemory: a list of messages takes as much memory per message for many messages as for few.
func TestOutboxMemory(t *testing.T) {
	p := restored(t, oneCampaign(time.Now().Add(time.Hour)))
	ctx := WithCaller(t.Context(), &Caller{AccountID: 1})
	email := submission("a@example.org")
	email.Body.Sender.Name = "Shop"
	perMessage := func(n int) uint64 {
		for i := len(p.Outbox()); i < n; i++ {
			succeed(t)(p.SubmitEmail(ctx, email))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		p.Outbox()
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) / uint64(n)
	}
	few, many := perMessage(100), perMessage(5000)
	if many > 2048 || many > few*5/4 {
		t.Errorf("%d bytes per message of 5,000 and %d of 100, want at most 2,048", many, few)
	}
}
