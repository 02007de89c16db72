package control

import (
	"io"
	"mime"
	"net/http"
	"regexp"

	"example.com/emailplatform/mockserver/internal/mail"
	"example.com/emailplatform/mockserver/internal/platform"
)

// mailPolicy is for the HTML of an email, which is not trusted: no script runs,
// nothing is loaded, and it has its own origin, in a frame and in a tab.
const mailPolicy = "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'self'; style-src 'unsafe-inline'; "

const (
	mailAlone  = "img-src data:; font-src data:"
	mailRemote = "img-src data: https: http:; font-src data: https: http:"
)

// mailRoutes show a message in several formats.
func (c *Control) mailRoutes() []route {
	return []route{
		{
			pattern: "GET outbox/{id}/html",
			summary: "The HTML of a message, under a policy that runs nothing.",
			query:   []param{number("remote", "1 allows remote images", 0, 1, 0)},
			handler: c.messageResponse("text/html", func(w http.ResponseWriter, r *request, m *platform.Record) {
				sources := mailAlone
				if r.query["remote"] == "1" {
					sources = mailRemote
				}
				writeMailHTML(w, m.HTML, mailPolicy+sources)
			}),
		},
		{
			pattern: "GET outbox/{id}/source",
			summary: "The source of a message (RFC 5322).",
			handler: c.messageResponse("text/plain", func(w http.ResponseWriter, _ *request, m *platform.Record) {
				writePlain(w, []byte(mail.Source(m.Message)))
			}),
		},
		{
			pattern: "GET outbox/{id}/eml",
			summary: "A message as a file for mail programs: RFC 5322 and MIME in ASCII, text and HTML as alternatives.",
			handler: c.messageResponse("message/rfc822", func(w http.ResponseWriter, _ *request, m *platform.Record) {
				h := w.Header()
				h.Set("Content-Type", "message/rfc822")
				h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": m.ID + ".eml"}))
				_, _ = w.Write(mail.EML(m.Message))
			}),
		},
		{
			pattern: "GET outbox/{id}/checks",
			summary: "What is probably wrong with a message: links that lead nowhere, no text part, marketing without " +
				"List-Unsubscribe, HTML of more than 102 kB, images without a text.",
			handler: byID(c.checks),
		},
	}
}

// messageResponse is a response to the id of a message in the path.
func (c *Control) messageResponse(media string, write func(http.ResponseWriter, *request, *platform.Record)) handler {
	return rawResponse(media, func(w http.ResponseWriter, r *request) error {
		m, err := c.message(r.PathValue("id"))
		if err == nil {
			write(w, r, m)
		}
		return err
	})
}

// beforeHead matches what precedes the content of a mail's head.
var beforeHead = regexp.MustCompile(`(?i)^\s*(<!doctype[^>]*>\s*)?(<html[^>]*>\s*)?(<head[^>]*>)?`)

// writeMailHTML responds with untrusted HTML, under a policy. Links open a new tab,
// because a frame with a mail must not become another site.
func writeMailHTML(w http.ResponseWriter, html, policy string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	at := beforeHead.FindStringIndex(html)[1]
	_, _ = io.WriteString(w, html[:at]+`<base target="_blank">`+html[at:])
}

type findings struct {
	Findings []mail.Finding `json:"findings" doc:"the findings; empty if there are none"`
}

func (c *Control) checks(id string) (findings, error) {
	m, err := c.message(id)
	if err != nil {
		return findings{}, err
	}
	return findings{mail.Check(m.Message)}, nil
}
