// Package client is a client for the email platform. It manages templates, lists,
// contacts, campaigns, workflows, suppressed emails and webhooks, and sends emails.
//
//	package main
//
//	import (
//		"context"
//		"errors"
//		"fmt"
//		"log"
//		"os"
//
//		"example.com/emailplatform/client"
//	)
//
//	func main() {
//		c, err := client.New(client.Config{
//			BaseURL: os.Getenv("EMAILPLATFORM_BASE_URL"),
//			Token:   os.Getenv("EMAILPLATFORM_TOKEN"),
//		})
//		if err != nil {
//			log.Fatal(err)
//		}
//		email, err := c.Emails.Send(context.Background(), client.EmailSubmission{
//			To:     "ada@example.org",
//			Sender: client.Sender{Name: "Example Shop", Email: "shop@example.com"},
//			Content: client.EmailContent{
//				Type:    client.EmailTypeTransactional,
//				Subject: "Your order",
//				Text:    "Your order is on its way.",
//			},
//		})
//		if errors.Is(err, client.ErrOutcomeUnknown) {
//			log.Fatal("the platform may have sent the email; do not send it again: ", err)
//		}
//		if err != nil { // the platform did not send it
//			log.Fatal(err)
//		}
//		fmt.Println(email.ID, email.Status)
//	}
//
// Each kind of resource has a service with a method for each operation. The
// context of a method bounds the whole call: the queue for a lookup, all
// attempts, and the delays between them. "Specification" in this documentation
// is the file docs/specification.md of the repository.
//
// # Authentication
//
// Every request carries an access token: [Config.Token], or the token that
// [Config.TokenSource] returns. The client caches the token of a source. It calls the
// source before the first request, shortly before the token expires, and once after a 401
// response (see Retries). The client sends the token only to the host of
// [Config.BaseURL]. It does not follow redirects. It rejects http URLs except on loopback
// hosts, unless [Config.AllowPlainHTTP] is set.
//
// No value of this package prints or logs a token or a webhook's secret, with two
// exceptions. Package fmt does not call the methods of unexported fields. If one of your
// types has a [Config] or a [Token] in an unexported field, %v prints the token. Give
// this type a Format or String method, or store a [Client] instead. Package fmt also
// prints the token for %p, which go vet rejects.
//
// # Errors
//
// The error of a method of a service is an [*Error], which contains the operation, the
// response and the number of attempts. Only the error of [Contacts.Import] can combine
// errors of several requests, of its source and of its callbacks. Use [errors.Is] to
// distinguish errors:
//
//	switch {
//	case errors.Is(err, client.ErrNotFound):
//	case errors.Is(err, client.ErrNotQueued): // the platform refused the email
//	case errors.Is(err, client.ErrOutcomeUnknown): // do not send again without a check
//	case errors.Is(err, context.DeadlineExceeded):
//	}
//
// If the context ended the call, the error wraps the context's error and its cause. An
// attempt that exceeds [Config.Timeout] also wraps [context.DeadlineExceeded]. Check the
// context to distinguish the two cases.
//
// A nil error means that the result is complete: a resource has its id, a page
// has its items, an import accounts for each contact, and an iteration yields as
// many items as the platform counts. Fields that the specification does not
// require may be zero.
//
// An [ErrInvalidResponse] is a response that the client cannot use: a redirect,
// HTML, a truncated body, a body larger than [Config.MaxResponseBytes], other
// JSON than expected, or a 2xx response that contains an error or lacks a
// required field. The error names the field, as in "data[3].list_id". The
// client returns the readable fields together with the error, so the id of a
// new resource is not lost:
//
//	list, err := c.Lists.Create(ctx, client.ListCreate{Name: "News"})
//	if errors.Is(err, client.ErrInvalidResponse) && list.ID != 0 {
//		// the platform created the list
//	}
//
// The client is a tolerant reader. Every 2xx status is a success. The client
// ignores unknown fields; [WithResponseHook] gives access to them. An integer may
// be a string, and an optional field of the wrong type counts as omitted. The
// client accepts two response formats, because the specification leaves most
// response bodies undefined. A resource can be the whole body or be in a field
// "data", and its id can have its own name or "id".
//
// # Retries
//
// The client retries a request only if the platform certainly did nothing, or if
// repeating it is safe. The OpenAPI document marks each operation as repeatable
// or not. Operations that read or set a state are repeatable. Operations that
// create or send something are not. The outcome of an attempt decides what
// happens next:
//
//	Outcome of the attempt            Repeatable          Not repeatable
//	no connection                     retry               retry
//	rejected unprocessed by HTTP/2    retry               retry
//	429                               retry               retry
//	503 with Retry-After              retry               retry
//	408, 500, 502, 503 or 504         retry, maybe done   fail, maybe done
//	connection lost                   retry, maybe done   fail, maybe done
//	invalid response                  retry, maybe done   fail, maybe done
//	another 5xx                       fail, maybe done    fail, maybe done
//	401                               new token, below    new token, below
//	another 4xx                       fail                fail
//
// A 2xx response with the status of an email that is not queued ([ErrNotQueued]) is
// not retried, and the email is certainly not sent.
//
// If HTTP/2 rejects a request without a body unprocessed, the client treats it like
// a lost connection. All requests that are not repeatable have a body.
//
// "Maybe done" means that the platform may have processed the request. If a call fails
// after such an attempt, its error is an [ErrOutcomeUnknown], unless the call is a GET.
// This includes a 2xx response with an unusable body, because the resource may exist
// although its id is unknown. Any other error means that the request had no effect,
// except that the platform keeps a record of an email after ErrNotQueued. After
// ErrOutcomeUnknown you can repeat a repeatable call. Before you repeat another call,
// find out whether the platform processed it.
//
// After a 401 a call with a fixed [Config.Token] fails. With a [TokenSource], the
// client requests a new token once. It sends the request again only if the new
// token differs from the old one. This request does not count against
// MaxAttempts.
//
// [RetryConfig.MaxAttempts] is the maximum number of attempts;
// [WithMaxAttempts] sets it for single calls, and 1 turns retries off. Between
// attempts the client waits for a random time (exponential backoff with full
// jitter), plus the delay in Retry-After. It does not retry in these cases:
//
//   - Retry-After is longer than [RetryConfig.MaxRetryAfter]. [Error.RetryAfter]
//     contains the requested time.
//   - The delay would not end before the context's deadline.
//   - The retry budget that all calls share, [RetryConfig.Budget], is exhausted.
//
// If an attempt of a DELETE was maybe done and the next one returns 404, the call
// succeeds.
//
// By default net/http resends some requests itself, and over HTTP/2 even requests that
// may have been processed. The client prevents this for every [Config.HTTPClient], so one
// attempt is one request and is counted in [Error.Attempts]. Over HTTP/1, net/http still
// resends a request on a new connection if the platform had closed the idle connection.
// It resends a request with a body only if no byte of the request had been written.
//
// # Pagination
//
// List returns one page. All iterates over the items of all pages:
//
//	for contact, err := range c.Contacts.All(ctx, listID, client.ListContactsParams{}) {
//		if err != nil {
//			return err
//		}
//		…
//	}
//
// An iteration sends no request before its first step and starts from the
// beginning each time. It yields an error once, after all items before it, and
// then ends. It requests the number of items, and 100 items per page unless
// PerPage is set. [Prefetch] prefetches pages.
//
// The client checks that the list is complete. A short page is a page with fewer items
// than fit on it. If responses contain no number of items, the client also requests the
// page after a short page. That page must be empty, be rejected ([ErrNotFound] or
// [ErrValidation]) or repeat the short page. The error is [ErrInvalidResponse] if the
// list has fewer items than the platform counts, or if a response has another page number
// or the items of an earlier page.
//
// Pages are numbered. If an item leaves the list during an iteration, the items after
// it move up, and one of them can be missing. If the number of items decreases,
// the error at the end is [ErrListChanged]; iterate again. If another item joins the
// list at the same time, the number stays the same and the client cannot detect the
// change. An item that joins the list can move others, which are then duplicated.
// [Contacts.All] describes how to read contacts completely.
//
// # Import
//
// [Contacts.Import] reads any number of contacts from an iterator and sends them in
// batches of 1,000. Its [ImportReport] has the result of each contact. You can resume an
// import that failed or crashed without losing a contact. Start from the last checkpoint,
// or pass the contacts that the report lists as remaining.
//
// # Lookup rate limit
//
// The platform allows one lookup of a submitted email per second for each user and
// account. [Emails.Get] enforces this limit for any number of goroutines. Each request
// starts at least one second after the previous response, in the order of the calls. If
// the platform still rejects a lookup, because another process uses the same token, the
// client waits and retries. Clients can share a [LookupLimiter].
//
// # Logs, metrics and traces
//
// [Config.Logger] gets a record of each request and each retry. [Config.Observe] is
// called when a call begins, and returns an [Observer] for its retries and its end.
// [WithResponseHook] gives access to each response.
//
// # Concurrency
//
// A [Client], its services and its iterators are immutable and safe for concurrent use.
// The client does not change or keep arguments after the call, and the caller owns all
// results. No goroutine outlives the call or loop that started it, except a goroutine
// that calls a [TokenSource] in the background to replace a token that expires soon. It
// ends after at most [Config.Timeout], unless the source ignores its context.
//
// If a callback on another goroutine panics or calls [runtime.Goexit], as
// testing.T.FailNow does, the call waits for its requests in flight and then does
// the same on its own goroutine.
package client
