// Package mailpages serves the pages for links in emails, below /_mail/.
package mailpages

import (
	"fmt"
	"html"
	"net/http"
	"strings"

	"example.com/emailplatform/mockserver/internal/httpapi"
	"example.com/emailplatform/mockserver/internal/platform"
)

// maxForm is the maximum size of a form, in bytes.
const maxForm = 64 << 10

// New returns the handler for the links in emails, under /_mail/. A GET request for a
// link in the text of an email changes the contact. A GET request for the link in the
// List-Unsubscribe header only shows a button, because mail programs and scanners can
// open this link without the recipient (RFC 8058).
//
// The pages of the links require no token, because recipients have none, and other
// people cannot guess the id of a message. If checkHost returns an error, the handler
// rejects the request.
func New(p *platform.Platform, checkHost func(*http.Request) error) http.Handler {
	const unsubscribed = "You are unsubscribed from the list."
	mux := http.NewServeMux()
	for pattern, serve := range map[string]mailPage{
		"GET " + platform.LinkConfirm:           effect(p.Confirm, "Your subscription is confirmed."),
		"GET " + platform.LinkUnsubscribe:       effect(p.Unsubscribe, unsubscribed),
		"GET " + platform.LinkGlobalUnsubscribe: effect(p.GlobalUnsubscribe, "You are unsubscribed from all email."),
		"GET " + platform.LinkHeader:            button,
		"POST " + platform.LinkHeader:           oneClick(effect(p.Unsubscribe, unsubscribed)),
	} {
		method, name, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+platform.LinkPrefix+"{id}/"+name, func(w http.ResponseWriter, r *http.Request) {
			if p.Message(r.PathValue("id")) == nil {
				writePage(w, http.StatusNotFound, "The email with this link does not exist.", "")
				return
			}
			status, text, form := serve(w, r)
			writePage(w, status, text, form)
		})
	}
	mux.HandleFunc(platform.LinkPrefix, func(w http.ResponseWriter, _ *http.Request) {
		writePage(w, http.StatusNotFound, "This link is not valid.", "")
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := checkHost(r); err != nil {
			httpapi.WriteError(w, r, err)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// mailPage handles a link in an existing message. It returns the text of the page and the
// HTML of its form. The HTML is "" if the page has no form.
type mailPage func(w http.ResponseWriter, r *http.Request) (status int, text, form string)

// effect returns the page for a link that changes a contact. A HEAD request
// changes nothing, because programs check links with HEAD.
func effect(act func(id string) error, done string) mailPage {
	return func(_ http.ResponseWriter, r *http.Request) (int, string, string) {
		if r.Method == http.MethodHead {
			return http.StatusOK, done, ""
		}
		if err := act(r.PathValue("id")); err != nil {
			return http.StatusConflict, err.Error(), ""
		}
		return http.StatusOK, done, ""
	}
}

func button(http.ResponseWriter, *http.Request) (int, string, string) {
	return http.StatusOK, "Unsubscribe from the list?",
		`<form method="post"><button name="List-Unsubscribe" value="One-Click">Unsubscribe</button></form>`
}

// oneClick accepts the form that an email client sends when its user clicks
// Unsubscribe (RFC 8058, section 3.2).
func oneClick(unsubscribe mailPage) mailPage {
	return func(w http.ResponseWriter, r *http.Request) (int, string, string) {
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		_ = r.ParseMultipartForm(maxForm) //nolint:gosec // the body has at most maxForm bytes
		if r.PostFormValue("List-Unsubscribe") != "One-Click" {
			return http.StatusUnprocessableEntity, "The form must contain List-Unsubscribe=One-Click.", ""
		}
		return unsubscribe(w, r)
	}
}

func writePage(w http.ResponseWriter, status int, text, form string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	text = html.EscapeString(text)
	_, _ = fmt.Fprintf(w, "<!doctype html><meta charset=\"utf-8\"><title>%s</title><p>%s</p>%s\n", text, text, form)
}
