package mockserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"example.com/emailplatform/mockserver/internal/api"
)

// problem is an answer that is an error, in the error format of the API.
type problem struct {
	status     int
	details    []api.ProblemDetail
	retryAfter string // the header Retry-After, if not empty
}

func (p *problem) Error() string {
	if len(p.details) == 0 {
		return http.StatusText(p.status)
	}
	return fmt.Sprintf("%v: %s", p.details[0].Loc, p.details[0].Msg)
}

// detail is one mistake: where it is, what is wrong, and which rule it breaks.
func detail(kind, msg string, loc ...any) api.ProblemDetail {
	return api.ProblemDetail{Loc: loc, Msg: msg, Type: kind}
}

// fail is an error with one detail.
func fail(status int, kind, msg string, loc ...any) *problem {
	if loc == nil {
		loc = []any{}
	}
	return &problem{status: status, details: []api.ProblemDetail{detail(kind, msg, loc...)}}
}

// invalid is a member or parameter that breaks a rule.
func invalid(msg string, loc ...any) *problem {
	return fail(http.StatusUnprocessableEntity, "value_error", msg, loc...)
}

// conflict is a resource whose state does not allow what was asked.
func conflict(kind, msg string, loc ...any) *problem {
	return fail(http.StatusConflict, kind, msg, loc...)
}

// notFound is an id that the caller's account does not have.
func notFound(what string, id any, loc ...any) *problem {
	return fail(http.StatusNotFound, "not_found", fmt.Sprintf("no %s %v", what, id), loc...)
}

// writeProblem is the one place where an error becomes a response.
func writeProblem(w http.ResponseWriter, p *problem) {
	body, err := json.Marshal(api.Problem{Detail: p.details})
	if err != nil { // a loc holds only strings and integers
		panic(err)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if p.retryAfter != "" {
		h.Set("Retry-After", p.retryAfter)
	}
	if p.status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	w.WriteHeader(p.status)
	_, _ = w.Write(append(body, '\n'))
}

// answerError answers with what a handler returned as its error.
func answerError(w http.ResponseWriter, _ *http.Request, err error) {
	if x, ok := w.(*exchange); ok && x.Status != 0 {
		return // the client left while it was being answered
	}
	var p *problem
	if !errors.As(err, &p) {
		p = fail(http.StatusInternalServerError, "internal", err.Error())
	}
	writeProblem(w, p)
}

// answerDecodeError answers a body that is JSON but does not fit; with
// validation on, that has been found before.
func answerDecodeError(w http.ResponseWriter, _ *http.Request, err error) {
	writeProblem(w, bodyProblem(err))
}

// answerParameterError answers a parameter that cannot be read; with
// validation on, that has been found before.
func answerParameterError(w http.ResponseWriter, r *http.Request, err error) {
	var wrong *api.InvalidParamFormatError
	if !errors.As(err, &wrong) {
		writeProblem(w, invalid(err.Error(), "query"))
		return
	}
	in := "query"
	if r.PathValue(wrong.ParamName) != "" {
		in = "path"
	}
	writeProblem(w, invalid("malformed value", in, wrong.ParamName))
}

// Pages are counted from 1 (specification, "Limits").
const (
	defaultPerPage = 50
	maxPerPage     = 100
)

// pageRequest is what a paged endpoint was asked for.
type pageRequest struct {
	page, perPage int64
	withCount     bool
}

// paging reads the parameters of a paged endpoint; zero is left out.
func paging(page, perPage int64, withCount bool) (pageRequest, error) {
	if page == 0 {
		page = 1
	}
	if perPage == 0 {
		perPage = defaultPerPage
	}
	if page < 1 {
		return pageRequest{}, invalid("pages are numbered from 1", "query", "page")
	}
	if perPage < 1 || perPage > maxPerPage {
		return pageRequest{}, invalid("want 1 to "+strconv.Itoa(maxPerPage), "query", "per_page")
	}
	return pageRequest{page, perPage, withCount}, nil
}

// bounds returns which of n items the page holds, as a slice expression takes
// them. A page past the end is empty.
func (p pageRequest) bounds(n int) (from, to int) {
	if p.page-1 > int64(n)/p.perPage {
		return n, n
	}
	from = int((p.page - 1) * p.perPage)
	return from, min(n, from+int(p.perPage))
}

func (p pageRequest) pagination(n int) api.Pagination {
	out := api.Pagination{Page: p.page, PerPage: p.perPage}
	if p.withCount {
		count := int64(n)
		out.Count = &count
	}
	return out
}

// pageOf returns one page of items as the API shows them.
func pageOf[T, W any](p pageRequest, items []T, wire func(T) W) ([]W, api.Pagination) {
	from, to := p.bounds(len(items))
	data := make([]W, 0, to-from)
	for _, item := range items[from:to] {
		data = append(data, wire(item))
	}
	return data, p.pagination(len(items))
}
