package control

import (
	"regexp"
	"slices"
	"strconv"

	"example.com/emailplatform/mockserver/internal/contract"
	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/record"
)

func (c *Control) requestRoutes() section {
	return section{
		title: "Requests",
		intro: "The log keeps the latest 10,000 requests to the API, up to 32 MiB.",
		routes: []route{
			handle("GET requests", noInput(c.requests),
				"Requests to the API, with the status of their responses.").
				filters(
					ofAccount("the account of the access token"),
					choice("operation", "an `operationId` of the API", contract.IDs()...),
					choice("method", "the method", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"),
					param{
						name: "status", doc: "the status of the response, such as 404 or 4xx; 0 means a lost " +
							"connection",
						pattern: regexp.MustCompile(`^([1-5]([0-9]{2}|[xX]{2})|0)$`), shape: "a status such as 404, a class such as 4xx, or 0",
					},
				).
				try(example{query: "operation=submitEmail&status=4xx"}),
			handle("GET requests/{id}", byID(c.request),
				"A request with its body and the body of an error response. For a 404 or 405, it contains the most similar operation too."),
		},
	}
}

func (c *Control) requests(r *request) (recordList[gateway.Summary], error) {
	q := listQueryOf(r)
	newest := c.API.Log.Newest()
	return list(q, len(newest), slices.Values(newest), view[*record.Request, gateway.Summary]{
		id: func(e *record.Request) string { return e.ID },
		allowed: func(e *record.Request) bool {
			return q.allowsAccount(e.AccountID) && q.allows("operation", e.Operation) && q.allows("method", e.Method) &&
				q.allowsStatus(e.Status)
		},
		text: func(to []byte, e *record.Request) []byte {
			return append(lines(to, e.ID, e.Method, e.Path, e.Query, e.Operation, strconv.Itoa(e.Status)), e.Body...)
		},
		record: func(e *record.Request) gateway.Summary { return gateway.SummaryOf(*e) },
	}), nil
}

func (c *Control) request(id string) (*gateway.Record, error) {
	out := c.API.Log.Record(id)
	if out == nil {
		return nil, problem.NotFound("request", id, "path", "id")
	}
	return out, nil
}
