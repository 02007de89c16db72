package quirk

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/apierror"
	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/gateway"
)

// table returns all quirks. Their order matters, because the quirks of later rows change
// the results of earlier rows.
func table() []Quirk {
	return []Quirk{
		{Name: "strict-parameters", Text: "Rejects query parameters that the specification does not define with 422.", Seen: "reports", request: strictParameters},
		{Name: "max-page=", Text: "Returns at most N items per page.", request: maxPage},
		{Name: "webhooks-unpaged", Text: "Returns all webhooks in one response without `pagination`, for any parameters.", Seen: "the specification", request: firstWebhooks, response: webhooksUnpaged},
		{Name: "refuse-last-page", Text: "Responds with 404 to the page after the last page.", response: refuseLastPage},
		{Name: "repeat-last-page", Text: "Returns the last page instead of the page after it.", Seen: "reports", response: repeatLastPage},
		{Name: "no-count", Text: "Never returns the number of items in a list.", response: noCount},
		{Name: "created-for-import", Text: "Responds to an import with 201 instead of 200.", response: createdForImport},
		{Name: "ok-with-body", Text: "Responds with 200 and a body instead of 204.", response: okWithBody},
		{Name: "errors-as-400", Text: "Responds with 400 instead of 404, 409 and 422.", response: errorsAs400},
		{Name: "plain-errors", Text: "Returns errors as text instead of JSON.", response: plainErrors},
		{Name: "no-retry-after", Text: "Omits the header `Retry-After`.", response: func(e *exchange) { e.header.Del("Retry-After") }},
		{Name: "uppercase-status", Text: "Returns statuses in upper case.", Seen: "reports", response: success(uppercaseStatus)},
		{
			Name: "numeric-email-ids", Text: "Returns the ids of emails as numbers. Events and `/_mock/` contain other ids. Lookups accept the latest 100,000 numbers.", Seen: "reports",
			request: textEmailID, response: numericEmailIDs,
		},
		{Name: "text-ids", Text: "Returns all integer ids as text.", response: success(textIDs)},
		{Name: "float-integers", Text: "Returns integers with a fraction, such as 42.0.", Seen: "servers in Lua, PHP and Python", response: success(floatIntegers)},
		{Name: "null-lists", Text: "Returns null instead of an empty list.", Seen: "servers in Go and Java", response: success(nullLists)},
		{Name: "extra-fields", Text: "Adds an unknown field to each object.", response: success(extraFields)},
		{Name: "html-content-type", Text: "Labels JSON as `text/html`.", Seen: "servers in PHP, and gateways", response: htmlContentType},
		{Name: "byte-order-mark", Text: "Begins JSON with a byte order mark.", Seen: "servers on Windows", response: func(e *exchange) { e.prefix = "\ufeff" }},
	}
}

// defined contains the query parameters in the specification.
var defined = []string{"page", "per_page", "sort", "filter"} //nolint:gochecknoglobals // never changes

func strictParameters(e *exchange) {
	for _, name := range slices.Sorted(maps.Keys(e.r.URL.Query())) {
		if !slices.Contains(defined, name) {
			err := apierror.New(http.StatusUnprocessableEntity, "extra_forbidden", "unknown parameter", "query", name)
			e.r = gateway.Invalid(e.r, err)
			return
		}
	}
}

// unpaged reports whether the specification defines no pages for the list in a request.
func (e *exchange) unpaged() bool {
	return e.r.Method == http.MethodGet && e.r.URL.Path == "/webhooks"
}

// maxPage limits the parameter per_page. It leaves an invalid number to the API, which
// returns an error for it.
func maxPage(e *exchange) {
	o, query := gateway.Operation(e.r), e.r.URL.Query()
	if o == nil || e.r.Method != http.MethodGet || len(query["per_page"]) > 1 ||
		!slices.ContainsFunc(o.InQuery, func(p contract.Parameter) bool { return p.Name == "per_page" }) {
		return
	}
	n, err := strconv.Atoi(query.Get("per_page"))
	if !query.Has("per_page") {
		n, err = api.DefaultPerPage, nil
	}
	if err == nil && n > e.value {
		e.set(query, "per_page", e.value)
	}
}

// set sets a parameter of the request.
func (e *exchange) set(query url.Values, name string, value int) {
	query.Set(name, strconv.Itoa(value))
	e.r.URL.RawQuery = query.Encode()
}

// page returns the items of a page, unless the response is not a page.
func page(body map[string]any) (items []any, pagination map[string]any, ok bool) {
	items, ok = body["data"].([]any)
	pagination, paged := body["pagination"].(map[string]any)
	return items, pagination, ok && paged
}

// isPage reports whether the response is the page with this number. The response of a
// fault rule is not, because it has the same body for each request.
func (e *exchange) isPage(n int) bool {
	_, pagination, ok := page(e.body)
	return ok && e.status == http.StatusOK && number(pagination["page"]) == n
}

// firstWebhooks requests the largest page, so most lists need one request.
func firstWebhooks(e *exchange) {
	if e.unpaged() {
		query := e.r.URL.Query()
		e.set(query, "page", 1)
		e.set(query, "per_page", api.MaxPerPage)
	}
}

// webhooksUnpaged requests the other pages and joins them. If a response is not the
// requested page, the client gets this response.
func webhooksUnpaged(e *exchange) {
	if !e.unpaged() || !e.isPage(1) {
		return
	}
	all := []any{}
	for n := 1; ; n++ {
		items, _, _ := page(e.body)
		all = append(all, items...)
		if len(items) < api.MaxPerPage {
			break
		}
		if e.r.Context().Err() != nil || !e.get(n+1, nil) {
			return
		}
	}
	e.body = map[string]any{"data": all}
}

