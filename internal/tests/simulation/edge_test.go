package simulation

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"strconv"
	"time"

	"example.com/emailplatform/mockserver"
)

// edge is the front of the platform.
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
	e.srv.ServeHTTP(watched, r)
	w.record.answers(visit, r, watched.status)
}

// visitHeader tells the process which visit was answered: the platform counts its
// requests anew in each life.
const visitHeader = "X-Visit"

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
	if w.status == 0 {
		return "no response"
	}
	return strconv.Itoa(w.status)
}
