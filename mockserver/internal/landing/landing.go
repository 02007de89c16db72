// Package landing is where the links in emails lead: pages for recipients, under
// /_mail/. Who follows a link in an email does what it says; the link of the header
// List-Unsubscribe, which programs follow too, shows a button first (RFC 8058). No
// page needs a token: recipients have none, and the id of a message, which nobody
// can guess, is in its links alone.
package landing

import (
	"fmt"
	"html"
	"net/http"
	"strings"

	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/platform"
)

// maxBody is how many bytes a form may have.
const maxBody = 64 << 10

// pages answers the links of a platform's messages.
type pages struct {
	*platform.Platform

	api *gateway.Gateway // knows who may call
}

// New returns the handler of the links in the messages of a platform.
func New(p *platform.Platform, api *gateway.Gateway) http.Handler {
	l := pages{p, api}
	mux := http.NewServeMux()
	get := "GET " + platform.LinkPrefix + "{id}/"
	mux.HandleFunc(get+platform.LinkConfirm, l.follow(p.Confirm, "Your subscription is confirmed."))
	mux.HandleFunc(get+platform.LinkUnsubscribe, l.follow(p.Unsubscribe, unsubscribed))
	mux.HandleFunc(get+platform.LinkGlobalUnsubscribe, l.follow(p.GlobalUnsubscribe, "You are unsubscribed from all email."))
	header := platform.LinkPrefix + "{id}/" + platform.LinkHeader
	mux.HandleFunc("GET "+header, l.ask)
	mux.HandleFunc("POST "+header, l.oneClick)
	mux.HandleFunc(platform.LinkPrefix, func(w http.ResponseWriter, _ *http.Request) {
		page(w, http.StatusNotFound, "This link leads nowhere.", "")
	})
	return l.guarded(mux)
}

const unsubscribed = "You are unsubscribed from the list."

// guarded refuses who calls a loopback address by a name of another, as the API
// does.
func (l pages) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if l.api.Loopback {
			if p := gateway.Misnamed(r); p != nil {
				gateway.WriteProblem(w, p)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// follow does what a link says, and says so. A program that only looks whether
// the link is there does nothing.
func (l pages) follow(act func(id string) error, done string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodHead {
			return
		}
		l.act(w, r, act, done)
	}
}

func (l pages) act(w http.ResponseWriter, r *http.Request, act func(id string) error, done string) {
	id := r.PathValue("id")
	if l.Message(id) == nil {
		page(w, http.StatusNotFound, "This link is of an email that does not exist.", "")
		return
	}
	if err := act(id); err != nil {
		page(w, http.StatusConflict, strings.TrimPrefix(err.Error(), "mockserver: "), "")
		return
	}
	page(w, http.StatusOK, done, "")
}

// ask shows the button that does what one click does.
func (l pages) ask(w http.ResponseWriter, r *http.Request) {
	if l.Message(r.PathValue("id")) == nil {
		page(w, http.StatusNotFound, "This link is of an email that does not exist.", "")
		return
	}
	page(w, http.StatusOK, "Unsubscribe from the list?",
		`<form method="post"><button name="List-Unsubscribe" value="One-Click">Unsubscribe</button></form>`)
}

// oneClick takes what a mail program posts when its user clicks Unsubscribe (RFC
// 8058, section 3.2).
func (l pages) oneClick(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	_ = r.ParseMultipartForm(maxBody) //nolint:gosec // the body is limited above; a form of neither kind has no value
	if r.PostFormValue("List-Unsubscribe") != "One-Click" {
		page(w, http.StatusUnprocessableEntity, "Want the form List-Unsubscribe=One-Click.", "")
		return
	}
	l.act(w, r, l.Unsubscribe, unsubscribed)
}

// page answers with a page that says something, and perhaps has a form.
func page(w http.ResponseWriter, status int, text, form string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	text = html.EscapeString(text)
	_, _ = fmt.Fprintf(w, "<!doctype html><meta charset=\"utf-8\"><title>%s</title><p>%s</p>%s\n", text, text, form)
}