func (e *exchange) afterLastPage() bool {
	items, pagination, ok := page(e.body)
	return ok && len(items) == 0 && pagination["page"] != json.Number("1")
}

func refuseLastPage(e *exchange) {
	if e.afterLastPage() {
		e.status, e.body = http.StatusNotFound, map[string]any{"detail": []any{
			map[string]any{"loc": []any{"query", "page"}, "msg": "the page does not exist", "type": "not_found"},
		}}
	}
}

func repeatLastPage(e *exchange) {
	if !e.afterLastPage() {
		return
	}
	empty := e.response
	if !e.get(1, map[string]string{"with_count": "true"}) {
		return // a fault rule applies to the request
	}
	_, first, _ := page(e.body)
	count, size := number(first["count"]), number(first["per_page"])
	if count == 0 || size == 0 {
		e.response = empty
		return
	}
	e.get((count+size-1)/size, nil)
}

func number(v any) int {
	n, _ := v.(json.Number)
	i, _ := strconv.Atoi(n.String())
	return i
}

func noCount(e *exchange) {
	if _, pagination, ok := page(e.body); ok {
		delete(pagination, "count")
	}
}

func createdForImport(e *exchange) {
	if e.status == http.StatusOK && strings.HasSuffix(e.r.URL.Path, "/contacts/import") {
		e.status = http.StatusCreated
	}
}

func okWithBody(e *exchange) {
	if e.status == http.StatusNoContent {
		e.status, e.body = http.StatusOK, map[string]any{"message": "done"}
		e.header.Set("Content-Type", "application/json")
	}
}

func errorsAs400(e *exchange) {
	switch e.status {
	case http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity:
		e.status = http.StatusBadRequest
	}
}

func plainErrors(e *exchange) {
	if e.status >= http.StatusBadRequest && e.body != nil {
		e.body, e.plain = nil, []byte(http.StatusText(e.status)+"\n")
		e.header.Set("Content-Type", "text/plain; charset=utf-8")
	}
}

// success returns a response function that applies change() to each value in the body of a
// successful response.
func success(change func(field string, value any) any) func(e *exchange) {
	return func(e *exchange) {
		if e.status < http.StatusMultipleChoices && e.body != nil {
			e.body = rewrite("", e.body, change).(map[string]any)
		}
	}
}

// rewrite applies change() to a value, after the values in it.
func rewrite(field string, value any, change func(field string, value any) any) any {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			v[name] = rewrite(name, inner, change)
		}
	case []any:
		for i, inner := range v {
			v[i] = rewrite(field, inner, change)
		}
	}
	return change(field, value)
}

func uppercaseStatus(field string, value any) any {
	if text, ok := value.(string); ok && field == "status" {
		return strings.ToUpper(text)
	}
	return value
}

// numbers assigns numbers to the ids of the latest emails. The numbers are larger than
// 2^53, so a client that reads them into a float64 gets wrong ids.
type numbers struct {
	mu      sync.Mutex
	texts   []string // the latest maxNumbers ids
	dropped int64    // older ids
	of      map[string]int64
}

const (
	firstNumber = 1<<53 + 1
	maxNumbers  = 100_000
)

func (n *numbers) number(text string) json.Number {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.of == nil {
		n.of = map[string]int64{}
	}
	if _, known := n.of[text]; !known {
		if len(n.texts) == maxNumbers {
			delete(n.of, n.texts[0])
			n.texts = n.texts[1:]
			n.dropped++
		}
		n.of[text] = firstNumber + n.dropped + int64(len(n.texts))
		n.texts = append(n.texts, text)
	}
	return json.Number(strconv.FormatInt(n.of[text], 10))
}

func (n *numbers) text(number string) string {
	i, err := strconv.ParseInt(number, 10, 64)
	n.mu.Lock()
	defer n.mu.Unlock()
	if i -= firstNumber + n.dropped; err != nil || i < 0 || i >= int64(len(n.texts)) {
		return number
	}
	return n.texts[i]
}

func textEmailID(e *exchange) {
	if id, ok := strings.CutPrefix(e.r.URL.Path, "/v2/emails/"); ok {
		e.r.URL.Path, e.r.URL.RawPath = "/v2/emails/"+e.ids.text(id), ""
	}
}

func numericEmailIDs(e *exchange) {
	ofEmails := e.r.URL.Path == "/emails" || strings.HasPrefix(e.r.URL.Path, "/v2/emails")
	if id, ok := e.body["id"].(string); ok && ofEmails && e.status < http.StatusMultipleChoices {
		e.body["id"] = e.ids.number(id)
	}
}

func textIDs(field string, value any) any {
	if n, ok := value.(json.Number); ok && (field == "id" || strings.HasSuffix(field, "_id")) {
		return n.String()
	}
	return value
}

func floatIntegers(_ string, value any) any {
	if n, ok := value.(json.Number); ok && !strings.ContainsAny(n.String(), ".eE") {
		return n + ".0"
	}
	return value
}

func nullLists(_ string, value any) any {
	if list, ok := value.([]any); ok && len(list) == 0 {
		return nil
	}
	return value
}

func extraFields(_ string, value any) any {
	if object, ok := value.(map[string]any); ok {
		object["x_unknown"] = map[string]any{"list": []any{1, "a", nil}}
	}
	return value
}

func htmlContentType(e *exchange) {
	if e.body != nil {
		e.header.Set("Content-Type", "text/html; charset=utf-8")
	}
}
