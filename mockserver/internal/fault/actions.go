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
	"strings"
	"time"

	"example.com/emailplatform/mockserver/internal/httpapi"
	"example.com/emailplatform/mockserver/internal/inprocess"
	"example.com/emailplatform/mockserver/model"
)

// The fields of a fault that only some actions read.
const (
	fieldAfter    = "after_processing"
	fieldDelay    = "delay_ms"
	fieldStatus   = "status"
	fieldRetry    = "retry_after"
	fieldBody     = "body"
	fieldLocation = "location"
	fieldSize     = "size"
)

// targetKind is the kind of targets that a rule applies to.
type targetKind int

const (
	requests targetKind = iota
	messages
	deliveries
	attempts // attempts to make a delivery
)

// String returns the name of the targets in the control API.
func (k targetKind) String() string {
	return [...]string{requests: "request", messages: "message", deliveries: "delivery", attempts: "delivery"}[k]
}

// Action describes an action of fault rules. The table of actions determines the
// constants, the validation, the manual and the console.
type Action struct {
	Name    model.FaultAction `json:"action" doc:"the action"`
	Label   string            `json:"label" doc:"the action as a short command"`
	Effect  string            `json:"effect" doc:"the effect, in Markdown"`
	Targets []string          `json:"targets" doc:"what rules with the action can match: request, message or delivery"`
	Fields  []string          `json:"fields" doc:"the fields that the action reads; a rule must omit the others"`

	RequestFields []string `json:"request_fields" doc:"the fields that the action reads only for requests; a rule for deliveries must omit them"`

	Needs string `json:"-"` // a field that rules with the action must have

	constant      string // name of the constant in package model
	kind          targetKind
	kindWithEvent targetKind // the targets if the rule has an event or a webhook; kind, if it must not have one
}

// table contains all actions. It never changes, so it can be a package variable.
var table = withTargets([]Action{ //nolint:gochecknoglobals // like a constant, which Go does not have for slices
	// These actions apply to requests. If the rule names an event, some of them apply to deliveries instead.
	{
		Name: "status", constant: "FaultStatus", kind: requests, kindWithEvent: attempts,
		Fields: []string{fieldAfter, fieldDelay, fieldStatus, fieldRetry, fieldBody}, RequestFields: []string{fieldRetry},
		Label: "Respond with a status", Effect: "Responds with `status` (503 by default), `retry_after` and `body`.",
	},
	{
		Name: "reset", constant: "FaultReset", kind: requests, kindWithEvent: attempts,
		Fields: []string{fieldAfter, fieldDelay},
		Label:  "Close the connection", Effect: "Closes the connection without a response.",
	},
	{
		Name: "hang", constant: "FaultHang", kind: requests, kindWithEvent: attempts,
		Fields: []string{fieldAfter, fieldDelay},
		Label:  "Never respond", Effect: "Sends no response, and waits until the client closes the connection, or the rule is removed, disabled or replaced.",
	},
	{
		Name: "truncate", constant: "FaultTruncate", kind: requests, kindWithEvent: requests,
		Fields: []string{fieldDelay},
		Label:  "Truncate the response", Effect: "Processes the request, and sends half of the response body.",
	},
	{
		Name: "oversize", constant: "FaultOversize", kind: requests, kindWithEvent: requests,
		Fields: []string{fieldDelay, fieldStatus, fieldSize},
		Label:  "Respond with a huge body", Effect: "Processes the request, and responds with a JSON object of `size` bytes.",
	},
	{
		Name: "not_json", constant: "FaultNotJSON", kind: requests, kindWithEvent: requests,
		Fields: []string{fieldAfter, fieldDelay, fieldStatus, fieldRetry, fieldBody},
		Label:  "Respond with HTML", Effect: "Responds with `status` (200 by default) and an HTML page, or `body`.",
	},
	{
		Name: "redirect", constant: "FaultRedirect", kind: requests, kindWithEvent: requests,
		Fields: []string{fieldAfter, fieldDelay, fieldStatus, fieldRetry, fieldBody, fieldLocation},
		Label:  "Redirect", Effect: "Responds with `status` (307 by default) and `location`.",
	},
	{
		Name: "delay", constant: "FaultDelay", kind: requests, kindWithEvent: deliveries,
		Fields: []string{fieldDelay}, Needs: fieldDelay,
		Label: "Delay", Effect: "Processes the request, or makes the delivery, after `delay_ms`.",
	},
	// Messages.
	{
		Name: "internal_error", constant: "FaultInternalError", kind: messages, kindWithEvent: messages,
		Fields: []string{fieldBody},
		Label:  "Fail with an internal error", Effect: "Sets the status in the response to `error`, and fires Email.Error.",
	},
	// Deliveries.
	{
		Name: "drop", constant: "FaultDrop", kind: deliveries, kindWithEvent: deliveries,
		Fields: []string{},
		Label:  "Drop", Effect: "Skips the delivery attempt, and sets the state of the delivery to `dropped`.",
	},
	{
		Name: "duplicate", constant: "FaultDuplicate", kind: deliveries, kindWithEvent: deliveries,
		Fields: []string{fieldDelay},
		Label:  "Duplicate", Effect: "Delivers the same bytes again after the receiver has accepted them.",
	},
	{
		Name: "reorder", constant: "FaultReorder", kind: deliveries, kindWithEvent: deliveries,
		Fields: []string{fieldDelay},
		Label:  "Reorder", Effect: "Delays a delivery until after the next delivery of the webhook, or until `delay_ms` (1 s by default) has passed.",
	},
})

