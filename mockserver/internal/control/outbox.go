package control

import (
	"archive/zip"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"math"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/mail"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/schema"
	"example.com/emailplatform/mockserver/model"
)

func (c *Control) messageRoutes() []route {
	return []route{
		listRoute("GET outbox", c.outbox()),
		handle("GET outbox.json", c.export("application/json", writeMessages), c.outbox().selectors()...),
		handle("GET outbox.zip", c.export("application/zip", writeArchive), c.outbox().selectors()...),
		handle("POST outbox/actions", jsonBody(c.actOnMessages), c.outbox().selectors()...),
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
	return jsonBody(func(r *request, in T) (*platform.MessageDetails, error) {
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

func withoutBody(act func(id string) error) func(string, emptyBody) error {
	return func(id string, _ emptyBody) error { return act(id) }
}

func (c *Control) outbox() listing[platform.OutboxMessage, platform.MessageSummary] {
	return listing[platform.OutboxMessage, platform.MessageSummary]{
		find: every(c.Platform.NewestInOutbox),
		id:   func(m platform.OutboxMessage) string { return m.ID },
		text: func(to []byte, m platform.OutboxMessage) []byte {
			return m.AppendText(lines(to, m.ID, m.To, m.Subject(), m.From.Name, m.From.Email, m.Status))
		},
		record: platform.OutboxMessage.Summary,
		filters: []filter[platform.OutboxMessage]{
			whereAccount("the account that sent the messages", func(m platform.OutboxMessage) int64 { return m.AccountID }),
			where(text("to", "the complete address of the recipient, ignoring case"), func(m platform.OutboxMessage) string { return m.To }),
			where(choice("status", "the status of the messages", platform.OutboxStatuses()...), func(m platform.OutboxMessage) string { return m.Status }),
			where(choice("sent_by", "the sending type of the messages", schema.Texts(sendingTypes())...),
				func(m platform.OutboxMessage) string { return string(m.SentBy) }),
			whereID(idOf("campaign_id", "the id of the campaign that sent the messages"), func(m platform.OutboxMessage) int64 { return m.CampaignID }),
			whereID(idOf("workflow_id", "the id of the workflow that sent the messages"), func(m platform.OutboxMessage) int64 { return m.WorkflowID }),
		},
	}
}

// export returns a handler that streams the selected messages, newest first.
func (c *Control) export(media string, write func(io.Writer, iter.Seq[model.Message])) handler {
	return rawResponse(media, func(w http.ResponseWriter, r *request) error {
		w.Header().Set("Content-Type", media)
		write(w, func(yield func(model.Message) bool) {
			for m := range c.outbox().selected(r) {
				if !yield(c.Platform.Rendered(m)) {
					return
				}
			}
		})
		return nil
	})
}

// writeMessages writes a JSON array. It ignores errors, because they mean that the client is gone, and the
// sequence then ends anyway.
func writeMessages(w io.Writer, messages iter.Seq[model.Message]) {
	separator, encoder := "[", json.NewEncoder(w)
	for m := range messages {
		_, _ = io.WriteString(w, separator)
		_ = encoder.Encode(m)
		separator = ","
	}
	_, _ = io.WriteString(w, strings.TrimPrefix(separator, ",")+"]\n")
}

func writeArchive(w io.Writer, messages iter.Seq[model.Message]) {
	archive := zip.NewWriter(w)
	for m := range messages {
		file, err := archive.CreateHeader(&zip.FileHeader{Name: url.PathEscape(m.ID) + ".eml", Method: zip.Deflate, Modified: m.Time})
		if err == nil {
			_, _ = file.Write(mail.EML(m))
		}
	}
	_ = archive.Close()
}

type messageAction string

type actionBody struct {
	Action  messageAction `json:"action" doc:"the action"`
	IDs     []string      `json:"ids,omitzero" doc:"the ids of the messages, which must also match the parameters; by default all messages that match"`
	Percent float64       `json:"percent,omitzero" above:"0" max:"100" doc:"the share of the messages, chosen at random with the seed for random faults; 100 by default"`
	bounceBody
	complainBody
	clickBody
}

// bulkResult is the result of an action on several records.
type bulkResult struct {
	IDs    []string `json:"ids" doc:"the ids of the records that the action succeeded for"`
	Failed int      `json:"failed" doc:"the number of records that the action failed for"`
	Error  string   `json:"error,omitzero" doc:"the first error"`
}

func (b *bulkResult) add(id string, err error) {
	if err == nil {
		b.IDs = append(b.IDs, id)
		return
	}
	b.Failed++
	b.Error = cmp.Or(b.Error, err.Error())
}

type actionResult struct {
	bulkResult
	Events []delivery.EventSummary `json:"events" doc:"the events of the messages that occurred, newest first, at most 10,000"`
}

// check returns an error if the body lacks a field that the action needs, or contains a field that the
// action does not read.
func (in actionBody) check() error {
	for _, field := range []struct {
		name   string
		given  bool
		action messageAction
	}{
		{"category", in.Category != "", "bounce"},
		{"diagnostic", in.Diagnostic != "", "bounce"},
		{"provider", in.Provider != "", "complain"},
		{"url", in.URL != "", "click"},
	} {
		if field.given && field.action != in.Action {
			return apierror.Invalid("must be omitted, because "+string(in.Action)+" does not read it", "body", field.name)
		}
	}
	if in.Action == "restore" && in.IDs == nil {
		return apierror.Invalid("is required by restore", "body", "ids")
	}
	return nil
}

func (c *Control) actOnMessages(r *request, in actionBody) (actionResult, error) {
	if err := in.check(); err != nil {
		return actionResult{}, err
	}
	ids, search := in.IDs, c.outbox().search(r.query)
	if ids == nil {
		for m := range c.outbox().selected(r) {
			ids = append(ids, m.ID)
		}
		slices.Reverse(ids) // the oldest message first
	}
	if in.Percent > 0 {
		c.Faults.Random().Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		ids = ids[:int(math.Round(float64(len(ids))*in.Percent/100))]
	}
	out := actionResult{bulkResult{IDs: []string{}}, []delivery.EventSummary{}}
	act, before, done := c.messageActions(in)[in.Action], c.Deliveries.NewestEvents(), map[string]bool{}
	for _, id := range ids {
		m, exists := c.Platform.Sent(id)
		err := errors.New("message " + id + " does not match the parameters")
		if !exists || search.matches(m) {
			err = act(id)
		}
		out.add(id, err)
		done[id] = done[id] || err == nil
	}
	for _, e := range c.Deliveries.NewestEvents() {
		if len(before) > 0 && e.ID == before[0].ID {
			break
		}
		if done[e.MessageID] {
			out.Events = append(out.Events, delivery.EventSummary{FiredEvent: *e})
		}
	}
	return out, nil
}

func (c *Control) messageActions(in actionBody) map[messageAction]func(id string) error {
	p := c.Platform
	return map[messageAction]func(id string) error{
		"bounce":             func(id string) error { return c.bounce(id, in.bounceBody) },
		"complain":           func(id string) error { return c.complain(id, in.complainBody) },
		"open":               p.Open,
		"click":              func(id string) error { return c.click(id, in.clickBody) },
		"unsubscribe":        p.Unsubscribe,
		"global-unsubscribe": p.GlobalUnsubscribe,
		"confirm":            p.Confirm,
		"delete":             p.DeleteMessage,
		"restore":            p.RestoreMessage,
	}
}

func (c *Control) message(id string) (*platform.MessageDetails, error) {
	return found("message", id, c.Platform.Message(id))
}

func (c *Control) deleteMessage(id string) (emptyBody, error) {
	if _, err := c.message(id); err != nil {
		return emptyBody{}, err
	}
	return emptyBody{}, c.Platform.DeleteMessage(id)
}

func (c *Control) restoreMessage(id string) (*platform.MessageDetails, error) {
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

func (c *Control) messageResponse(media string, write func(http.ResponseWriter, *request, *platform.MessageDetails)) handler {
	return rawResponse(media, func(w http.ResponseWriter, r *request) error {
		m, err := c.message(r.PathValue("id"))
		if err == nil {
			write(w, r, m)
		}
		return err
	})
}

func writeHTML(w http.ResponseWriter, r *request, m *platform.MessageDetails) {
	policy := mailPolicy + mailAlone
	if r.query["remote"] == "1" {
		policy = mailPolicy + mailRemote
	}
	writeMailHTML(w, m.HTML, policy)
}

func writeSource(w http.ResponseWriter, _ *request, m *platform.MessageDetails) {
	writePlain(w, []byte(mail.Source(m.Message)))
}

func writeEML(w http.ResponseWriter, _ *request, m *platform.MessageDetails) {
	w.Header().Set("Content-Type", "message/rfc822")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": m.ID + ".eml"}))
	_, _ = w.Write(mail.EML(m.Message))
}

type findings struct {
	Findings []model.Finding `json:"findings" doc:"the problems"`
}

func (c *Control) checks(id string) (findings, error) {
	found, ok := c.Platform.Checks(id)
	if !ok {
		return findings{}, apierror.NotFound("message", id, "path", "id")
	}
	return findings{found}, nil
}
