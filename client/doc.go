// Package client calls the email platform.
//
//	c, err := client.New(client.Config{BaseURL: "https://…", Token: "…"})
//	email, err := c.Emails.Send(ctx, client.EmailSubmission{…})
//
// The operations are methods of services, one for each kind of resource. Each
// takes a context, which bounds the whole call: queueing, all attempts and the
// pauses between them. "The specification" in this documentation is the
// platform's interface document.
//
// # Authentication
//
// Every request carries an access token: [Config.Token], or what
// [Config.TokenSource] returns. A source is asked before the first request and
// once more after a 401; the request is then sent again. [FreshTokens] makes a source
// of tokens that end, and has them replaced before they do. The token is sent to
// the host of [Config.BaseURL] and nowhere else: redirects are not followed, and
// plain http is refused but for loopback hosts. No value of this package prints
// or logs a token or a webhook's secret, whatever the verb. There is one exception,
// which is fmt's: it calls no methods on what it finds in unexported fields. If a
// type of yours holds a [Config] or [Token] in such a field, then printing a value of that
// type by %v prints the token. Give the type a Format or String method, or keep a
// [Client] in it instead, which shows none.
//
// # Errors
//
// Every call fails with an [*Error], which says what was tried, what the platform
// answered and how often it was tried. The error of [Contacts.Import] alone is about
// several calls, its source and its callbacks. What an error means is asked with
// [errors.Is]:
//
//	switch {
//	case errors.Is(err, client.ErrNotFound):
//	case errors.Is(err, client.ErrOutcomeUnknown): // do not send it again unseen
//	case errors.Is(err, context.DeadlineExceeded):
//	}
//
// The context's error and its cause are underneath if the context ended the call.
// An attempt that took longer than [Config.Timeout] is a context.DeadlineExceeded
// as well: ask the context which of the two it was. Any 2xx is a success. Members
// of an answer that this package does not know are left out; [OnResponse] shows the
// answer as it came. An answer that cannot be what the platform says, an
// [ErrBadAnswer], is one that is a redirect, truncated, larger than
// [Config.MaxResponseBytes], HTML, or not the JSON that is expected.
//
// A nil error means that nothing is missing that was promised: a resource has its
// id, a page its items and each item its id, an import accounts for each contact,
// and a list has as many items as are counted. A 2xx without is an
// ErrBadAnswer that names what is missing, and so is one that holds an error of the
// platform and promises nothing, as that to a deletion, or a list, or counts. Other members may be
// zero: the platform leaves out what it does not have.
//
// What is expected is taken generously. An integer may be written as a string. A
// member that the specification does not promise, and that is of another kind
// than expected, is left out. If a promised member is of another kind, the error
// names it, as in "data[3].list_id", and all else that could be read is returned
// with the error, so that not even the id of a new resource is lost:
//
//	list, err := c.Lists.Create(ctx, client.ListCreate{Name: "News"})
//	if errors.Is(err, client.ErrBadAnswer) && list.ListID != 0 {
//		// it was created
//	}
//
// Two spellings of answers are known, and both are read: a resource may stand
// alone or in a member "data", and go by the name of its id or by "id", and some
// of its members have two names. Those of the specification count where both
// stand. What is sent is what the specification says, in one spelling.
//
// # Retries
//
// The document of the platform says of each operation whether it is repeatable:
// what reads or sets a state is, what creates or sends is not. What happens after
// an attempt depends on that and on what came back:
//
//	What came back                    Repeatable          Creates or sends
//	no connection                     again               again
//	refused unprocessed by HTTP/2     again               again
//	429                               again               again
//	503 with Retry-After              again               again
//	408, 500, 502, 503 or 504         again, maybe done   fails, maybe done
//	lost before the answer            again, maybe done   fails, maybe done
//	an answer that cannot be used     again, maybe done   fails, maybe done
//	another 5xx                       fails, maybe done   fails, maybe done
//	401 and other 4xx                 fails               fails
//
// "Maybe done" means that the platform may have carried it out. If any attempt of
// a call that is not a GET ended like this, and the call fails, then the error is
// an [ErrOutcomeUnknown], also if the status is a 2xx whose body cannot be used:
// the resource may be there, but its id is not known. Everything else that fails
// has certainly done nothing. The failure of a repeatable call can be followed by
// the same call. After that of another, look first whether it was done.
//
// HTTP/2 says of a stream that is refused (REFUSED_STREAM), or above the last one
// of a GOAWAY, that it was not processed: that is how platforms restart. Over HTTP/2
// net/http would send such a request again by itself, and others that may have been
// processed. Here it does not, whatever [Config.HTTPClient] is made of it: each
// attempt is one request, which [RetryConfig] allows and [Error.Attempts] counts. A
// request without a body that HTTP/2 gives back counts as lost. Over HTTP/1 net/http
// sends a request again on a new connection if the platform has closed the old one
// while it was idle: one with a body only if nothing of it was written yet.
//
// A DELETE that finds nothing, after an attempt that maybe was done, has
// succeeded.
//
// There are up to [RetryConfig.MaxAttempts] attempts, with pauses of random
// length in between, on top of what Retry-After asks for. If that is more than
// [RetryConfig.MaxRetryAfter], the call fails at once: its [Error.RetryAfter] says how
// long the platform asked to wait. A pause that would not end before the context's
// deadline is not begun: the call fails at once with what came back last. The
// retries of all calls together are bounded by [RetryConfig.Budget]. A MaxAttempts
// of 1 turns all of this off, and [WithMaxAttempts] sets it for single calls.
//
// # Pagination
//
// For each kind of list there is List, which returns one page, and All, which
// iterates over the items of all pages:
//
//	for contact, err := range c.Contacts.All(ctx, listID, client.ListContactsParams{PerPage: 100}) {
//		if err != nil {
//			return err
//		}
//		…
//	}
//
// Nothing is sent before the first iteration, and each loop starts anew. An error
// is yielded once, after all items before it, and ends the loop. What the platform
// answers counts. A short page, which holds fewer items than the answer says a page
// holds, ends the list if as many items were seen as the answers count. They count
// if WithCount asks for it; else the page behind a short one is asked for too, and
// must be empty, refused as one that is not there, or the same again. Two empty
// pages end the list as well, and behind a full page that makes as many as the
// answers count, one that is empty or refused. A list that ends with fewer items
// than are counted is an [ErrBadAnswer], and so is a platform whose short page is
// not the last, which answers another page than asked for, or the same items again:
// going on would never end, or ending would lose items. [Lookahead] asks for pages
// ahead of their use. Lists that change meanwhile can yield an item twice or leave
// one out: pages are numbered, not anchored.
//
// # Import
//
// [Contacts.Import] takes any number of contacts from an iterator and sends them
// in batches of 1,000, some at a time. Its [ImportReport] says of each contact what
// became of it. An import that failed or was killed can be resumed without losing a
// contact: from the last checkpoint, or exactly with what the report says is left.
//
// # Lookups
//
// The platform allows one lookup of a submitted email a second for each user and
// account. [Emails.Get] keeps to that by itself, for any number of goroutines: the
// next request starts a second after the answer to the one before, first come
// first served. A refusal that comes nevertheless, because another process uses the
// same token, is waited out. A [LookupLimiter] can be shared by several clients, which
// then queue together if the first token of each was the same.
//
// # Observing
//
// [Config.Logger] gets a record of each request and each retry; its documentation
// names their keys. [Config.Observe] is told when a call begins, is tried again and
// ends, which is what traces and metrics are made of. [OnResponse] shows the answers
// themselves.
//
// # Concurrency
//
// A [Client] and its services are immutable and safe for concurrent use by any
// number of goroutines, and so are their iterators, each loop being its own. What
// is passed in is not changed, and not kept after the call. What is returned
// belongs to the caller. No goroutine outlives the call or loop that started it,
// but that of a [TokenSource] which ignores its context.
//
// Callbacks that run on other goroutines may panic, or end their goroutine as
// testing.T.FailNow does: the goroutine of the call then does the same, after it has
// waited for what was under way.
package client
