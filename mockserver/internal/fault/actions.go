package fault

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"time"

	"example.com/emailplatform/mockserver/internal/inproc"
	"example.com/emailplatform/mockserver/record"
)

// aim is the kind of target that a rule applies to.
type aim int

const (
	requests aim = iota
	messages
	deliveries
	attempts // attempts to make a delivery
)

// actions maps each action to the kind of target that it applies to.
func actions() map[record.FaultAction]aim {
	return map[record.FaultAction]aim{
		record.FaultStatus: requests, record.FaultReset: requests, record.FaultHang: requests,
		record.FaultTruncate: requests, record.FaultOversize: requests, record.FaultNotJSON: requests,
		record.FaultRedirect: requests, record.FaultDelay: requests,
		record.FaultInternalError: messages,
		record.FaultDrop:          deliveries, record.FaultDuplicate: deliveries, record.FaultReorder: deliveries,
	}
}

func aimOf(f record.Fault) aim {
	if f.Event != "" || f.WebhookID != "" {
		switch f.Action {
		case record.FaultDelay:
			return deliveries
		case record.FaultStatus, record.FaultReset, record.FaultHang:
			return attempts
		}
	}
	return actions()[f.Action]
}

// Actions returns the names of all actions, sorted.
func Actions() []record.FaultAction { return slices.Sorted(maps.Keys(actions())) }

// Disturb applies a fault to a request. Disturb calls act() to process the request and
// write the response. To close the connection, Disturb panics with
// [http.ErrAbortHandler]. Closing the plan ends all delays and aborts hanging requests.
func (p *Plan) Disturb(f record.Fault, w http.ResponseWriter, r *http.Request, act func(http.ResponseWriter)) {
	// Read the body first, because net/http detects a closed connection only
	// after the body is read.
	sent, _ := io.ReadAll(io.LimitReader(r.Body, maxBody))
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(sent), r.Body))
	select {
	case <-time.After(f.Delay):
	case <-p.ctx.Done():
	case <-r.Context().Done():
		abort(w)
	}
	if f.Action == record.FaultDelay {
		act(w)
		return
	}
	response := inproc.NewRecording(w.Header())
	if f.AfterProcessing || f.Action == record.FaultTruncate || f.Action == record.FaultOversize {
		act(response)
	}
	switch f.Action {
	case record.FaultReset:
		abort(w)
	case record.FaultHang:
		select {
		case <-p.ctx.Done():
		case <-r.Context().Done():
		}
		abort(w)
	case record.FaultTruncate:
		truncate(response, w)
	case record.FaultOversize:
		respondOversize(f, w, response)
	case record.FaultNotJSON:
		respond(f, w, http.StatusOK, "text/html; charset=utf-8", errorPage)
	case record.FaultRedirect:
		w.Header().Set("Location", cmp.Or(f.Location, "https://elsewhere.invalid"+r.URL.RequestURI()))
		respond(f, w, http.StatusTemporaryRedirect, "text/plain; charset=utf-8", "")
	default:
		kind := "injected"
		if f.Status == http.StatusTooManyRequests {
			kind = "rate_limited"
		}
		body := fmt.Sprintf(`{"detail":[{"loc":[],"msg":"injected by a fault rule","type":%q}]}`+"\n", kind)
		respond(f, w, http.StatusServiceUnavailable, "application/json", body)
	}
}

// maxBody is larger than the API's limit, so the API still detects a body that
// is too large.
const maxBody = 10<<20 + 1

// errorPage is an HTML page that resembles the error pages of proxies.
const errorPage = "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head>\n" +
	"<body><h1>502 Bad Gateway</h1><hr><p>gateway</p></body></html>\n"

func respond(f record.Fault, w http.ResponseWriter, status int, contentType, body string) {
	status = cmp.Or(f.Status, status)
	h := w.Header()
	h.Set("Content-Type", contentType)
	if f.RetryAfter != "" {
		h.Set("Retry-After", f.RetryAfter)
	}
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, cmp.Or(f.Body, body))
}

// respondOversize writes the response until it is complete or the client stops
// reading.
func respondOversize(f record.Fault, w http.ResponseWriter, response *inproc.Recording) {
	const open, end = `{"padding":"`, `"}`
	left := cmp.Or(f.Size, defaultOversize)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(cmp.Or(f.Status, response.Status))
	_ = http.NewResponseController(w).Flush()
	_, err := io.WriteString(w, open)
	chunk := bytes.Repeat([]byte("x"), 64<<10)
	for left -= int64(len(open) + len(end)); left > 0 && err == nil; left -= int64(len(chunk)) {
		_, err = w.Write(chunk[:min(left, int64(len(chunk)))])
	}
	_, _ = io.WriteString(w, end)
}

// truncate sends the full Content-Length, but only half of the body. If the body is
// empty, truncate closes the connection without a response.
func truncate(a *inproc.Recording, w http.ResponseWriter) {
	if a.Body.Len() == 0 {
		abort(w)
	}
	maps.Copy(w.Header(), a.Header())
	w.Header().Set("Content-Length", strconv.Itoa(a.Body.Len()))
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body.Bytes()[:a.Body.Len()/2])
}

// abort closes the connection, with a TCP reset if possible.
func abort(w http.ResponseWriter) {
	if conn, _, err := http.NewResponseController(w).Hijack(); err == nil {
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		_ = conn.Close()
	}
	panic(http.ErrAbortHandler)
}
