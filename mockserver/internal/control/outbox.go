package control

import (
	"cmp"
	"mime"
	"net/http"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/mail"
	"example.com/emailplatform/mockserver/internal/platform"
)

func (c *Control) messageRoutes() []route {
	return []route{
		listRoute("GET outbox", c.outbox()),
		handle("GET outbox/{id}", byID(c.message)),
		handle("DELETE outbox/{id}", byID(c.deleteMessage)),
		handle("POST outbox/{id}/restore", byID(c.restoreMessage)),
		handle("GET outbox/{id}/html", c.messageResponse("text/html", writeHTML), number("remote", "1 allows remote images and fonts", 0, 1, "0")),
		handle("GET outbox/{id}/source", c.messageResponse("text/plain", writeSource)),
		handle("GET outbox/{id}/eml", c.messageResponse("message/rfc822", writeEML)),
		handle("GET outbox/{id}/checks", byID(c.checks)),
		handle("POST outbox/{id}/bounce", recipientAction(c, c.bounce)),
		handle("POST outbox/{id}/complain", recipientAction(c, c.complain)),
		handle("POST outbox/{id}/open", recipientAction(c, withoutBody(c.Platform.Open))),
		handle("POST outbox/{id}/click", recipientAction(c, c.click)),
		handle("POST outbox/{id}/unsubscribe", recipientAction(c, withoutBody(c.Platform.Unsubscribe))),
		handle("POST outbox/{id}/global-unsubscribe", recipientAction(c, withoutBody(c.Platform.GlobalUnsubscribe))),
		handle("POST outbox/{id}/confirm", recipientAction(c, withoutBody(c.Platform.Confirm))),
	}
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

func (c *Control) outbox() listing[platform.Sent, platform.Summary] {
	return listing[platform.Sent, platform.Summary]{
		find: every(c.Platform.NewestSent),
		id:   func(m platform.Sent) string { return m.ID },
		text: func(to []byte, m platform.Sent) []byte {
			return m.AppendText(lines(to, m.ID, m.To, m.Subject(), m.From.Name, m.From.Email, m.Status))
		},
		record: platform.Sent.Summary,
		filters: []filter[platform.Sent]{
			whereAccount("the account that sent the messages", func(m platform.Sent) int64 { return m.AccountID }),
			where(text("to", "the complete address of the recipient, ignoring case"), func(m platform.Sent) string { return m.To }),
			where(choice("status", "the status of the messages", "delivered", "bounced"), func(m platform.Sent) string { return m.Status }),
			where(choice("sent_by", "the sending type of the messages", named(sendingTypes())...),
				func(m platform.Sent) string { return string(m.SentBy) }),
			whereID(idOf("campaign_id", "the id of the campaign that sent the messages"), func(m platform.Sent) int64 { return m.CampaignID }),
			whereID(idOf("workflow_id", "the id of the workflow that sent the messages"), func(m platform.Sent) int64 { return m.WorkflowID }),
		},
	}
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
		return nil, apierror.NotFound("deleted message", id, "path", "id")
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
			return apierror.Invalid("must be set because the message has no link", "body", "url")
		}
		in.URL = m.Links[0]
	}
	return c.Platform.Click(id, in.URL)
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
		return findings{}, apierror.NotFound("message", id, "path", "id")
	}
	return findings{found}, nil
}
