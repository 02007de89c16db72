package httpapi_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"example.com/emailplatform/internal/tests/rawhttp"
	"example.com/emailplatform/mockserver"
)

// askControl sends a request over the network with header fields such as "Name: value". It does not follow redirects.
func askControl(t *testing.T, method, url string, header ...string) (*http.Response, string) {
	t.Helper()
	req := rawhttp.NewRequest(t, method, url, "", "")
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	return rawhttp.Send(t, rawhttp.NoRedirects(http.DefaultTransport), req)
}

// guarded is a request with the status that it must have.
type guarded struct {
	name    string
	request string   // method and path
	header  []string // fields such as "Name: value"
	status  int
}

func (g guarded) run(t *testing.T, url string) {
	t.Run(g.name, func(t *testing.T) {
		method, path, _ := strings.Cut(g.request, " ")
		res, body := askControl(t, method, url+path, g.header...)
		if res.StatusCode != g.status {
			t.Errorf("got %d, want %d: %s", res.StatusCode, g.status, body)
		}
		assert.Empty(t, res.Header.Get("Access-Control-Allow-Origin"), "another site may read the response")
		assert.NotContains(t, body, "wrong", "the response contains the token")
	})
}

// The default token is public, so a web page could use it on loopback by DNS rebinding. Therefore the server
// rejects requests whose Host header is not a loopback name. It also rejects requests to the control routes
// from scripts and forms of other sites.
func TestLoopbackGuard(t *testing.T) {
	srv := mockserver.Start(mockserver.Config{})
	t.Cleanup(srv.Close)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(srv.URL(), "http://"))
	const info = "GET /_mock/info"
	token := "Authorization: Bearer " + srv.Token()
	for _, row := range []guarded{
		{"API by address", "GET /lists", []string{"Host: 127.0.0.1", token}, 200},
		{"API by localhost", "GET /lists", []string{"Host: localhost:8026", token}, 200},
		{"API by IPv6 address", "GET /lists", []string{"Host: [::1]", token}, 200},
		{"API by another name", "GET /lists", []string{"Host: rebound.example", token}, 403},
		{"API by another address", "GET /lists", []string{"Host: 192.0.2.1", token}, 403},
		{"API by a name below localhost", "GET /lists", []string{"Host: mock.localhost:8026", token}, 200},
		{"API by a name with a final dot", "GET /lists", []string{"Host: LOCALHOST.", token}, 200},
		{"API by a name that ends like localhost", "GET /lists", []string{"Host: notlocalhost", token}, 403},
		{"spaces before the token", "GET /lists", []string{"Host: localhost", "Authorization: Bearer   " + srv.Token()}, 200},
		{"no token", info, nil, 200},
		{"another loopback address", info, []string{"Host: 127.9.9.9"}, 200},
		{"another name", info, []string{"Host: rebound.example:" + port}, 403},
		{"a name that begins like a loopback address", info, []string{"Host: 127.0.0.1.example"}, 403},
		{"page of this server", info, []string{"Origin: " + srv.URL()}, 200},
		{"cross-site requests", info, []string{"Origin: https://evil.example"}, 403},
		{"page on another port", info, []string{"Origin: http://127.0.0.1:1"}, 403},
		{"page without an origin", info, []string{"Origin: null"}, 403},
		{"script of another site", info, []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"}, 403},
		{"script of a sibling site", info, []string{"Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: cors"}, 403},
		{"link on another site", info, []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"}, 200},
		{"form of another site", "POST /_mock/info", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"}, 403},
		{"typed address", info, []string{"Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate"}, 200},
		{"same origin", info, []string{"Sec-Fetch-Site: same-origin"}, 200},
		{
			"same origin, through a proxy that replaces Host", "POST /_mock/info",
			[]string{"Sec-Fetch-Site: same-origin", "Origin: https://mail.example"},
			405,
		},
		{
			"another site that claims this origin", "POST /_mock/info",
			[]string{"Sec-Fetch-Site: cross-site", "Origin: " + srv.URL()},
			403,
		},
	} {
		row.run(t, srv.URL())
	}
}

// A load balancer can check the health with HTTP/1.0, which requires no Host. Browsers always send it.
func TestLoopbackGuardWithoutHost(t *testing.T) {
	srv := mockserver.Start(mockserver.Config{})
	t.Cleanup(srv.Close)
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(srv.URL(), "http://"))
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	_, err = io.WriteString(conn, "GET /_mock/health HTTP/1.0\r\n\r\n")
	require.NoError(t, err)
	response, err := io.ReadAll(conn)
	require.NoError(t, err)
	assert.Contains(t, string(response), `{"status":"ok"}`)
}

// A mounted server and a server on all addresses accept every host name.
func TestAPIAcceptsAnyHostOffLoopback(t *testing.T) {
	srv := mockserver.New(mockserver.Config{})
	t.Cleanup(srv.Close)
	outer := httptest.NewServer(srv)
	t.Cleanup(outer.Close)
	for name, url := range map[string]string{"mounted": outer.URL, "off loopback": startAnywhere(t)} {
		res, body := askControl(t, "GET", url+"/lists", "Host: api.example.com", "Authorization: Bearer "+srv.Token())
		if res.StatusCode == http.StatusForbidden {
			t.Errorf("%s: %s, want no 403", name, body)
		}
	}
}

// startAnywhere starts a server on all addresses.
func startAnywhere(t *testing.T) (url string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "0.0.0.0:0")
	require.NoError(t, err)
	srv := mockserver.StartOn(listener, mockserver.Config{Tokens: []mockserver.Token{
		{Value: "key&of=the owner"}, {Value: "reader", ReadOnly: true},
	}})
	t.Cleanup(srv.Close)
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return "http://127.0.0.1:" + port
}

