package e2e

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/console"
)

// proxied returns a proxy under /mock/ that removes the prefix and replaces Host, as nginx does by default.
func (f *fixture) proxied(serve func(http.Handler) *httptest.Server) (base string) {
	f.Helper()
	to, err := url.Parse(f.srv.URL())
	f.check(err)
	proxy := &httputil.ReverseProxy{FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	outer := serve(http.StripPrefix("/mock", proxy))
	f.Cleanup(outer.Close)
	return outer.URL + "/mock"
}

// TestBehindProxy: the console works behind a proxy with TLS and a path prefix, including redirects, the event
// stream, changes, frames and downloads. If the server is down, the banner shows the response of the proxy.
func TestBehindProxy(t *testing.T) {
	f := newFixture(t)
	base := f.proxied(httptest.NewTLSServer)
	p := open(t, base, "#/inbox", desktop)
	p.says(".first .code", "curl "+base+"/v2/emails")
	p.click("button", "Send a test email").says(".rows", "Hello")
	f.send("ada@example.org", "Your order is on its way", order)
	p.click(".rows a", "Your order is on its way")
	p.until(`document.querySelector('iframe')?.src === ` + strconv.Quote(base) + ` + '/_mock/outbox/' + location.hash.split('/')[2] + '/html'`)
	p.click(".actions button", "Open").says(".toasts", "Email.Opened")
	p.click("[role=tab]", "Source").says(".code", "Subject: Your order")
	p.until(`document.querySelector('a[download]').href.startsWith(` + strconv.Quote(base+"/_mock/outbox/") + `)`)
	for _, path := range []string{"/", "/_mock", "/_mock/outbox/7/nothing"} {
		p.do(chromedp.Navigate(base + path))
		p.until(`document.querySelector('.live[data-state=live]')`)
		p.equal(eval[string](p, `location.pathname`), "/mock/_mock/")
	}
	f.srv.Close()
	p.says("[role=alert]", base+"/_mock/health responds with 502")
}

// TestRejectedOriginBehindProxy: without TLS, browsers send no Sec-Fetch-Site. If a proxy also replaces the Host
// header, the console looks like another site, so the server rejects the request, and the page explains this.
func TestRejectedOriginBehindProxy(t *testing.T) {
	f := newFixture(t)
	base := f.proxied(httptest.NewServer)
	base = strings.Replace(base, "127.0.0.1", "shop.example", 1)
	p := newTab(t)
	p.do(chromedp.Navigate(base + "/_mock/"))
	p.says("[role=alert]", "The console cannot load "+base+"/_mock/", "403", "cross-site requests are not allowed")
}

// TestTokenOffLoopback: on addresses other than loopback, a link with a token opens the console. The page keeps the
// token in a cookie, not in its content.
func TestTokenOffLoopback(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "0.0.0.0:0")
	test{t}.check(err)
	srv := mockserver.StartOn(listener, mockserver.Config{Console: console.Handler()})
	t.Cleanup(srv.Close)
	base := "http://127.0.0.1:" + strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	p := open(t, base, "?token="+srv.Token(), desktop)
	p.says(".first .code", "Bearer TOKEN")
	p.equal(eval[string](p, `location.href + document.cookie`), base+"/_mock/")
	id, err := srv.SendEventTo("http://127.0.0.1:1/", testSecret(p.test), []byte("{}"))
	p.check(err)
	p.goTo("#/deliveries/"+id+"/signature").says(".stack .code", "-H 'Authorization: Bearer TOKEN'")
}
