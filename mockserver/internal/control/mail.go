package control

import (
	"io"
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

// mailHead is after which a mail's own head may begin.
var mailHead = regexp.MustCompile(`(?i)^\s*(<!doctype[^>]*>\s*)?(<html[^>]*>\s*)?(<head[^>]*>)?`)

// serveMailHTML shows the HTML of a message. Its links open a tab of their own:
// a frame with a mail must not turn into another site.
func (c *Control) serveMailHTML(w http.ResponseWriter, r *http.Request) {
	m, err := c.messageRecord(r.PathValue("id"))
	if err != nil {
		gateway.AnswerError(w, r, err)
		return
	}
	policy := mailPolicy + mailAlone
	if r.URL.Query().Get("remote") == "1" {
		policy = mailPolicy + mailRemote
	}
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	at := mailHead.FindStringIndex(m.HTML)[1]
	_, _ = io.WriteString(w, m.HTML[:at]+`<base target="_blank">`+m.HTML[at:])
}

// serveMailSource shows a message as it would travel.
func (c *Control) serveMailSource(w http.ResponseWriter, r *http.Request) {
	m, err := c.messageRecord(r.PathValue("id"))
	if err != nil {
		gateway.AnswerError(w, r, err)
		return
	}
	writePlain(w, []byte(mail.Source(m.Message)))
}
