package control

import (
	"cmp"
	"net/http"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/problem"
)

func (c *Control) outbox(r *http.Request) (any, error) {
	q, err := listQueryOf(r)
	if err != nil {
		return nil, err
	}
	return q.list(func(yield func(row) bool) {
		for m := range c.Platform.NewestSent() {
			wanted := q.allowsAccount(m.AccountID) && q.allows("to", m.To) && q.allows("status", m.Status) &&
				q.allows("sent_by", string(m.SentBy))
			if !yield(row{m.ID, wanted, m.Words, func() any { return m.Summary() }}) {
				return
			}
		}
	}), nil
}

func (c *Control) message(r *http.Request) (any, error) {
	return c.messageRecord(r.PathValue("id"))
}

func (c *Control) messageRecord(id string) (*platform.Record, error) {
	out := c.Platform.Message(id)
	if out == nil {
		return nil, problem.NotFound("message", id, "path", "id")
	}
	return out, nil
}

// asRecipient lets the recipient of a message act, and answers the message.
func asRecipient[T any](c *Control, act func(id string, in T) error) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		id := r.PathValue("id")
		if _, err := c.messageRecord(id); err != nil {
			return nil, err
		}
		in, err := bodyOf[T](r)
		if err != nil {
			return nil, err
		}
		if err := act(id, in); err != nil {
			return nil, refused(err, "path", "id")
		}
		return c.messageRecord(id)
	}
}

// simply is an act that takes nothing.
func simply(act func(id string) error) func(string, struct{}) error {
	return func(id string, _ struct{}) error { return act(id) }
}

type bounceBody struct {
	Category   events.BounceCategory `json:"category"`
	Diagnostic string                `json:"diagnostic"`
}

func (c *Control) bounce(id string, in bounceBody) error {
	in.Category = cmp.Or(in.Category, events.BounceCategoryHard)
	if !platform.KnownCategory(in.Category) {
		return problem.Invalid("no such category", "body", "category")
	}
	return c.Platform.Bounce(id, in.Category, in.Diagnostic)
}

type complainBody struct {
	Provider string `json:"provider"`
}

func (c *Control) complain(id string, in complainBody) error {
	return c.Platform.Complain(id, in.Provider)
}

type clickBody struct {
	URL string `json:"url"`
}

// click follows the given link of a message, or its first one.
func (c *Control) click(id string, in clickBody) error {
	if in.URL != "" {
		return c.Platform.Click(id, in.URL)
	}
	m, err := c.messageRecord(id)
	if err != nil {
		return err
	}
	if len(m.Links) == 0 {
		return problem.Invalid("the message has no link: say which", "body", "url")
	}
	return c.Platform.Click(id, m.Links[0])
}
