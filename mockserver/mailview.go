package mockserver

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/mail"
	"net/textproto"
	"regexp"
	"strings"
	"unicode"
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
func (s *Server) serveMailHTML(w http.ResponseWriter, r *http.Request) {
	m, err := s.messageRecord(r.PathValue("id"))
	if err != nil {
		answerError(w, r, err)
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
func (s *Server) serveMailSource(w http.ResponseWriter, r *http.Request) {
	m, err := s.messageRecord(r.PathValue("id"))
	if err != nil {
		answerError(w, r, err)
		return
	}
	writePlain(w, []byte(m.source()))
}

// source is the message as RFC 5322 and MIME have it, its text in UTF-8.
func (m Message) source() string {
	var b strings.Builder
	for _, h := range m.Headers {
		fmt.Fprintf(&b, "%s: %s\n", oneLine(h.Name), h.encoded())
	}
	b.WriteString("MIME-Version: 1.0\n")
	const boundary = "part-of-the-message"
	part := func(kind, body string) {
		fmt.Fprintf(&b, "Content-Type: %s; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n%s\n", kind, body)
	}
	switch {
	case m.HTML == "":
		part("text/plain", m.Text)
	case m.Text == "":
		part("text/html", m.HTML)
	default:
		fmt.Fprintf(&b, "Content-Type: multipart/alternative; boundary=%s\n\n--%s\n", boundary, boundary)
		part("text/plain", m.Text)
		fmt.Fprintf(&b, "\n--%s\n", boundary)
		part("text/html", m.HTML)
		fmt.Fprintf(&b, "\n--%s--\n", boundary)
	}
	return b.String()
}

// encoded is the value in ASCII. Of an address it encodes the name alone: within
// an encoded word it would be no address any more (RFC 2047, section 5).
func (h Header) encoded() string {
	value := oneLine(h.Value)
	encoded := mime.QEncoding.Encode("utf-8", value)
	switch textproto.CanonicalMIMEHeaderKey(h.Name) {
	case "From", "Sender", "Reply-To", "To", "Cc":
		addresses, err := mail.ParseAddressList(value)
		if err != nil || encoded == value {
			return encoded
		}
		parts := make([]string, len(addresses))
		for i, address := range addresses {
			parts[i] = address.String()
		}
		return strings.Join(parts, ", ")
	}
	return encoded
}

// oneLine keeps a value from becoming a header field of its own.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
