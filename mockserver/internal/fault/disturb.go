package fault

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strconv"
	"time"

	"example.com/emailplatform/mockserver/internal/inproc"
	"example.com/emailplatform/mockserver/record"
)

// Disturb answers a request that a rule of the plan hit. act carries the request
// out as if nothing had happened and answers to the writer it is given. A lost
// connection is a panic with [http.ErrAbortHandler], as net/http wants it. What
// is delayed or hangs ends with the plan at the latest.
func (p *Plan) Disturb(f record.Fault, w http.ResponseWriter, r *http.Request, act func(http.ResponseWriter)) {
	// Only with the body read does net/http notice that the client has gone.
	sent, _ := io.ReadAll(io.LimitReader(r.Body, maxBody))
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(sent), r.Body))
	gone, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(p.ctx, cancel)()
	if !pause(gone, f.Delay) {
		abort(w)
	}
	if f.Action == record.FaultDelay {
		act(w)
		return
	}
	answer := inproc.NewRecording(w.Header())
	if f.AfterActing || f.Action == record.FaultTruncate || f.Action == record.FaultOversize {
		act(answer)
	}
	switch f.Action {
	case record.FaultReset:
		abort(w)
	case record.FaultHang:
		<-gone.Done()
		abort(w)
	case record.FaultTruncate:
		truncate(answer, w)
	case record.FaultOversize:
		respondOversize(f, w, answer)
	case record.FaultNotJSON:
		respond(f, w, http.StatusOK, "text/html; charset=utf-8", errorPage)
	case record.FaultRedirect:
		respondRedirect(f, w, r)
	default:
		respondStatus(f, w)
	}
}

// maxBody is more than the API takes, so that it still finds out.
const maxBody = 10<<20 + 1

// errorPage is what proxies say.
const errorPage = "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head>\n" +
	"<body><h1>502 Bad Gateway</h1><hr><p>gateway</p></body></html>\n"

func respond(f record.Fault, w http.ResponseWriter, status int, contentType, body string) {
	if f.Status != 0 {
		status = f.Status
	}
	if f.Body != "" {
		body = f.Body
	}
	h := w.Header()
	h.Set("Content-Type", contentType)
	if f.RetryAfter != "" {
		h.Set("Retry-After", f.RetryAfter)
	}
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

func respondStatus(f record.Fault, w http.ResponseWriter) {
	kind := "injected"
	if f.Status == http.StatusTooManyRequests {
		kind = "rate_limited"
	}
	body := fmt.Sprintf(`{"detail":[{"loc":[],"msg":"injected by the fault plan","type":%q}]}`+"\n", kind)
	respond(f, w, http.StatusServiceUnavailable, "application/json", body)
}

func respondRedirect(f record.Fault, w http.ResponseWriter, r *http.Request) {
	location := f.Location
	if location == "" {
		location = "https://elsewhere.invalid" + r.URL.RequestURI()
	}
	w.Header().Set("Location", location)
	respond(f, w, http.StatusTemporaryRedirect, "text/plain; charset=utf-8", "")
}

// respondOversize writes until the client has had enough.
func respondOversize(f record.Fault, w http.ResponseWriter, answer *inproc.Recording) {
	const open, end = `{"padding":"`, `"}`
	left := f.Size
	if left == 0 {
		left = defaultOversize
	}
	status := answer.Status
	if f.Status != 0 {
		status = f.Status
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = http.NewResponseController(w).Flush()
	_, err := io.WriteString(w, open)
	chunk := bytes.Repeat([]byte("x"), 64<<10)
	for left -= int64(len(open) + len(end)); left > 0 && err == nil; left -= int64(len(chunk)) {
		_, err = w.Write(chunk[:min(left, int64(len(chunk)))])
	}
	_, _ = io.WriteString(w, end)
}

// truncate announces the whole body and sends half of it. An answer without a
// body is lost as a whole.
func truncate(a *inproc.Recording, w http.ResponseWriter) {
	if a.Body.Len() == 0 {
		abort(w)
	}
	maps.Copy(w.Header(), a.Header())
	w.Header().Set("Content-Length", strconv.Itoa(a.Body.Len()))
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body.Bytes()[:a.Body.Len()/2])
}

// abort loses the connection, as a reset if there is one.
func abort(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
	panic(http.ErrAbortHandler)
}

// pause reports whether nobody gave up in the meantime.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
