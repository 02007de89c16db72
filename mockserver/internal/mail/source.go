// Package mail writes messages: it fills merge tags, lays a message out as it
// travels and as a file, and says how it begins and what is wrong with it.
package mail

import (
	"fmt"
	"mime"
	"net/mail"
	"net/textproto"
	"strings"
	"unicode"

	"example.com/emailplatform/mockserver/record"
)

// Source is the message as RFC 5322 and MIME have it, its text in UTF-8.
func Source(m record.Message) string {
	var b strings.Builder
	for _, h := range m.Headers {
		fmt.Fprintf(&b, "%s: %s\n", oneLine(h.Name), encoded(h))
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

// addressed reports whether a header field has addresses.
func addressed(name string) bool {
	switch name {
	case "From", "Sender", "Reply-To", "To", "Cc", "Bcc":
		return true
	}
	return false
}

// encoded is the value in ASCII. Of an address it encodes the name alone: within
// an encoded word it would be no address any more (RFC 2047, section 5).
func encoded(h record.Header) string {
	value := oneLine(h.Value)
	encoded := mime.QEncoding.Encode("utf-8", value)
	if addressed(textproto.CanonicalMIMEHeaderKey(h.Name)) {
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
