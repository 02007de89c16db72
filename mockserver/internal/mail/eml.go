package mail

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/textproto"
	"slices"
	"strings"

	"example.com/emailplatform/mockserver/internal/record"
)

const (
	// boundary stands between the parts: quoted-printable has no such line.
	boundary   = "=_between-the-parts"
	lineLength = 76  // of header fields, where there is a space to fold at
	wordLength = 900 // more letters without a space would not fit into a line
)

// EML is the message as mail programs open it: RFC 5322 and MIME in nothing but
// ASCII, lines that end in CRLF, a text and an HTML part as alternatives. Header
// fields of the request that no message could have are left out.
func EML(m record.Message) []byte {
	var out bytes.Buffer
	for _, h := range m.Headers {
		if name := textproto.CanonicalMIMEHeaderKey(h.Name); fieldName(name) {
			fold(&out, h.Name, foldable(h))
		}
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
	for name, values := range partHeader(kind) {
		fold(&out, name, values[0])
	}
	out.WriteString("\r\n")
	quote(&out, body)
	return out.Bytes()
}

// alternatives writes both parts, the better one last.
func alternatives(out *bytes.Buffer, m record.Message) {
	parts := multipart.NewWriter(out)
	if err := parts.SetBoundary(boundary); err != nil {
		panic(err) // it is a constant
	}
	fold(out, "Content-Type", mime.FormatMediaType("multipart/alternative", map[string]string{"boundary": boundary}))
	out.WriteString("\r\n")
	for _, part := range []struct{ kind, body string }{{"text/plain", m.Text}, {"text/html", m.HTML}} {
		w, _ := parts.CreatePart(partHeader(part.kind)) // a buffer takes everything
		quote(w, part.body)
	}
	_ = parts.Close()
}

func partHeader(kind string) textproto.MIMEHeader {
	return textproto.MIMEHeader{
		"Content-Type":              {kind + "; charset=utf-8"},
		"Content-Transfer-Encoding": {"quoted-printable"},
	}
}

// quote writes text as quoted-printable, whatever its lines end in.
func quote(w io.Writer, text string) {
	out := quotedprintable.NewWriter(w)
	_, _ = io.WriteString(out, strings.NewReplacer("\r\n", "\r\n", "\r", "\r\n", "\n", "\r\n").Replace(text))
	_ = out.Close()
}

// fieldName reports whether a header field may have this name, and is not one that
// says how the message is laid out.
func fieldName(name string) bool {
	for _, c := range []byte(name) {
		if c <= ' ' || c >= 0x7f || c == ':' {
			return false
		}
	}
	return name != "" && name != "Mime-Version" && !strings.HasPrefix(name, "Content-")
}

// foldable is a value in words that fit into lines. Addresses and URLs stay whole.
func foldable(h record.Header) string {
	value := encoded(h)
	switch name := textproto.CanonicalMIMEHeaderKey(h.Name); name {
	case "From", "Sender", "Reply-To", "To", "Cc", "Message-Id", "In-Reply-To", "References":
		return value
	default:
		long := func(word string) bool { return len(word) > wordLength }
		if strings.HasPrefix(name, "List-") || !slices.ContainsFunc(strings.Fields(value), long) {
			return value
		}
		return inWords(oneLine(h.Value))
	}
}

// inWords is a text in encoded words (RFC 2047).
func inWords(text string) string {
	const most = 42 // bytes, so that a word has 75 letters at the most
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

// fold writes a header field, in as many lines as it takes.
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
