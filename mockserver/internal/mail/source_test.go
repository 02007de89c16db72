package mail

import (
	"bytes"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/mockserver/model"
)

type opened struct {
	*mail.Message
	parts map[string]string // bodies by media type
	order []string
}

func openEML(t *testing.T, eml []byte) opened {
	t.Helper()
	for line := range bytes.SplitSeq(eml, []byte("\r\n")) {
		if len(line) > 998 || bytes.ContainsAny(line, "\r\n") || bytes.ContainsFunc(line, func(r rune) bool { return r > 126 }) {
			t.Errorf("an invalid line: %.80q", line)
		}
	}
	m, err := mail.ReadMessage(bytes.NewReader(eml))
	if err != nil {
		t.Fatalf("%v: %q", err, eml)
	}
	out := opened{m, map[string]string{}, nil}
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	require.NoError(t, err)
	read := func(kind string, body io.Reader) {
		text, err := io.ReadAll(quotedprintable.NewReader(body))
		require.NoError(t, err)
		out.parts[kind], out.order = string(text), append(out.order, kind)
	}
	if kind != "multipart/alternative" {
		read(kind, m.Body)
		return out
	}
	parts := multipart.NewReader(m.Body, params["boundary"])
	for {
		p, err := parts.NextRawPart()
		if err == io.EOF {
			return out
		}
		require.NoError(t, err)
		kind, _, _ := mime.ParseMediaType(p.Header.Get("Content-Type"))
		read(kind, p)
	}
}

func TestEML(t *testing.T) {
	subject := "Zażółć gęślą jaźń, " + strings.Repeat("eine sehr lange Überschrift ", 20)
	m := model.Message{
		Text: "Grüße\n.\n--=_between-the-parts\n" + strings.Repeat("long ", 300),
		HTML: "<p>Grüße\r\n=3D</p>\r",
		Headers: []model.Header{
			{Name: "Date", Value: "Sun, 22 Nov 2026 09:00:00 +0000"},
			{Name: "From", Value: `"Jürgen, Shop" <shop@example.com>`},
			{Name: "To", Value: "ada@example.org"},
			{Name: "Subject", Value: subject},
			{Name: "X-Many", Value: strings.Repeat("a", 2000)},
			{Name: "X-Evil", Value: "a\r\nBcc: victim@example.org"},
			{Name: "Content-Type", Value: "text/evil"},
			{Name: "mime-version", Value: "2.0"},
			{Name: "X Bad", Value: "no"},
			{Name: "X-Bäd", Value: "no"},
		},
	}
	got := openEML(t, EML(m))
	decoder := new(mime.WordDecoder)
	for name, want := range map[string]string{
		"Subject": strings.TrimSpace(subject), "X-Many": strings.Repeat("a", 2000), "X-Evil": "a  Bcc: victim@example.org", "Bcc": "",
		"MIME-Version": "1.0", "To": "ada@example.org",
	} {
		value, err := decoder.DecodeHeader(got.Header.Get(name))
		if err != nil || strings.Join(strings.Fields(value), " ") != strings.Join(strings.Fields(want), " ") {
			t.Errorf("%s is %q, %v; want %q", name, value, err, want)
		}
	}
	from, err := got.Header.AddressList("From")
	if err != nil || len(from) != 1 || from[0].Name != "Jürgen, Shop" || from[0].Address != "shop@example.com" {
		t.Errorf("from %v, %v", from, err)
	}
	if len(got.Header) != 8 { // the first six, MIME-Version and Content-Type
		t.Errorf("fields %v", got.Header)
	}
	assert.Equal(t, "text/plain text/html", strings.Join(got.order, " "), "order of the parts")
	for kind, want := range map[string]string{"text/plain": crlf(m.Text), "text/html": crlf(m.HTML)} {
		assert.Equal(t, want, got.parts[kind], kind)
	}
}

// A header that must be unique occurs once. Text that looks like an encoded word is
// encoded, so it stays the same text.
func TestEMLHostileHeaders(t *testing.T) {
	name, coded := strings.Repeat("a", 1200), "=?utf-8?q?=0D=0ABcc:_x?="
	got := openEML(t, EML(model.Message{Headers: []model.Header{
		{Name: "From", Value: `"` + name + `" <shop@example.com>`},
		{Name: "To", Value: "ada@example.org"},
		{Name: "Subject", Value: coded},
		{Name: "X-Twice", Value: "1"},
		{Name: "from", Value: "eve@example.com"},
		{Name: "SUBJECT", Value: "Another"},
		{Name: "Bcc", Value: "Jürgen <bcc@example.com>"},
		{Name: "X-Twice", Value: coded},
		{Name: "Reply-To", Value: "no-address-" + name},
		{Name: "List-Help", Value: "<https://example.com/" + name + ">"},
		{Name: "X-" + name, Value: "1"},
	}}))
	for field, n := range map[string]int{"From": 1, "To": 1, "Subject": 1, "X-Twice": 2, "Bcc": 1, "Reply-To": 0, "List-Help": 0} {
		assert.Len(t, got.Header[field], n, field)
	}
	if subject, err := new(mime.WordDecoder).DecodeHeader(got.Header.Get("Subject")); err != nil || subject != coded {
		t.Errorf("the subject is %q, %v", subject, err)
	}
	for field, want := range map[string]mail.Address{
		"From": {Name: name, Address: "shop@example.com"}, "Bcc": {Name: "Jürgen", Address: "bcc@example.com"},
	} {
		if all, err := got.Header.AddressList(field); err != nil || len(all) != 1 || *all[0] != want {
			t.Errorf("%s: %v, %v", field, all, err)
		}
	}
	if value := got.Header["X-Twice"][1]; value != coded {
		t.Errorf("the header field is %q, want it unchanged", value)
	}
	from := openEML(t, EML(model.Message{Headers: []model.Header{{Name: "From", Value: `"` + coded + `" <a@example.com>`}}}))
	if all, err := from.Header.AddressList("From"); err != nil || all[0].Name != coded {
		t.Errorf("from %v, %v", all, err)
	}
}

