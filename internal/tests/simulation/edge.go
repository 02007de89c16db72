package simulation

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/mockserver"
)

// edge is the front of the platform, where answers are spoilt.
type edge struct {
	p    *platform
	life *life
	srv  *mockserver.Server
}

func (e *edge) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	c := r.Context().Value(connKey{}).(*conn)
	w := e.p.w
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Method == "PRI" {
		panic(http.ErrAbortHandler) // half a request is none, nor is half a preface of HTTP/2
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	visit, known := w.record.arrives(c.link, r, body)
	if !known {
		w.violate(neverTwice, "%s %s arrives once more than %s has sent it", r.Method, r.URL.Path, c.link.name)
	}
	name := fmt.Sprintf("edge %x %d", visit.request, visit.n)
	e.p.proc.ready(name)
	time.Sleep(w.chance.brief(name))
	if !e.life.lives() {
		panic(http.ErrAbortHandler)
	}
	rw.Header()["Date"] = []string{e.srv.Now().UTC().Format(http.TimeFormat)}
	rw.Header()[visitHeader] = []string{visit.id}
	watched := &watch{ResponseWriter: rw}
	defer func() { w.trace.add("platform", "%s: %s %s: %s", c.link.name, r.Method, r.URL.RequestURI(), watched) }()
	t, _ := take(c.link, spoils)
	switch t := t.(type) {
	case Inform:
		e.inform(watched, r, t)
	case Length:
		e.lengthen(watched, r, t)
	case Shape:
		e.reshape(watched, r, t)
	default:
		e.srv.ServeHTTP(watched, r)
	}
	w.record.answers(visit, r, watched.status)
}

// visitHeader tells the process which visit was answered: the platform counts its
// requests anew in each life.
const visitHeader = "X-Visit"

// spoils reports whether a trouble is one for the edge.
func spoils(a Action) bool {
	switch a.(type) {
	case Inform, Length, Shape:
		return true
	}
	return false
}

// fingerprint tells requests from one another.
func fingerprint(r *http.Request, body []byte) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, r.Method+" "+r.URL.RequestURI()+" ")
	_, _ = h.Write(body)
	return h.Sum64()
}

// watch sees what is answered.
type watch struct {
	http.ResponseWriter

	status int
	spoilt string
}

func (w *watch) WriteHeader(status int) {
	if w.status < 200 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *watch) Write(b []byte) (int, error) {
	if w.status < 200 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap serves [http.ResponseController].
func (w *watch) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *watch) String() string {
	s := strconv.Itoa(w.status)
	if w.status == 0 {
		s = "no answer"
	}
	if w.spoilt != "" {
		s += ", " + w.spoilt
	}
	return s
}

// inform sends interim answers, and after 101 nothing else.
func (e *edge) inform(w *watch, r *http.Request, t Inform) {
	w.spoilt = goText(t)
	for _, code := range t.Codes {
		if code != http.StatusSwitchingProtocols {
			w.ResponseWriter.WriteHeader(code)
			continue
		}
		e.genuine(r)
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil { // of HTTP/2, which has no such thing
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: sim\r\n\r\n")
		_, _ = io.Copy(io.Discard, conn) // until the client has had enough
		_ = conn.Close()
		return
	}
	e.srv.ServeHTTP(w, r)
}

// genuine carries a request out and returns what would be answered.
func (e *edge) genuine(r *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	e.srv.ServeHTTP(rec, r)
	return rec
}

// lengthen announces another length than the answer has.
func (e *edge) lengthen(w *watch, r *http.Request, t Length) {
	w.spoilt = goText(t)
	rec := e.genuine(r)
	maps.Copy(w.Header(), rec.Header())
	length := strconv.Itoa(max(0, rec.Body.Len()+t.By))
	w.status = rec.Code
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		w.Header().Set("Content-Length", length)
		w.WriteHeader(rec.Code)
		_, _ = w.Write(rec.Body.Bytes())
		return
	}
	time.AfterFunc(e.p.w.chance.between(0, 20*time.Second, "length "+r.RemoteAddr+goText(t)), func() { _ = conn.Close() })
	var head strings.Builder
	fmt.Fprintf(&head, "HTTP/1.1 %d %s\r\n", rec.Code, http.StatusText(rec.Code))
	w.Header().Set("Content-Length", length)
	_ = w.Header().Write(&head)
	_, _ = io.WriteString(conn, head.String()+"\r\n"+rec.Body.String())
}

// reshape answers with a value of another kind somewhere.
func (e *edge) reshape(w *watch, r *http.Request, t Shape) {
	rec := e.genuine(r)
	body := rec.Body.Bytes()
	if rec.Code < 300 && rec.Body.Len() > 0 {
		body = reshape(body, t.Nth, t.Put)
		w.spoilt = goText(t)
		if !bytes.Contains(body, []byte("secret")) {
			w.spoilt += ": " + short(bytes.TrimSpace(body))
		}
	}
	maps.Copy(w.Header(), rec.Header())
	w.Header().Del("Content-Length")
	w.WriteHeader(rec.Code)
	_, _ = w.Write(body)
}

func short(b []byte) string {
	const most = 300
	if len(b) > most {
		return string(b[:most]) + "…"
	}
	return string(b)
}