func withTargets(all []Action) []Action {
	for i := range all {
		all[i].Targets = all[i].targets()
		all[i].RequestFields = append([]string{}, all[i].RequestFields...) // JSON requires a list
	}
	return all
}

func (a Action) targets() (names []string) {
	for _, kind := range []targetKind{a.kind, a.kindWithEvent} {
		if name := kind.String(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Actions returns all actions.
func Actions() []Action { return slices.Clone(table) }

// Manual returns a Markdown table of all actions.
func Manual() string {
	var out strings.Builder
	out.WriteString("| action | matches | fields | effect |\n|---|---|---|---|\n")
	for _, a := range table {
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", a.Name, strings.Join(a.Targets, ", "), a.fields(), a.Effect)
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// fields returns a list of the fields that the action reads, in Markdown.
func (a Action) fields() string {
	var all []string
	for _, field := range a.Fields {
		note := ""
		if slices.Contains(a.RequestFields, field) {
			note = " (only for requests)"
		}
		all = append(all, "`"+field+"`"+note)
	}
	return cmp.Or(strings.Join(all, ", "), "none")
}

func actionNamed(name model.FaultAction) (a Action, known bool) {
	i := slices.IndexFunc(table, func(a Action) bool { return a.Name == name })
	if i < 0 {
		return a, false
	}
	return table[i], true
}

func targetKindOf(f model.Fault) targetKind {
	a, _ := actionNamed(f.Action)
	if f.Event != "" || f.WebhookID != "" {
		return a.kindWithEvent
	}
	return a.kind
}

// ActionNames returns the names of all actions, sorted.
func ActionNames() (names []model.FaultAction) {
	for _, a := range table {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	return names
}

// Apply applies the fault of a rule to a request. To process the request and write the
// response, Apply calls act. To close the connection, it panics with
// [http.ErrAbortHandler]. When the rule is replaced, disabled or removed, or its
// [Plan] is closed, the rule's delays end and its hanging requests are aborted.
func (s *AppliedRule) Apply(w http.ResponseWriter, r *http.Request, act func(http.ResponseWriter)) {
	// Read the body first, because net/http detects a closed connection only
	// after the body is read.
	sent, _ := io.ReadAll(io.LimitReader(r.Body, httpapi.MaxBody+1)) // so the API still detects a larger body
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(sent), r.Body))
	f := s.Fault
	if f.Delay > 0 && !s.delay(r) {
		abort(w)
	}
	if f.Action == model.FaultDelay {
		act(w)
		return
	}
	response := inprocess.NewRecording(w.Header())
	if f.AfterProcessing || f.Action == model.FaultTruncate || f.Action == model.FaultOversize {
		act(response)
	}
	s.finish(w, r, response)
}

// delay waits for the fault's delay. It returns false if the client closes the connection
// before the delay ends.
func (s *AppliedRule) delay(r *http.Request) bool {
	select {
	case <-time.After(s.Delay):
	case <-s.ctx.Done():
	case <-r.Context().Done():
		return false
	}
	return true
}

// finish writes the response of a fault, or closes the connection.
func (s *AppliedRule) finish(w http.ResponseWriter, r *http.Request, response *inprocess.Recording) {
	switch f := s.Fault; f.Action {
	case model.FaultReset:
		abort(w)
	case model.FaultHang:
		select {
		case <-s.ctx.Done():
		case <-r.Context().Done():
		}
		abort(w)
	case model.FaultTruncate:
		truncate(response, w)
	case model.FaultOversize:
		respondOversize(f, w, response)
	case model.FaultNotJSON:
		respond(f, w, http.StatusOK, "text/html; charset=utf-8", errorPage)
	case model.FaultRedirect:
		w.Header().Set("Location", cmp.Or(f.Location, "https://elsewhere.invalid"+r.URL.RequestURI()))
		respond(f, w, http.StatusTemporaryRedirect, "text/plain; charset=utf-8", "")
	case model.FaultStatus:
		kind := "injected"
		if f.Status == http.StatusTooManyRequests {
			kind = "rate_limited"
		}
		body := fmt.Sprintf(`{"detail":[{"loc":[],"msg":"injected by a fault rule","type":%q}]}`+"\n", kind)
		respond(f, w, http.StatusServiceUnavailable, "application/json", body)
	default:
		panic("mockserver: finish does not implement the fault action " + string(f.Action))
	}
}

// errorPage is an HTML page that resembles the error pages of proxies.
const errorPage = "<!DOCTYPE html>\n<html><head><title>502 Bad Gateway</title></head>\n" +
	"<body><h1>502 Bad Gateway</h1><hr><p>gateway</p></body></html>\n"

func respond(f model.Fault, w http.ResponseWriter, status int, contentType, body string) {
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
func respondOversize(f model.Fault, w http.ResponseWriter, response *inprocess.Recording) {
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
// empty, there is nothing to truncate, so it closes the connection without a response.
func truncate(response *inprocess.Recording, w http.ResponseWriter) {
	if response.Body.Len() == 0 {
		abort(w)
	}
	maps.Copy(w.Header(), response.Header())
	w.Header().Set("Content-Length", strconv.Itoa(response.Body.Len()))
	w.WriteHeader(response.Status)
	_, _ = w.Write(response.Body.Bytes()[:response.Body.Len()/2])
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
