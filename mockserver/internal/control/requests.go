package control

import (
	"regexp"
	"strconv"

	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/problem"
)

// statusPattern is a status, a class of them, or none.
var statusPattern = regexp.MustCompile(`^([1-5]([0-9]{2}|[xX]{2})|0)$`)

// requestRoutes are what the API was asked.
func (c *Control) requestRoutes() section {
	return section{
		title: "Requests",
		about: "The latest 10,000 requests to the API, and no more than 32 MiB of them.",
		routes: []route{
			{
				pattern: "GET requests",
				does:    "What the API was asked, and how it answered.",
				query: listed(
					ofAccount("the account of the access token"),
					param{name: "operation", means: "an `operationId` of the API's document", values: contract.IDs},
					choice("method", "the method", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"),
					param{
						name: "status", means: "the status of the answer, such as 404 or 4xx; 0 is a lost connection",
						pattern: statusPattern, want: "a status such as 404, a class such as 4xx, or 0",
					},
				),
				handler: answering(c.requests),
				example: example{query: "operation=submitEmail&status=4xx"},
			},
			{
				pattern: "GET requests/{id}",
				does:    "A request with its body, the answer of an error, and for a 404 or 405 the closest operation.",
				handler: answering(c.request),
			},
		},
	}
}

func (c *Control) requests(r *request) (recordList[gateway.Summary], error) {
	q := listQueryOf(r)
	n, newest := c.API.Log.Newest()
	return list(q, n, func(yield func(row[gateway.Summary]) bool) {
		for _, e := range newest {
			wanted := q.allowsAccount(e.AccountID) && q.allows("operation", e.Operation) && q.allows("method", e.Method) &&
				q.allowsStatus(e.Status)
			text := func() []string {
				return []string{e.ID, e.Method, e.Path, e.Query, e.Operation, strconv.Itoa(e.Status), string(e.Body)}
			}
			if !yield(row[gateway.Summary]{e.ID, wanted, text, func() gateway.Summary { return gateway.SummaryOf(*e) }}) {
				return
			}
		}
	}), nil
}

func (c *Control) request(r *request) (*gateway.Record, error) {
	return c.requestRecord(r.PathValue("id"))
}

func (c *Control) requestRecord(id string) (*gateway.Record, error) {
	out := c.API.Log.Record(id)
	if out == nil {
		return nil, problem.NotFound("request", id, "path", "id")
	}
	return out, nil
}
