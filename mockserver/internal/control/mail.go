package control

import (
	"mime"
	"net/http"

	"example.com/emailplatform/mockserver/internal/mail"
	"example.com/emailplatform/mockserver/internal/platform"
)

// mailRoutes returns the routes that return a message in several formats.
func (c *Control) mailRoutes() []route {
	return []route{
		handle("GET outbox/{id}/html", c.messageResponse("text/html", writeHTML),
			"The HTML of a message, with a content security policy that allows no scripts.").
			params(number("remote", "1 allows remote images", 0, 1, 0)),
		handle("GET outbox/{id}/source", c.messageResponse("text/plain", writeSource),
			"The source of a message (RFC 5322)."),
		handle("GET outbox/{id}/eml", c.messageResponse("message/rfc822", writeEML),
			"A message as a file for mail programs: RFC 5322 and MIME in ASCII, text and HTML as alternatives."),
		handle("GET outbox/{id}/checks", byID(c.checks),
			"Probable problems of a message: links without a valid target, no text part, marketing without "+
				"List-Unsubscribe, HTML of more than 102 kB, and images without alternative text."),
	}
}

// messageResponse returns a handler for a route whose path contains the id of a message.
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
	Findings []mail.Finding `json:"findings" doc:"the findings; empty if there are none"`
}

func (c *Control) checks(id string) (findings, error) {
	m, err := c.message(id)
	if err != nil {
		return findings{}, err
	}
	return findings{mail.Check(m.Message)}, nil
}
