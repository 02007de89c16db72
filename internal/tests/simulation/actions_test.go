package simulation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mockserver"
)

func (a Send) act(w *world, id string) {
	c := w.callers[a.From]
	to := id + "@example.org"
	if a.Contact > 0 && len(w.contacts) > 0 {
		to = w.contacts[(a.Contact-1)%len(w.contacts)]
	}
	var got client.SubmittedEmail
	d := c.do(&call{id: id, what: "sends to " + to}, func(ctx context.Context, api *client.Client) (err error) {
		got, err = api.Emails.Send(ctx, client.EmailSubmission{
			To: to, Sender: client.Sender{Email: "shop@example.com"}, Content: client.EmailContent{Subject: id, Text: "Hello"},
		})
		return err
	}, func(d *call) {
		if got.ID != "" {
			c.knows(got.ID)
		}
		if d.err == nil && got.ID == "" {
			w.violate(nilIsComplete, "%s: no id", id)
		}
	})
	w.record.inTheEnd(func(outbox map[string][]mockserver.Message) { w.checkSent(d, id, got, outbox[id]) })
}

// checkSent compares the outbox with the result of the call.
func (w *world) checkSent(d *call, id string, told client.SubmittedEmail, sent []mockserver.Message) {
	w.checkDone(d, len(sent), told.Status == "")
	if d.heard() && d.err == nil && len(sent) == 1 && told.ID != "" && told.ID != sent[0].ID {
		w.violate(nilIsComplete, "%s: told the id %s, sent as %s", id, told.ID, sent[0].ID)
	}
}

// checkDone compares how often an operation was processed with the result of its call. maybeNot means that nil does not
// prove that it was processed.
func (w *world) checkDone(d *call, n int, maybeNot bool) {
	switch {
	case d != nil && n > 1:
		w.violate(neverTwice, "%s %s: done %d times, told %v", d.id, d.what, n, d.err)
	case !d.heard() || errors.Is(d.err, client.ErrOutcomeUnknown):
	case d.err == nil && n == 0 && !maybeNot:
		w.violate(nilIsDone, "%s %s: was not done", d.id, d.what)
	case d.err != nil && n > 0:
		w.violate(failedDidNothing, "%s %s: was done, told %v", d.id, d.what, d.err)
	}
}

func (a React) act(w *world, id string) {
	srv := w.platform.now()
	sent := srv.Outbox()
	if len(sent) == 0 || !w.platform.proc.isUp() {
		return
	}
	m := sent[len(sent)-1].ID
	react := map[Reaction]func(string) error{
		Bounces:      func(m string) error { return srv.Bounce(m, mockserver.HardBounce) },
		Complains:    func(m string) error { return srv.Complain(m, "mailbox") },
		Opens:        srv.Open,
		Leaves:       srv.Unsubscribe,
		LeavesForAll: srv.GlobalUnsubscribe,
	}[a.How]
	w.trace.add("recipient", "%s of %s: %v", id, m, react(m))
}

func (a Lookup) act(w *world, id string) {
	c := w.callers[a.From]
	email := c.newest()
	if email == "" {
		return
	}
	c.lookUp(id, email, 0)
	if a.Cancel > 0 {
		c.lookUp(id+"b", email, a.Cancel)
	}
}

// lookUp looks up an email. A canceled call must end even if it waits for the rate limiter.
func (c *caller) lookUp(id, email string, cancel time.Duration) {
	var got client.Email
	c.do(&call{id: id, what: "looks up " + email}, func(ctx context.Context, api *client.Client) (err error) {
		if cancel > 0 {
			var stop context.CancelFunc
			ctx, stop = context.WithTimeout(ctx, cancel)
			defer stop()
		}
		got, err = api.Emails.Get(ctx, email)
		return err
	}, func(d *call) {
		if d.err == nil && got.ID != email {
			c.w.violate(nilIsComplete, "%s: the id is %q, want %q", id, got.ID, email)
		}
		if most := cancel + 10*time.Millisecond; cancel > 0 && d.took > most {
			c.w.violate(ends, "%s took %v after it was canceled after %v: %v", id, d.took, cancel, d.err)
		}
	})
}

func (a Refuse) act(w *world, _ string)  { w.arm(a.On, a) }
func (a Silence) act(w *world, _ string) { w.arm(a.On, a) }
func (a Cut) act(w *world, _ string)     { w.arm(a.On, a) }
func (a Handle) act(w *world, _ string)  { w.arm(a.Replica, a) }

func (a Crash) act(w *world, _ string) {
	w.process(a.Process).crash(a.For)
}

func (a Fault) act(w *world, _ string) {
	if _, err := w.platform.now().Inject(a.Fault); err != nil {
		panic(fmt.Sprintf("simulation: %+v: %v", a, err))
	}
}

func (w *world) arm(on string, a Action) { w.link(on).arm(a) }

func (w *world) link(name string) *link {
	l := w.net.links[name]
	if l == nil {
		panic("simulation: there is no link " + name)
	}
	return l
}

func (w *world) process(name string) *process {
	p := w.processes[name]
	if p == nil {
		panic("simulation: there is no process " + name)
	}
	return p
}
