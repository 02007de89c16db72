package control

import (
	"cmp"
	"mime"
	"net/http"
	"slices"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/mail"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/problem"
)

func (c *Control) messageRoutes() section {
	return section{
		title: "Messages",
		intro: "Routes that simulate a recipient action return the message after the action.",
		routes: slices.Concat([]route{
			handle("GET outbox", noInput(c.outbox),
				"Sent messages. The list does not contain messages that the Email API rejected.").
				filters(
					ofAccount("the account that sent the messages"),
					text("to", "the complete address of the recipient, ignoring case"),
					choice("status", "the status of the messages", "delivered", "bounced"),
					choice("sent_by", "the sending type of the messages", named(sendingTypes())...),
					idOf("campaign_id", "the id of the campaign that sent the messages"),
					idOf("workflow_id", "the id of the workflow that sent the messages"),
				).
				try(example{query: "to=ada@example.org"}),
			handle("GET outbox/{id}", byID(c.message),
				"A message with its text, HTML, headers, links and events. The route also returns rejected messages."),
			handle("DELETE outbox/{id}", byID(c.deleteMessage),
				"Removes a message from the outbox, so `GET /_mock/outbox/{id}` returns 404. The email API still returns the email, and the "+
					"events and deliveries of the message remain."),
			handle("POST outbox/{id}/restore", byID(c.restoreMessage),
				"Restores a deleted message at its previous position in the outbox."),
		}, c.mailRoutes(), c.recipientRoutes()),
	}
}

func (c *Control) recipientRoutes() []route {
	return []route{
		handle("POST outbox/{id}/bounce", recipientAction(c, c.bounce),
			"Simulates a bounce of the message, by default a hard bounce.").
			try(example{body: `{"category":"bounce_fm","diagnostic":"452 the mailbox is full"}`}),
		handle("POST outbox/{id}/complain", recipientAction(c, c.complain),
			"Simulates the recipient reporting the message as spam.").try(example{body: `{"provider":"Example Mail"}`}),
		c.recipientRoute("open", "Simulates the recipient opening the message.", c.Platform.Open),
		handle("POST outbox/{id}/click", recipientAction(c, c.click),
			"Simulates a click on a link in the message.").
			try(example{body: `{"url":"https://shop.example/"}`}),
		c.recipientRoute("unsubscribe", "Simulates the recipient unsubscribing from the list.", c.Platform.Unsubscribe),
		c.recipientRoute("global-unsubscribe", "Simulates the recipient unsubscribing from all email.", c.Platform.GlobalUnsubscribe),
		handle("POST outbox/{id}/confirm", recipientAction(c, withoutBody(c.Platform.Confirm)),
			"Simulates a click on the link in a confirmation email. Returns 409 if the message is not a confirmation email.").
			try(example{path: "outbox/{confirmation}/confirm"}),
	}
}

func (c *Control) recipientRoute(name, summary string, act func(id string) error) route {
	return handle("POST outbox/{id}/"+name, recipientAction(c, withoutBody(act)), summary)
}

// recipientAction returns a handler that simulates a recipient action and
// responds with the message.
func recipientAction[T any](c *Control, act func(id string, in T) error) handler {
	return jsonBody(func(r *request, in T) (*platform.Record, error) {
		id := r.PathValue("id")
		if _, err := c.message(id); err != nil {
			return nil, err
		}
		if err := act(id, in); err != nil {
			return nil, conflict(err, "path", "id")
		}
		return c.message(id)
	})
}

func withoutBody(act func(id string) error) func(string, nothing) error {
	return func(id string, _ nothing) error { return act(id) }
}

func (c *Control) outbox(r *request) (recordList[platform.Summary], error) {
	q := listQueryOf(r)
	n, sent := c.Platform.NewestSent()
	return list(q, n, sent, view[platform.Sent, platform.Summary]{
		id: func(m platform.Sent) string { return m.ID },
		allowed: func(m platform.Sent) bool {
			return q.allowsAccount(m.AccountID) && q.allows("to", m.To) && q.allows("status", m.Status) &&
				q.allows("sent_by", string(m.SentBy)) && q.allowsID("campaign_id", m.CampaignID) && q.allowsID("workflow_id", m.WorkflowID)
		},
		text: func(to []byte, m platform.Sent) []byte {
			return lines(to, m.ID, m.To, m.Subject(), m.From.Name, m.From.Email, m.Status)
		},
		record: platform.Sent.Summary,
	}), nil
}

