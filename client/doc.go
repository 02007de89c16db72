// Package client is a client for the email platform. It manages templates, lists,
// contacts, campaigns, workflows, suppressed emails and webhooks, and sends emails.
//
//	c, err := client.New(client.Config{
//		BaseURL: os.Getenv("EMAILPLATFORM_BASE_URL"),
//		Token:   os.Getenv("EMAILPLATFORM_TOKEN"),
//	})
//	if err != nil {
//		return err
//	}
//	email, err := c.Emails.Send(ctx, client.EmailSubmission{
//		To:     "ada@example.org",
//		Sender: client.Sender{Name: "Example Shop", Email: "shop@example.com"},
//		Content: client.EmailContent{
//			Type:    client.EmailTypeTransactional,
//			Subject: "Your order",
//			Text:    "Your order is on its way.",
//		},
//	})
//	if errors.Is(err, client.ErrOutcomeUnknown) {
//		return fmt.Errorf("the platform may have sent the email; do not send it again: %w", err)
//	}
//	if err != nil { // the platform did not send the email
//		return err
//	}
//	fmt.Println(email.ID, email.Status)
//
// A [Client] has a service for each kind of resource, such as c.Emails, with a method for
// each operation. The context of a call limits the whole call, including retries and the
// wait for the rate limiter. In this documentation, "Specification" refers to the file
// docs/specification.md in the repository.
//
// # Authentication
//
// Every request carries an access token, either [Config.Token] or a token from
// [Config.TokenSource]. To protect the token, the client sends it only to the host of
// [Config.BaseURL], does not follow redirects, and accepts an http URL only with a
// loopback host or [Config.AllowPlainHTTP]. If your program uses many accounts, create
// one Client, and call [Client.WithToken] for each account.
//
// Values of this package's types do not reveal a token or a webhook's secret when they
// are printed or logged, except in three cases:
//
//   - An [Error] contains the token if you pass the token as an id.
//   - Package fmt prints the token if a [Config] or a [Token] is in an unexported field,
//     because fmt does not call the methods of unexported fields. Give your type a
//     Format or String method, or store a [Client] instead. For the same reason, fmt prints
//     the body of a [Response] in an unexported field, which may contain a webhook's secret.
//   - Package fmt prints the token for the verb %p, which go vet reports.
//
// # Errors
//
// Service methods return an [*Error], which contains the operation, the response and the number
// of attempts. Only [Contacts.Import] can also return an error that combines several errors. To
// find the cause of an error, use [errors.Is] with the sentinels of this package. The file
// docs/errors.md describes what to do after each of them. For example:
//
//	switch {
//	case errors.Is(err, client.ErrNotQueued): // the platform rejected the email
//	case errors.Is(err, client.ErrOutcomeUnknown): // do not send again without a check
//	}
//
// The context limits the whole call, and [Config.Timeout] limits each attempt. If the
// context was canceled or has expired, the error wraps ctx.Err() and context.Cause(ctx). If
// only an attempt exceeded its timeout, the error wraps [context.DeadlineExceeded], but
// ctx.Err() is nil.
//
// The client accepts any 2xx status, not only the status that the specification names. It
// then checks the body, so a nil error guarantees a complete result:
//
//   - A resource contains its id, and a page contains its items.
//   - The result of an import accounts for each contact.
//   - An iteration yields as many items as the platform reports.
//
// Fields that the specification does not require may be zero.
//
// [ErrInvalidResponse] means that the client cannot use the response. Examples are a
// redirect, HTML, a truncated body, a body larger than [Config.MaxResponseBytes] and
// unexpected JSON. A 2xx response without a required field is also invalid. The error then
// names the field, for example "data[3].list_id".
//
// Some platforms report an error in a 2xx response, which can look like an empty list or a
// success. Therefore, three kinds of responses are invalid if they contain an error: a
// page, the result of an import, and the response to a write if this response has no
// required fields.
//
// Together with [ErrInvalidResponse], the client returns the fields that it could read, so
// the id of a new resource is not lost:
//
//	list, err := c.Lists.Create(ctx, client.ListCreate{Name: "News"})
//	if errors.Is(err, client.ErrInvalidResponse) && list.ID != 0 {
//		// the platform created the list
//	}
//
// Platforms write some values differently, so the client accepts several forms. An id or an
// integer may be text or a number, a time may be Unix seconds, milliseconds or ISO 8601,
// and a known status may be in another letter case. Any other value of the wrong type
// becomes the zero value, and [Config.Logger] and [Observation].Ignored report it. The
// client ignores unknown fields. However, three kinds of values must have the right type:
//
//   - the id of the resource, because your program needs it to find the resource again
//   - the fields of a webhook, because the client compares webhooks before it creates or
//     returns one
//   - the status in the response to [Emails.Send], because it can mean that the email is not
//     sent
//
// # Confirmed writes
//
// A write is successful if the response has any 2xx status and contains the values in
// this table. If the response contains the id, the client ignores errors in the same
// response (see "Success codes" in docs/decisions.md).
//
//	Write                                        Response
//	create or update a template, list, contact,  the id of the resource
//	  campaign, workflow or webhook
//	Emails.Send, Emails.SendLegacy               the id; if Emails.Send gets a status that
//	                                             is rejected or error: ErrNotQueued; if
//	                                             it is not text: ErrOutcomeUnknown
//	SuppressedEmails.Add                         the address
//	Contacts.Import, Contacts.ImportBatch        a result for each contact
//	Contacts.Create with DoubleOptIn             a status other than active, or GET
//	Campaigns.Send                               the id; a status other than incomplete, or GET
//	Campaigns.Schedule                           the same, and the scheduled time, or GET
//	any other write                              no error
//
// In the table, "or GET" means that the response to the write may lack the value in this row.
// The client then requests the resource. If the second response lacks the value too, the error
// matches [ErrInvalidResponse] and [ErrOutcomeUnknown], and the client returns the resource
// together with the error.
//
// The response to Campaigns.Schedule can contain another time than you requested. The client
// accepts this in two cases:
//
//   - The requested time is in the past. The platform then sends the campaign immediately,
//     so the client accepts any time in the response.
//   - The requested time is in the future for the client, but in the past for a platform
//     whose clock is ahead. The platform then sends the campaign immediately, and responds
//     with its own current time. Therefore, the client accepts a later time than you
//     requested, up to one minute after the client's current time. It also accepts a later
//     time up to the campaign's updated_on, because this time comes from the platform's
//     clock.
//
// # Retries
//
// The client retries a request only if the platform certainly did not process it, or if
// repeating it is safe. Operations that read data or set a state are repeatable.
// Operations that create or send something are not repeatable. The outcome of an attempt
// determines whether the client retries:
//
//	Outcome of the attempt            Repeatable          Not repeatable
//	no connection                     retry               retry
//	rejected unprocessed by HTTP/2    retry               retry
//	429                               retry               retry
//	503 as promised, below            retry               retry
//	408, 500, 502–504 or 520–530      retry, maybe done   fail, maybe done
//	connection lost, or no response   retry, maybe done   fail, maybe done
//	invalid response                  retry, maybe done   fail, maybe done
//	no result of an import            fail, maybe done    fail, maybe done
//	another 5xx                       fail, maybe done    fail, maybe done
//	401                               new token, below    new token, below
//	another 4xx                       fail                fail
//
// "Maybe done" means that the platform may have processed the request. If any attempt of a
// failed call is "maybe done", the error matches [ErrOutcomeUnknown], unless the call is a
// GET. An error that matches neither ErrOutcomeUnknown nor [ErrNotQueued] means that the
// failed request changed nothing. After an ErrNotQueued, the platform keeps a record of the
// email, although it does not send the email. The file docs/errors.md describes what to do
// after each of these two errors.
//
// A 4xx status other than 408 means that the platform rejected the request and did not
// process it (see "Error codes" in docs/decisions.md). By default, a 503 does not have this
// meaning. If your platform promises that it has not processed a request when it responds
// with a 503 and a Retry-After header, set [RetryConfig.Unprocessed503WithRetryAfter].
//
// After a 401, a call with a fixed [Config.Token] fails. If [Config.TokenSource] is set,
// the client requests a new token once. If this token differs from the rejected token,
// the client sends the request again. This attempt does not count toward MaxAttempts.
//
// [RetryConfig.MaxAttempts] limits the attempts, and [WithMaxAttempts] overrides it for
// individual calls. By default, an attempt whose response is a 429 with a Retry-After header
// does not count, because other calls can use up the platform's rate limit again and again.
// After MaxAttempts attempts, if the last response is such a 429, the client retries the
// call only while the sum of the call's delays does not exceed [RetryConfig.MaxRetryAfter].
// Each of these delays is at least 100 ms. If MaxAttempts is 1 or WithMaxAttempts is set, an
// attempt with such a 429 counts too.
//
// Between attempts, the client waits for a random time (exponential backoff with full
// jitter) plus the delay in a Retry-After header. The client does not retry in these
// cases:
//
//   - Retry-After is longer than [RetryConfig.MaxRetryAfter].
//   - The context's deadline is before the end of the delay.
//   - The retry budget that all calls share, [RetryConfig.Budget], is exhausted. A retry
//     after a 429 with a Retry-After header does not need the budget.
//
// A delay stops only its own call, not the other calls of the client. If all calls must
// stop, for example after a 429, pause your workers for [Error].RetryAfter. Package mailroom
// does this for the emails of its outbox.
//
// If the platform may have processed a DELETE and the retry returns 404, the
// call succeeds.
//
// The retry of a repeatable write can undo a change that was made between the attempts.
// For example, a repeated import activates a contact that was deleted in the meantime (see
// [ImportOptions].NoRepeat), and a repeated SuppressedEmails.Remove removes an address that
// was added again. To prevent this, limit the call to one attempt with [WithMaxAttempts].
//
// Each attempt must be exactly one request. However, net/http by default resends some requests
// itself. Over HTTP/2, it resends even requests that the platform may have processed. The
// client prevents this for every [Config.HTTPClient].
//
// There is one exception: if the platform has closed an idle HTTP/1 connection, net/http still
// resends the request on another connection. This is safe, because net/http resends a request
// other than a GET only if it has not written any byte of it.
//
// Over HTTP/2, this protection has a cost for requests without a body. If a server rejects
// such a request without processing it, net/http tries to resend the request. When the
// client prevents this, net/http does not report the reason. The client then cannot
// distinguish the rejection from a lost connection. Therefore, if the request is not
// repeatable, its outcome is unknown.
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
// Each loop over an iterator sends its own requests, the first when the loop begins. If a
// request fails, the iteration yields all earlier items and ends with the error. The page
// size is 100 unless PerPage is set. With [Prefetch], the client requests pages in advance.
//
// The client checks that the list is complete. If the responses contain the total number
// of items, the iteration ends after that number of items. Otherwise, the client
// requests pages until the platform returns an empty page, repeats an earlier page or
// refuses the request (see "Pages" in docs/decisions.md). If the list has fewer items
// than the platform reports, or a page number is wrong, the error is
// [ErrInvalidResponse].
//
// If the platform refuses WithCount or the page size, the iteration continues without it,
// and the client logs a warning.
//
// A list can change while you iterate:
//
//   - If an item is removed, later items move to earlier pages, so the iteration may miss an
//     item. To detect this, set WithCount. If the total number of items then decreases, the
//     iteration ends with [ErrListChanged], and you can iterate again. It cannot detect a
//     removal if another item is added at the same time.
//   - If items are added, other items move to later pages, so the iteration may yield some
//     items two times. If a whole page is repeated, it ends with ErrListChanged.
//
// To delete items, first collect their ids, and delete them after the loop. [Contacts.All]
// describes how to read all contacts.
//
// # Import
//
// [Contacts.Import] reads any number of contacts from an iterator and sends them in
// batches. The returned [ImportReport] contains the result for each contact. To resume
// an import without losing contacts, start from the last checkpoint, or import the
// contacts that [ImportReport.Remaining] returns.
//
// # Lookup rate limit
//
// The platform allows one lookup of a submitted email per second for each user and
// account. [Emails.Get] waits so that any number of goroutines keeps within this limit,
// and retries if the platform still rejects a lookup. By default, only the clients of
// one process share this limit. With a [LookupLimiter], the clients of several
// processes can share it.
//
// # Logs, metrics and traces
//
// [Config.Logger] receives a record for each request and each retry. [Config.Observe] is
// called at the start of each call, and returns an [Observer] that the client notifies
// of the call's retries and end. [WithResponseHook] passes each response to a function.
//
// # Concurrency
//
// A [Client], its services and its iterators are immutable and safe for concurrent use.
// The client does not change arguments or use them after the call, and the caller owns
// all results.
//
// A goroutine of the client ends before the call or loop that started it. The only
// exception is the goroutine that calls the [TokenSource], because several calls can share
// the token. The client cancels the context of the source after [Config.Timeout], or when
// all calls that waited for the token have ended. If the source ignores the cancellation,
// a call that is still waiting returns an error one second later.
//
// Some of your callbacks run on another goroutine. If such a callback panics or calls
// [runtime.Goexit] (for example, in testing.T.FailNow), the client method waits for its
// pending requests. Then it panics or exits in the same way on your goroutine.
package client
