package control

import (
	"cmp"
	"slices"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/problem"
)

// messageRoutes are what was sent, and what recipients do with it.
func (c *Control) messageRoutes() section {
	return section{
		title: "Messages",
		about: "What lets a recipient act answers the message as it is then.",
		routes: slices.Concat([]route{
			{
				pattern: "GET outbox",
				does:    "Messages that were sent. Those that were refused are not among them.",
				query: listed(
					ofAccount("the account that sent them"),
					text("to", "the recipient's whole address, without case"),
					choice("status", "what became of them", "delivered", "bounced"),
					choice("sent_by", "what sent them", named(sendingTypes())...),
					idOf("campaign_id", "the campaign that sent them"),
					idOf("workflow_id", "the workflow that sent them"),
				),
				handler: answering(c.outbox),
				example: example{query: "to=ada@example.org"},
			},
			{
				pattern: "GET outbox/{id}",
				does:    "A message with text, HTML, headers, links and the events about it; also one that was refused.",
				handler: answering(c.message),
			},
			{
				pattern: "DELETE outbox/{id}",
				does: "Takes a message out of the outbox, and answers 404 to its id from then on. The API knows its email, and " +
					"its events and deliveries stay.",
				handler: answering(c.deleteMessage),
			},
		}, c.mailRoutes(), c.recipientRoutes()),
	}
}

// recipientRoutes are what recipients do with a message.
func (c *Control) recipientRoutes() []route {
	return []route{
		{
			pattern: "POST outbox/{id}/bounce",
			does:    "The message bounces: hard, unless the body names another category.",
			handler: asRecipient(c, c.bounce),
			example: example{body: `{"category":"bounce_fm","diagnostic":"452 the mailbox is full"}`},
		},
		{
			pattern: "POST outbox/{id}/complain",
			does:    "The recipient reports the message as spam.",
			handler: asRecipient(c, c.complain),
			example: example{body: `{"provider":"Example Mail"}`},
		},
		{
			pattern: "POST outbox/{id}/open",
			does:    "The recipient opens the message.",
			handler: asRecipient(c, simply(c.Platform.Open)),
		},
		{
			pattern: "POST outbox/{id}/click",
			does:    "The recipient follows a link of the message: the first one, unless the body has another.",
			handler: asRecipient(c, c.click),
			example: example{body: `{"url":"https://shop.example/"}`},
		},
		{
			pattern: "POST outbox/{id}/unsubscribe",
			does:    "The recipient unsubscribes from the list.",
			handler: asRecipient(c, simply(c.Platform.Unsubscribe)),
		},
		{
			pattern: "POST outbox/{id}/global-unsubscribe",
			does:    "The recipient unsubscribes from all email.",
			handler: asRecipient(c, simply(c.Platform.GlobalUnsubscribe)),
		},
		{
			pattern: "POST outbox/{id}/confirm",
			does:    "The recipient follows the link of a confirmation email; 409 for any other message.",
			handler: asRecipient(c, simply(c.Platform.Confirm)),
			example: example{path: "outbox/{confirmation}/confirm"},
		},
	}
}

// sendingTypes are what can have sent a message.
func sendingTypes() []events.SendingType {
	return []events.SendingType{
		events.SendingTypeCampaign, events.SendingTypeWorkflow, events.SendingTypeTransactional, events.SendingTypeEmailAPI,
	}
}

func (c *Control) outbox(r *request) (recordList[platform.Summary], error) {
	q := listQueryOf(r)
	n, sent := c.Platform.NewestSent()
	return list(q, n, func(yield func(row[platform.Summary]) bool) {
		for m := range sent {
			wanted := q.allowsAccount(m.AccountID) && q.allows("to", m.To) && q.allows("status", m.Status) &&
				q.allows("sent_by", string(m.SentBy)) && q.allowsID("campaign_id", m.CampaignID) &&
				q.allowsID("workflow_id", m.WorkflowID)
			if !yield(row[platform.Summary]{m.ID, wanted, m.Words, m.Summary}) {
				return
			}
		}
	}), nil
}

func (c *Control) message(r *request) (*platform.Record, error) {
	return c.messageRecord(r.PathValue("id"))
}

func (c *Control) deleteMessage(r *request) (nothing, error) {
	id := r.PathValue("id")
	if _, err := c.messageRecord(id); err != nil {
		return nothing{}, err
	}
	return nothing{}, c.Platform.DeleteMessage(id)
}

func (c *Control) messageRecord(id string) (*platform.Record, error) {
	out := c.Platform.Message(id)
	if out == nil {
		return nil, problem.NotFound("message", id, "path", "id")
	}
	return out, nil
}

// asRecipient lets the recipient of a message act, and answers the message.
func asRecipient[T any](c *Control, act func(id string, in T) error) handler {
	return taking(func(r *request, in T) (*platform.Record, error) {
		id := r.PathValue("id")
		if _, err := c.messageRecord(id); err != nil {
			return nil, err
		}
		if err := act(id, in); err != nil {
			return nil, refused(err, "path", "id")
		}
		return c.messageRecord(id)
	})
}

// simply is an act that takes nothing.
func simply(act func(id string) error) func(string, nothing) error {
	return func(id string, _ nothing) error { return act(id) }
}

type bounceBody struct {
	Category   events.BounceCategory `json:"category,omitzero" means:"how it bounces; hard if left out"`
	Diagnostic string                `json:"diagnostic,omitzero" means:"what the receiving server says; the usual words of the category if left out"`
}

func (c *Control) bounce(id string, in bounceBody) error {
	return c.Platform.Bounce(id, cmp.Or(in.Category, events.BounceCategoryHard), in.Diagnostic)
}

type complainBody struct {
	Provider string `json:"provider,omitzero" means:"the mailbox provider that the recipient tells"`
}

func (c *Control) complain(id string, in complainBody) error {
	return c.Platform.Complain(id, in.Provider)
}

type clickBody struct {
	URL string `json:"url,omitzero" means:"the target of the link"`
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