func (c *Control) message(id string) (*platform.Record, error) {
	return found("message", id, c.Platform.Message(id))
}

func (c *Control) deleteMessage(id string) (nothing, error) {
	if _, err := c.message(id); err != nil {
		return nothing{}, err
	}
	return nothing{}, c.Platform.DeleteMessage(id)
}

func (c *Control) restoreMessage(id string) (*platform.Record, error) {
	if err := c.Platform.RestoreMessage(id); err != nil {
		return nil, problem.NotFound("deleted message", id, "path", "id")
	}
	return c.message(id)
}

type bounceBody struct {
	Category   events.BounceCategory `json:"category,omitzero" doc:"the category of the bounce; bounce_hb (hard bounce) by default"`
	Diagnostic string                `json:"diagnostic,omitzero" doc:"the response of the receiving mail server; the default depends on the category"`
}

func (c *Control) bounce(id string, in bounceBody) error {
	return c.Platform.Bounce(id, cmp.Or(in.Category, events.BounceCategoryHard), in.Diagnostic)
}

type complainBody struct {
	Provider string `json:"provider,omitzero" doc:"the mailbox provider that receives the spam report; Mailbox.example by default"`
}

func (c *Control) complain(id string, in complainBody) error {
	return c.Platform.Complain(id, in.Provider)
}

type clickBody struct {
	URL string `json:"url,omitzero" doc:"the target of the link; by default the first link in the message"`
}

func (c *Control) click(id string, in clickBody) error {
	if in.URL == "" {
		m, err := c.message(id)
		if err != nil {
			return err
		}
		if len(m.Links) == 0 {
			return problem.Invalid("must be set because the message has no link", "body", "url")
		}
		in.URL = m.Links[0]
	}
	return c.Platform.Click(id, in.URL)
}

func (c *Control) mailRoutes() []route {
	return []route{
		handle("GET outbox/{id}/html", c.messageResponse("text/html", writeHTML),
			"The HTML of a message. A Content-Security-Policy header blocks scripts.").
			params(number("remote", "1 allows remote images and fonts", 0, 1, 0)),
		handle("GET outbox/{id}/source", c.messageResponse("text/plain", writeSource),
			"The source of a message, in RFC 5322 format."),
		handle("GET outbox/{id}/eml", c.messageResponse("message/rfc822", writeEML),
			"A message as an `.eml` file, which mail programs can open. The file contains only ASCII characters. If the message has text "+
				"and HTML, the file contains both as MIME alternatives."),
		handle("GET outbox/{id}/checks", byID(c.checks),
			"Probable problems in a message, such as merge tags without a value, links without a valid target, and images "+
				"without alternative text. The problems also include a missing text part, HTML larger than 102 kB, and HTML or CSS that "+
				"common email clients do not support. For marketing email, the problems include a missing List-Unsubscribe "+
				"header and a missing unsubscribe link."),
	}
}

func (c *Control) messageResponse(media string, write func(http.ResponseWriter, *request, *platform.Record)) handler {
	return rawResponse(media, func(w http.ResponseWriter, r *request) error {
		m, err := c.message(r.PathValue("id"))
		if err == nil {
			write(w, r, m)
		}
		return err
	})
}

func writeHTML(w http.ResponseWriter, r *request, m *platform.Record) {
	policy := mailPolicy + mailAlone
	if r.query["remote"] == "1" {
		policy = mailPolicy + mailRemote
	}
	writeMailHTML(w, m.HTML, policy)
}

func writeSource(w http.ResponseWriter, _ *request, m *platform.Record) {
	writePlain(w, []byte(mail.Source(m.Message)))
}

func writeEML(w http.ResponseWriter, _ *request, m *platform.Record) {
	w.Header().Set("Content-Type", "message/rfc822")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": m.ID + ".eml"}))
	_, _ = w.Write(mail.EML(m.Message))
}

type findings struct {
	Findings []mail.Finding `json:"findings" doc:"the problems; empty if no problem was found"`
}

func (c *Control) checks(id string) (findings, error) {
	found, ok := c.Platform.Checks(id)
	if !ok {
		return findings{}, problem.NotFound("message", id, "path", "id")
	}
	return findings{found}, nil
}
