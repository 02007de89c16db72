// Package mail renders messages: it replaces merge tags, writes source text and
// files, and returns snippets and probable problems.
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

// Source returns the message in the format of RFC 5322 and MIME, with its text
// in UTF-8.
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

// encoded returns the value in ASCII. It encodes only the name of an address,
// because an encoded word cannot contain an address (RFC 2047, section 5).
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

// oneLine removes line breaks, so a value cannot add a header field.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
