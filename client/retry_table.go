package client

import (
	"net/http"
	"slices"
)

// attemptResult is the result of the last attempt of a failed call.
type attemptResult uint8

const (
	concluded    attemptResult = iota // a retry would not help, and the last request, if any, changed nothing
	badRequest                        // the client rejected the arguments and sent nothing
	notSent                           // no connection
	unprocessed                       // the server rejected the request unprocessed over HTTP/2
	responseLost                      // a part of the request may have been sent, but no response arrived
	errorStatus                       // a status of 400 or more
	postponed                         // the same, with a valid Retry-After header
	unreadable                        // an invalid response
	mismatched                        // an invalid response: JSON with a missing value or a value of the wrong type
	unreported                        // an invalid response: JSON without any result of the import
	unqueued                          // a valid response, whose status means that the email was not queued
)

// callEffect is the effect of a failed call.
type callEffect uint8

const (
	noEffect  callEffect = iota // the platform processed none of the requests
	maybeDone                   // the platform may have processed a request
)

// decision is a cell of the table under Retries in the package documentation.
type decision string

const (
	retry          decision = "retry"
	retryMaybeDone decision = "retry, maybe done"
	fail           decision = "fail"
	failMaybeDone  decision = "fail, maybe done"
	newToken       decision = "new token, below" // withToken has already requested it
)

func (d decision) again() bool { return d == retry || d == retryMaybeDone }

func (d decision) effect() callEffect {
	if d == retryMaybeDone || d == failMaybeDone {
		return maybeDone
	}
	return noEffect
}

// retryRule is a row of the retry table. The first row that applies to an attempt
// determines the decision.
type retryRule struct {
	outcome                   string
	applies                   bool
	repeatable, notRepeatable decision
}

// retryTable returns the table under Retries in the package documentation for the
// last attempt of a call.
func (r RetryConfig) retryTable(e *Error) []retryRule {
	response := e.result == errorStatus || e.result == postponed
	status := func(statuses ...int) bool { return response && slices.Contains(statuses, e.StatusCode) }
	promised := e.result == postponed && r.Unprocessed503WithRetryAfter
	uncertain := status(
		http.StatusRequestTimeout, // a proxy may have sent this because it received no response
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
	) || response && 520 <= e.StatusCode && e.StatusCode <= 530 // a proxy of Cloudflare could not get a response
	return []retryRule{
		{"no connection", e.result == notSent, retry, retry},
		{"rejected unprocessed by HTTP/2", e.result == unprocessed, retry, retry},
		{"429", status(http.StatusTooManyRequests), retry, retry},
		{"503 as promised, below", promised && status(http.StatusServiceUnavailable), retry, retry},
		{"408, 500, 502–504 or 520–530", uncertain, retryMaybeDone, failMaybeDone},
		{"connection lost, or no response", e.result == responseLost, retryMaybeDone, failMaybeDone},
		{"invalid response", e.result == unreadable || e.result == mismatched, retryMaybeDone, failMaybeDone},
		{"no result of an import", e.result == unreported, failMaybeDone, failMaybeDone},
		{"another 5xx", response && e.StatusCode >= 500, failMaybeDone, failMaybeDone},
		{"401", status(http.StatusUnauthorized), newToken, newToken},
		{"another 4xx", response, fail, fail},
	}
}

// classify returns the decision of the table for the last attempt. If no row applies,
// the attempt changed nothing.
func (r RetryConfig) classify(repeatable bool, e *Error) decision {
	for _, rule := range r.retryTable(e) {
		switch {
		case rule.applies && repeatable:
			return rule.repeatable
		case rule.applies:
			return rule.notRepeatable
		}
	}
	return fail
}
