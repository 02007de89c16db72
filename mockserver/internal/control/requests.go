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
		intro: "The request log contains the latest 10,000 requests to the API, up to 32 MiB in total.",
		routes: []route{
			handle("GET requests", noInput(c.requests),
				"Requests to the API, with the status of each response.").
				filters(
					ofAccount("the account that sent the requests"),
					choice("operation", "an `operationId` of the API", contract.IDs()...),
					choice("method", "the HTTP method", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"),
					param{
						name: "status", doc: "the HTTP status of the response, such as 404 or 4xx; 0 means that the " +
							"connection was lost",
						pattern: regexp.MustCompile(`^([1-5]([0-9]{2}|[xX]{2})|0)$`), shape: "a status such as 404, a class such as 4xx, or 0",
					},
				).
				try(example{query: "operation=submitEmail&status=4xx"}),
			handle("GET requests/{id}", byID(c.request),
				"A request with its body. If the response is an error, the record also contains the response body. If no "+
					"operation matches the request, the record contains the most similar operation."),
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