func TestEMLSinglePart(t *testing.T) {
	for kind, m := range map[string]model.Message{
		"text/plain": {Text: "Hello"}, "text/html": {HTML: "<p>Hello</p>"},
	} {
		if got := openEML(t, EML(m)); len(got.order) != 1 || got.parts[kind] != m.Text+m.HTML {
			t.Errorf("%s: %q", kind, got.parts)
		}
	}
}

func crlf(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n"), "\n", "\r\n")
}

// Source writes each header in one line, and encodes names but not addresses.
func TestSource(t *testing.T) {
	for name, encoded := range map[string]string{
		"Zoë": "=?utf-8?q?Zo=C3=AB?= <s@example.com>", `Shop, "the" Shop`: `"Shop, \"the\" Shop" <s@example.com>`,
		"": "<s@example.com>", "👩\u200d💻 Zoë": "",
	} {
		from := (&mail.Address{Name: name, Address: "s@example.com"}).String()
		source := Source(model.Message{Text: "text", HTML: "<p>html</p>", Headers: []model.Header{
			{Name: "From", Value: from},
			{Name: "Subject", Value: "Grüße"},
			{Name: "Reply-To", Value: "Zoë <r@example.com>, b@example.com"},
			{Name: "X-One", Value: "1\r\nX-Two: 2"},
		}})
		m, err := mail.ReadMessage(strings.NewReader(source))
		require.NoError(t, err)
		sender, err := mail.ParseAddress(m.Header.Get("From"))
		if err != nil || sender.Name != name || sender.Address != "s@example.com" || encoded != "" && m.Header.Get("From") != encoded {
			t.Errorf("From is %q, %v; want %q", m.Header.Get("From"), err, encoded)
		}
		if to, err := m.Header.AddressList("Reply-To"); err != nil || len(to) != 2 || to[0].Name != "Zoë" || to[1].Address != "b@example.com" {
			t.Errorf("Reply-To is %v, %v", to, err)
		}
		if m.Header.Get("Subject") != "=?utf-8?q?Gr=C3=BC=C3=9Fe?=" || m.Header.Get("X-Two") != "" || strings.Count(source, "--part-of-the-message") != 3 {
			t.Errorf("the source is\n%s", source)
		}
	}
}

func TestSourceOfText(t *testing.T) {
	if source := Source(model.Message{Text: "Hello"}); !strings.HasSuffix(source, "\n\nHello\n") {
		t.Errorf("the source is %q, want the text as its body", source)
	}
}

func FuzzEML(f *testing.F) {
	f.Add("Hello", "Subject", "a@example.org", "text", "<p>html</p>")
	f.Add("=?utf-8?q?hi?=", "Subject", "=?", "", "")
	f.Add("ü \r\n x", "X-Ü", "\x00", "a\r\n.\r\n=", "--=_between-the-parts--")
	f.Add(strings.Repeat("é", 2000), ":", strings.Repeat("<", 990), " \t\n", "")
	f.Fuzz(func(t *testing.T, subject, name, value, text, html string) {
		m := model.Message{Text: text, HTML: html, Headers: []model.Header{
			{Name: "Subject", Value: subject}, {Name: name, Value: value},
		}}
		if len(value) > 800 || len(name) > 80 || !utf8.ValidString(subject+name+value+text+html) {
			t.Skip()
		}
		got := openEML(t, EML(m))
		for kind, want := range map[string]string{"text/plain": text, "text/html": html} {
			assert.Equal(t, crlf(want), got.parts[kind], kind)
		}
		decoded, err := new(mime.WordDecoder).DecodeHeader(got.Header["Subject"][0])
		if want := strings.Join(strings.Fields(oneLine(subject)), " "); err != nil || strings.Join(strings.Fields(decoded), " ") != want {
			t.Errorf("the subject is %q, %v; want %q", decoded, err, want)
		}
	})
}
