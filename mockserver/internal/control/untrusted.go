package control

import (
	"io"
	"net/http"
	"regexp"

	"example.com/emailplatform/mockserver/internal/markup"
)

// writePlain responds with untrusted bytes as plain text, so a browser does not run
// scripts in them.
func writePlain(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Security-Policy", inertPolicy)
	_, _ = w.Write(body)
}

// mailPolicy is the Content-Security-Policy for the untrusted HTML of an email. The
// policy blocks scripts and all external resources, and gives the page an opaque
// origin.
const mailPolicy = "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'self'; style-src 'unsafe-inline'; "

const (
	mailAlone  = "img-src data:; font-src data:"
	mailRemote = "img-src data: https: http:; font-src data: https: http:"
)

// beforeHead matches an email's HTML up to the content of its head.
var beforeHead = regexp.MustCompile(`(?i)^\s*(<!doctype[^>]*>\s*)?(<html[^>]*>\s*)?(<head[^>]*>)?`)

// writeMailHTML responds with untrusted HTML and a Content-Security-Policy.
func writeMailHTML(w http.ResponseWriter, html, policy string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", policy)
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	at := beforeHead.FindStringIndex(html)[1]
	_, _ = io.WriteString(w, html[:at]+`<base target="_blank">`+markup.Retarget(html[at:]))
}

// inertPolicy is the Content-Security-Policy for untrusted content that a browser may
// show as a page. The policy blocks scripts and gives the page an opaque origin.
const inertPolicy = "sandbox; default-src 'none'"
