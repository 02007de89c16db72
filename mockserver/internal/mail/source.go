// Package mail renders messages. It replaces merge tags, formats source text
// and files, and returns snippets and probable problems.
package mail

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"net/textproto"
	"slices"
	"strings"
	"unicode"

	"example.com/emailplatform/mockserver/model"
)

// Source returns the message in the format of RFC 5322 and MIME, with its text
// in UTF-8.
func Source(m model.Message) string {
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

func addressed(name string) bool {
	return slices.Contains([]string{"From", "Sender", "Reply-To", "To", "Cc", "Bcc"}, name)
}

// encoded returns the header value with non-ASCII text as encoded words. An encoded word
// cannot contain an address (RFC 2047, section 5), so in an address, only the display
// name is encoded.
func encoded(h model.Header) string {
	value := oneLine(h.Value)
	encoded := mime.QEncoding.Encode("utf-8", value)
	if encoded != value && addressed(textproto.CanonicalMIMEHeaderKey(h.Name)) {
		return eachAddress(value, encoded, (*mail.Address).String)
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

const (
	// boundary separates the parts. Quoted-printable text cannot contain the
	// boundary.
	boundary   = "=_between-the-parts"
	lineLength = 76  // maximum length of lines in the header, if there is a space to fold at
	wordLength = 900 // maximum length of a word that fits into a line
	nameLength = 76  // maximum length of the name of a header field
)

// once reports whether a header field may occur at most once in a message (RFC
// 5322, section 3.6).
func once(name string) bool {
	return addressed(name) || slices.Contains([]string{"Date", "Message-Id", "In-Reply-To", "References", "Subject"}, name)
}

// EML returns the message as a file in the format of RFC 5322 and MIME, with text and
// HTML as alternatives. The file has CRLF line endings, and is ASCII except for non-ASCII
// addresses (RFC 6532). EML omits invalid header fields and forbidden duplicates, because
// they would make the file invalid.
func EML(m model.Message) []byte {
	var out bytes.Buffer
	seen := map[string]bool{}
	for _, h := range m.Headers {
		name, value := textproto.CanonicalMIMEHeaderKey(h.Name), foldable(h)
		if seen[name] && once(name) || !fieldName(name) || slices.ContainsFunc(strings.Fields(value), long) {
			continue
		}
		fold(&out, h.Name, value)
		seen[name] = true
	}
	fold(&out, "MIME-Version", "1.0")
	if m.HTML != "" && m.Text != "" {
		alternatives(&out, m)
		return out.Bytes()
	}
	kind, body := "text/plain", m.Text
	if m.HTML != "" {
		kind, body = "text/html", m.HTML
	}
	header := partHeader(kind)
	fold(&out, "Content-Transfer-Encoding", header.Get("Content-Transfer-Encoding"))
	fold(&out, "Content-Type", header.Get("Content-Type"))
	out.WriteString("\r\n")
	quote(&out, body)
	return out.Bytes()
}

// alternatives writes both parts. HTML comes last, because email clients prefer the last
// part.
func alternatives(out *bytes.Buffer, m model.Message) {
	parts := multipart.NewWriter(out)
	if err := parts.SetBoundary(boundary); err != nil {
		panic(err) // never fails, because the boundary is a constant
	}
	fold(out, "Content-Type", mime.FormatMediaType("multipart/alternative", map[string]string{"boundary": boundary}))
	out.WriteString("\r\n")
	for _, part := range []struct{ kind, body string }{{"text/plain", m.Text}, {"text/html", m.HTML}} {
		w, _ := parts.CreatePart(partHeader(part.kind)) // writing to a buffer never fails
		quote(w, part.body)
	}
	_ = parts.Close()
}

func partHeader(kind string) textproto.MIMEHeader {
	return textproto.MIMEHeader{"Content-Type": {kind + "; charset=utf-8"}, "Content-Transfer-Encoding": {"quoted-printable"}}
}

// quote writes text as quoted-printable, with CRLF line endings.
func quote(w io.Writer, text string) {
	out := quotedprintable.NewWriter(w)
	_, _ = io.WriteString(out, strings.NewReplacer("\r\n", "\r\n", "\r", "\r\n", "\n", "\r\n").Replace(text))
	_ = out.Close()
}

// fieldName reports whether a header field can have the given name. For MIME fields it
// returns false, because [EML] sets these fields itself.
func fieldName(name string) bool {
	invalid := func(r rune) bool { return r <= ' ' || r >= 0x7f || r == ':' }
	return name != "" && len(name) <= nameLength && !strings.ContainsFunc(name, invalid) &&
		name != "Mime-Version" && !strings.HasPrefix(name, "Content-")
}

// foldable returns a header value that fold() can split into lines. Addresses and URLs
// are not split.
func foldable(h model.Header) string {
	name, value := textproto.CanonicalMIMEHeaderKey(h.Name), encoded(h)
	misread := (name == "From" || name == "Subject") && strings.Contains(h.Value, "=?") // without encoding, email clients would decode it
	if !misread && !slices.ContainsFunc(strings.Fields(value), long) {
		return value
	}
	switch {
	case addressed(name):
		return eachAddress(value, value, func(a *mail.Address) string {
			return strings.TrimSpace(inWords(a.Name) + " " + (&mail.Address{Address: a.Address}).String())
		})
	case strings.HasPrefix(name, "List-"), name == "Message-Id", name == "In-Reply-To", name == "References":
		return value
	}
	return inWords(oneLine(h.Value))
}

func long(word string) bool { return len(word) > wordLength }

// eachAddress formats each address in a list. If the list is invalid, it returns the
// argument invalid.
func eachAddress(value, invalid string, format func(*mail.Address) string) string {
	addresses, err := mail.ParseAddressList(value)
	if err != nil {
		return invalid
	}
	parts := make([]string, len(addresses))
	for i, address := range addresses {
		parts[i] = format(address)
	}
	return strings.Join(parts, ", ")
}

// inWords converts text to encoded words (RFC 2047).
func inWords(text string) string {
	const most = 42 // bytes; an encoded word has at most 75 characters
	var words []string
	for text != "" {
		n := 0
		for i, c := range text {
			if i+len(string(c)) > most {
				break
			}
			n = i + len(string(c))
		}
		words = append(words, "=?utf-8?b?"+base64.StdEncoding.EncodeToString([]byte(text[:n]))+"?=")
		text = text[n:]
	}
	return strings.Join(words, " ")
}

func fold(out *bytes.Buffer, name, value string) {
	fmt.Fprintf(out, "%s:", name)
	length := len(name) + 1
	for word := range strings.FieldsSeq(value) {
		if length+1+len(word) > lineLength && length > 1 {
			out.WriteString("\r\n")
			length = 0
		}
		out.WriteString(" " + word)
		length += 1 + len(word)
	}
	out.WriteString("\r\n")
}
