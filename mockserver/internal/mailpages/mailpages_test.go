package mailpages_test

import (
	"bytes"
	"mime/multipart"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/probe"
	"example.com/emailplatform/internal/tests/rawhttp"
	"example.com/emailplatform/mockserver"
)

func TestMain(m *testing.M) { probe.Main(m) }

// listed sends an email to a list contact. It returns the link in the List-Unsubscribe header.
func listed(t *testing.T, srv *mockserver.Server) (p probe.Probe, link string) {
	t.Helper()
	p = probe.Of(t, srv)
	p.Contact(p.List(), "ada@example.org")
	p.Email("ada@example.org")
	for _, h := range p.Outbox()[0].Headers {
		if h.Name == "List-Unsubscribe" {
			return p, strings.Trim(h.Value, "<>")
		}
	}
	t.Fatal("the message has no List-Unsubscribe")
	return p, ""
}

// One-click unsubscribe accepts only a POST with a URL-encoded or multipart form.
func TestOneClick(t *testing.T) {
	const form = "application/x-www-form-urlencoded"
	var parts bytes.Buffer
	multi := multipart.NewWriter(&parts)
	require.NoError(t, multi.WriteField("List-Unsubscribe", "One-Click"))
	require.NoError(t, multi.Close())
	for _, row := range []struct {
		name, method, kind, body string
		status                   int
		unsubscribed             bool
	}{
		{"form", "POST", form, "List-Unsubscribe=One-Click", 200, true},
		{"multipart", "POST", multi.FormDataContentType(), parts.String(), 200, true},
		{"another value", "POST", form, "List-Unsubscribe=No", 422, false},
		{"JSON", "POST", "application/json", `{"List-Unsubscribe":"One-Click"}`, 422, false},
		{"nothing", "POST", "", "", 422, false},
		{"too much", "POST", form, "x=" + strings.Repeat("x", 70<<10) + "&List-Unsubscribe=One-Click", 422, false},
		{"GET", "GET", "", "", 200, false},
		{"HEAD", "HEAD", "", "", 200, false},
		{"GET with the form as query", "GET?List-Unsubscribe=One-Click", "", "", 200, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv := mockserver.Start(mockserver.Config{})
			defer srv.Close()
			p, link := listed(t, srv)
			method, query, _ := strings.Cut(row.method, "?")
			req := rawhttp.NewRequest(t, method, link+"?"+query, "", row.body)
			if row.kind != "" {
				req.Header.Set("Content-Type", row.kind)
			}
			res, _ := rawhttp.Send(t, http.DefaultClient, req)
			assert.Equal(t, row.status, res.StatusCode)
			assert.Equal(t, row.unsubscribed, p.Outbox()[0].Unsubscribed)
			assert.Regexp(t, "^default-src 'none'", res.Header.Get("Content-Security-Policy"))
		})
	}
}

// Links to unknown messages or actions fail. On loopback, a link with another host name does not
// unsubscribe.
func TestInvalidLinks(t *testing.T) {
	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	p, link := listed(t, srv)
	id := p.Outbox()[0].ID
	p.Post("/suppressed-emails", `{"email":"b@example.org"}`).OK()
	rejected := p.Email("b@example.org")
	base := strings.TrimSuffix(link, id+"/list-unsubscribe")
	for _, row := range []struct {
		method, host, path string
		status             int
		unsubscribed       bool
	}{
		{"GET", "", "unknown/unsubscribe", 404, false},
		{"GET", "", "unknown/list-unsubscribe", 404, false},
		{"GET", "", "<script>/confirm", 404, false},
		{"GET", "", id, 404, false},
		{"GET", "", id + "/delete", 404, false},
		{"GET", "", id + "/confirm", 409, false},
		{"GET", "", rejected + "/unsubscribe", 409, false},
		{"GET", "", rejected + "/global-unsubscribe", 409, false},
		{"GET", "", id + "/global-unsubscribe", 200, false},
		{"GET", "", id + "/global-unsubscribe?a=%zz", 200, false},
		{"HEAD", "", id + "/unsubscribe", 200, false},
		{"GET", "rebound.example", id + "/unsubscribe", 403, false},
		{"GET", "", id + "/unsubscribe/../unsubscribe", 200, true},
	} {
		req := rawhttp.NewRequest(t, row.method, base+row.path, "", "")
		req.Host = row.host // "" means the host of the URL
		res, text := rawhttp.Send(t, http.DefaultClient, req)
		assert.Equal(t, row.status, res.StatusCode, "%+v", row)
		assert.NotContains(t, text, "<script>", "%+v", row)
		assert.Equal(t, row.unsubscribed, p.Outbox()[0].Unsubscribed, "%+v", row)
	}
}

// Links of a server on all addresses use localhost.
func TestLinksWhenListeningOnAllAddresses(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	srv := mockserver.StartOn(unspecifiedAddress{listener}, mockserver.Config{})
	defer srv.Close()
	p := probe.Of(t, srv)
	p.Post(p.List()+"/contacts?send_double_opt_in=true", `{"email":"ada@example.org"}`).OK()
	if link := p.Outbox()[0].Links()[0]; !strings.HasPrefix(link, "http://localhost:8026/_mail/") {
		t.Errorf("the link is %s", link)
	}
}

// unspecifiedAddress is a listener that reports the unspecified address.
type unspecifiedAddress struct{ net.Listener }

func (unspecifiedAddress) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv6unspecified, Port: 8026} }