func TestControlOffLoopback(t *testing.T) {
	const info, change, cookie = "GET /_mock/info", "DELETE /_mock/faults", "Cookie: mock_token=key%26of%3Dthe+owner"
	url := startAnywhere(t)
	for _, row := range []guarded{
		{"health", "GET /_mock/health", nil, 200},
		{"no token", info, nil, 401},
		{"no token for an unknown route", "GET /_mock/nothing", nil, 401},
		{"no token for the stream", "GET /_mock/stream", nil, 401},
		{"wrong token", info, []string{"Authorization: Bearer wrong"}, 401},
		{"empty token", info, []string{"Authorization: Bearer "}, 401},
		{"read with a token", info, []string{"Authorization: Bearer key&of=the owner"}, 200},
		{"change with a token", change, []string{"Authorization: Bearer key&of=the owner"}, 204},
		{"read with a read-only token", info, []string{"Authorization: Bearer reader"}, 200},
		{"change with a read-only token", change, []string{"Authorization: Bearer reader"}, 403},
		{"cookie", info, []string{cookie}, 200},
		{"wrong cookie", info, []string{"Cookie: mock_token=wrong"}, 401},
		{"cookie sent by another site", change, []string{cookie, "Origin: https://evil.example"}, 403},
		{"token in the URL of a change", change + "?token=key%26of%3Dthe+owner", nil, 401},
		{"wrong token in the URL", info + "?token=wrong", nil, 401},
	} {
		row.run(t, url)
	}
}

// A link with a token sets a cookie and redirects to a URL without the token.
func TestControlTokenLink(t *testing.T) {
	url := startAnywhere(t)
	res, _ := askControl(t, "GET", url+"/_mock/info?token=key%26of%3Dthe+owner&page=1")
	require.Equal(t, http.StatusSeeOther, res.StatusCode)
	assert.Equal(t, "./info?page=1", res.Header.Get("Location"))
	cookie := res.Cookies()[0]
	assert.True(t, cookie.HttpOnly)
	assert.Equal(t, http.SameSiteStrictMode, cookie.SameSite)
	assert.Equal(t, "/_mock/", cookie.Path)
	if res, body := askControl(t, "GET", url+"/_mock/info", "Cookie: "+cookie.Name+"="+cookie.Value); res.StatusCode != 200 {
		t.Errorf("with the cookie: %d %s, want 200", res.StatusCode, body)
	}
}

// A mounted handler requires a token, unless the local address of the request is a loopback address.
func TestControlMounted(t *testing.T) {
	srv := mockserver.New(mockserver.Config{})
	t.Cleanup(srv.Close)
	outer := httptest.NewServer(srv)
	t.Cleanup(outer.Close)
	if res, body := askControl(t, "GET", outer.URL+"/_mock/info"); res.StatusCode != 200 {
		t.Errorf("on loopback: %d %s, want 200", res.StatusCode, body)
	}
	req := httptest.NewRequest(http.MethodGet, "/_mock/info", nil)
	req = req.WithContext(
		context.WithValue(t.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80}))
	w := httptest.NewRecorder()
	if srv.ServeHTTP(w, req); w.Code != http.StatusUnauthorized {
		t.Errorf("on another address: %d, want 401", w.Code)
	}
}
