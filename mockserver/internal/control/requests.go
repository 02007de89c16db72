package control

import (
	"net/http"
	"strconv"

	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/problem"
)

func (c *Control) requests(r *http.Request) (any, error) {
	q, err := listQueryOf(r)
	if err != nil {
		return nil, err
	}
	return q.list(func(yield func(row) bool) {
		for e := range c.API.Log.Newest() {
			wanted := q.allowsAccount(e.AccountID) && q.allows("operation", e.Operation) && q.allows("method", e.Method) &&
				q.allowsStatus(e.Status)
			text := func() []string {
				return []string{e.ID, e.Method, e.Path, e.Query, e.Operation, strconv.Itoa(e.Status), string(e.Body)}
			}
			if !yield(row{e.ID, wanted, text, func() any { return gateway.SummaryOf(e) }}) {
				return
			}
		}
	}), nil
}

func (c *Control) request(r *http.Request) (any, error) {
	id := r.PathValue("id")
	out := c.API.Log.Record(id)
	if out == nil {
		return nil, problem.NotFound("request", id, "path", "id")
	}
	return out, nil
}
