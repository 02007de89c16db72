package control

import (
	"io"
	"mime"
	"net/http"
	"regexp"

	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/mail"
)

// mailPolicy is for the HTML of a mail, which is hostile by definition: no
// script runs, nothing is loaded, and its origin is its own, in a frame and also
// when somebody opens its address in a tab.
const mailPolicy = "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'self'; style-src 'unsafe-inline'; "

const (
	mailAlone  = "img-src data:; font-src data:"
	mailRemote = "img-src data: https: http:; font-src data: https: http:"
)

// mailRoutes show a message as it travels.
func (c *Control) mailRoutes() []route {
	return []route{
		{
			pattern: "GET outbox/{id}/html",
			does:    "The HTML of a message, under a policy that runs nothing.",
			query:   []param{number("remote", "1 lets it load pictures", 0, 1, 0)},
			handler: serving("text/html", c.serveMailHTML),
		},
		{
			pattern: "GET outbox/{id}/source",
			does:    "A message as RFC 5322 has it.",
			handler: serving("text/plain", c.serveMailSource),
		},
		{
			pattern: "GET outbox/{id}/eml",
			does:    "A message as a file that mail programs open: RFC 5322 and MIME in ASCII, text and HTML as alternatives.",
			handler: serving("message/rfc822", c.serveEML),
		},
		{
			pattern: "GET outbox/{id}/checks",
			does: "What is probably wrong with a message: links that lead nowhere, no text part, marketing without " +
				"List-Unsubscribe, HTML of more than 102 kB, pictures without a text.",
			handler: answering(c.checks),
		},
	}
}

// mailHead is after which a mail's own head may begin.
var mailHead = regexp.MustCompile(`(?i)^\s*(<!doctype[^>]*>\s*)?(<html[^>]*>\s*)?(<head[^>]*>)?`)

// serveMailHTML shows the HTML of a message. Its links open a tab of their own:
// a frame with a mail must not turn into another site.
func (c *Control) serveMailHTML(w http.ResponseWriter, r *request) {
	m, err := c.messageRecord(r.PathValue("id"))
	if err != nil {
		gateway.WriteError(w, r.Request, err)
		return
	}
	policy := mailPolicy + mailAlone
	if r.query["remote"] == "1" {
		policy = mailPolicy + mailRemote
	}
	writeMailHTML(w, m.HTML, policy)
}

// writeMailHTML shows HTML that somebody else wrote, under a policy.
func writeMailHTML(w http.ResponseWriter, html, policy string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	at := mailHead.FindStringIndex(html)[1]
	_, _ = io.WriteString(w, html[:at]+`<base target="_blank">`+html[at:])
}

// serveEML sends a message as a file.
func (c *Control) serveEML(w http.ResponseWriter, r *request) {
	m, err := c.messageRecord(r.PathValue("id"))
	if err != nil {
		gateway.WriteError(w, r.Request, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "message/rfc822")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": m.ID + ".eml"}))
	_, _ = w.Write(mail.EML(m.Message))
}

// findings is what the checks of a message found.
type findings struct {
	Findings []mail.Finding `json:"findings" means:"the findings; empty if there is none"`
}

func (c *Control) checks(r *request) (findings, error) {
	m, err := c.messageRecord(r.PathValue("id"))
	if err != nil {
		return findings{}, err
	}
	return findings{mail.Check(m.Message)}, nil
}

// serveMailSource shows a message as it would travel.
func (c *Control) serveMailSource(w http.ResponseWriter, r *request) {
	m, err := c.messageRecord(r.PathValue("id"))
	if err != nil {
		gateway.WriteError(w, r.Request, err)
		return
	}
	writePlain(w, []byte(mail.Source(m.Message)))
}
