package mockserver_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/emailplatform/mockserver"
)

// askControl sends a request over the network with header fields such as "Name: value", and follows no redirect.
func askControl(t *testing.T, method, url string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, nil)
	must(t, err)
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		if name == "Host" {
			req.Host = value
			continue
		}
		req.Header.Set(name, value)
	}
	res, err := http.DefaultTransport.RoundTrip(req)
	must(t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	must(t, err)
	return res, string(body)
}

func TestControlOnLoopback(t *testing.T) {
	srv := mockserver.Start(mockserver.Config{})
	t.Cleanup(srv.Close)
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(srv.URL(), "http://"))
	tests := []struct {
		name   string
		method string
		header []string
		want   int
	}{
		{name: "no token", method: "GET", want: 200},
		{name: "another loopback address", method: "GET", header: []string{"Host: 127.9.9.9"}, want: 200},
		{name: "a name that was made to point here", method: "GET", header: []string{"Host: rebound.example:" + port}, want: 403},
		{
			name:   "a name that begins like a loopback address",
			method: "GET", header: []string{"Host: 127.0.0.1.example"}, want: 403,
		},
		{name: "the page of this server", method: "GET", header: []string{"Origin: " + srv.URL()}, want: 200},
		{name: "the page of another site", method: "GET", header: []string{"Origin: https://evil.example"}, want: 403},
		{name: "a page on another port", method: "GET", header: []string{"Origin: http://127.0.0.1:1"}, want: 403},
		{name: "a page without an origin", method: "GET", header: []string{"Origin: null"}, want: 403},
		{
			name:   "a script of another site",
			method: "GET", header: []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"}, want: 403,
		},
		{
			name:   "a script of a sibling site",
			method: "GET", header: []string{"Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: cors"}, want: 403,
		},
		{
			name:   "a link on another site",
			method: "GET", header: []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"}, want: 200,
		},
		{
			name:   "a form of another site",
			method: "POST", header: []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"},
			want: 403,
		},
		{name: "typed in", method: "GET", header: []string{"Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate"}, want: 200},
		{name: "of the same origin", method: "GET", header: []string{"Sec-Fetch-Site: same-origin"}, want: 200},
		{
			name:   "of the same origin, behind a proxy that replaces Host",
			method: "POST", header: []string{"Sec-Fetch-Site: same-origin", "Origin: https://mail.example"}, want: 405,
		},
		{
			name:   "of another site that claims this origin",
			method: "POST", header: []string{"Sec-Fetch-Site: cross-site", "Origin: " + srv.URL()}, want: 403,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, body := askControl(t, tt.method, srv.URL()+"/_mock/info", tt.header...)
			if res.StatusCode != tt.want {
				t.Errorf("got %d, want %d: %s", res.StatusCode, tt.want, body)
			}
			if res.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Error("another site may read the answer")
			}
		})
	}
}

// DNS rebinding does not reach the API, whose default token is public.
func TestAPIOnLoopback(t *testing.T) {
	srv := mockserver.Start(mockserver.Config{})
	t.Cleanup(srv.Close)
	for host, want := range map[string]int{
		"127.0.0.1": 200, "localhost:8026": 200, "[::1]": 200, "rebound.example": 403, "192.0.2.1": 403,
	} {
		res, body := askControl(t, "GET", srv.URL()+"/lists", "Host: "+host, "Authorization: Bearer "+srv.Token())
		if res.StatusCode != want {
			t.Errorf("%s: %d, want %d: %s", host, res.StatusCode, want, body)
		}
	}
}

// A server behind another listener accepts every host name.
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

// startAnywhere listens on all addresses.
func startAnywhere(t *testing.T) (url string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "0.0.0.0:0")
	must(t, err)
	srv := mockserver.StartOn(listener, mockserver.Config{Tokens: []mockserver.Token{
		{Value: "key&of=the owner"}, {Value: "reader", ReadOnly: true},
	}})
	t.Cleanup(srv.Close)
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return "http://127.0.0.1:" + port
}

func TestControlOffLoopback(t *testing.T) {
	url := startAnywhere(t)
	tests := []struct {
		name, method, path string
		header             []string
		want               int
	}{
		{name: "health", method: "GET", path: "/_mock/health", want: 200},
		{name: "no token", method: "GET", path: "/_mock/info", want: 401},
		{name: "no token for what does not exist", method: "GET", path: "/_mock/nothing", want: 401},
		{name: "no token for the stream", method: "GET", path: "/_mock/stream", want: 401},
		{name: "a wrong token", method: "GET", path: "/_mock/info", header: []string{"Authorization: Bearer wrong"}, want: 401},
		{name: "an empty token", method: "GET", path: "/_mock/info", header: []string{"Authorization: Bearer "}, want: 401},
		{
			name:   "a token",
			method: "GET", path: "/_mock/info", header: []string{"Authorization: Bearer key&of=the owner"},
			want: 200,
		},
		{
			name:   "a token that may change",
			method: "DELETE", path: "/_mock/faults", header: []string{"Authorization: Bearer key&of=the owner"},
			want: 204,
		},
		{
			name:   "a token that may read",
			method: "GET", path: "/_mock/info", header: []string{"Authorization: Bearer reader"}, want: 200,
		},
		{
			name:   "a token that may only read",
			method: "DELETE", path: "/_mock/faults", header: []string{"Authorization: Bearer reader"}, want: 403,
		},
		{
			name:   "a cookie",
			method: "GET", path: "/_mock/info", header: []string{"Cookie: mock_token=key%26of%3Dthe+owner"},
			want: 200,
		},
		{name: "a wrong cookie", method: "GET", path: "/_mock/info", header: []string{"Cookie: mock_token=wrong"}, want: 401},
		{
			name:   "a cookie sent by another site",
			method: "DELETE", path: "/_mock/faults",
			header: []string{"Cookie: mock_token=key%26of%3Dthe+owner", "Origin: https://evil.example"},
			want:   403,
		},
		{
			name:   "a token in the address of a change",
			method: "DELETE", path: "/_mock/faults?token=key%26of%3Dthe+owner", want: 401,
		},
		{name: "a wrong token in the address", method: "GET", path: "/_mock/info?token=wrong", want: 401},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, body := askControl(t, tt.method, url+tt.path, tt.header...)
			if res.StatusCode != tt.want {
				t.Errorf("got %d, want %d: %s", res.StatusCode, tt.want, body)
			}
			if strings.Contains(body, "wrong") {
				t.Errorf("the answer holds the token: %s", body)
			}
		})
	}
}

// A link with a token sets a cookie and redirects to an address without the token.
func TestControlTokenLink(t *testing.T) {
	url := startAnywhere(t)
	res, _ := askControl(t, "GET", url+"/_mock/info?token=key%26of%3Dthe+owner&page=1")
	if res.StatusCode != http.StatusSeeOther || res.Header.Get("Location") != "./info?page=1" {
		t.Fatalf("got %d to %s, want 303 to ./info?page=1", res.StatusCode, res.Header.Get("Location"))
	}
	cookie := res.Cookies()[0]
	if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/_mock/" {
		t.Errorf("the cookie is %v, want HttpOnly, SameSite=Strict, for /_mock/", cookie)
	}
	if res, body := askControl(t, "GET", url+"/_mock/info", "Cookie: "+cookie.Name+"="+cookie.Value); res.StatusCode != 200 {
		t.Errorf("with the cookie: %d %s, want 200", res.StatusCode, body)
	}
}

// A mounted handler uses the local address of the request.
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
