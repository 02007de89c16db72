package mockserver

// The control routes: what [Server]'s methods do, over HTTP. They share the
// port of the API, under /_mock/.
//
// Who may call them: while the server listens on a loopback address, whoever
// names it by a loopback name (Host) and does not call from another site's page
// (Origin, Sec-Fetch-Site); others get 403. On any other address every route but
// GET /_mock/health needs one of the access tokens, as Authorization: Bearer or
// in the cookie that GET /_mock/…?token= sets before it redirects to itself;
// others get 401. Whoever gets through sees and changes all accounts.
//
// Requests and answers are JSON unless said otherwise, bodies at most 10 MiB
// (PUT /_mock/state: 1 GiB), errors as the API's: {"detail":[{loc,msg,type}]}.
// Times are RFC 3339, durations milliseconds, lists never null. A list takes
// ?search= (all of the words, without case), ?limit= (200 if not given, at most
// 1000) and ?before= (an id: what is older than it) and answers, newest first,
// {"data":[…],"total":n,"more":bool}: total is what matches the search, more
// says that older records follow. Lists hold summaries; a record by its id holds
// everything.
//
//	GET    /_mock/health                        {"status":"ok"}
//	GET    /_mock/info                          {url, accounts: [{account_id, users}], fault_seed, lookup_limit, retry_schedule_ms,
//	                                            events: [names], magic_domain}
//	GET    /_mock/stream                        server-sent events, see below
//	POST   /_mock/wait                          204 when every queue is idle; ?timeout_ms=, then 504
//	*      /_mock/accounts/{account_id}/api/…   the API, as the account's first user (or ?user_id=), without a token, faults and
//	                                            the request log: lists, contacts, suppressed addresses, webhooks, templates …
//
//	GET    /_mock/outbox                        messages that were sent, refused or failed; also ?account_id= ?to= ?status=
//	GET    /_mock/outbox/{id}                   with text, html, headers, links and history
//	GET    /_mock/outbox/{id}/html              text/html under a policy that runs nothing; ?remote=1 lets it load pictures
//	GET    /_mock/outbox/{id}/source            the message as RFC 5322 has it, as text/plain
//	POST   /_mock/outbox/{id}/bounce            {"category":"bounce_hb","diagnostic":"…"}; both may be left out
//	POST   /_mock/outbox/{id}/complain          {"provider":"…"}
//	POST   /_mock/outbox/{id}/open              {}
//	POST   /_mock/outbox/{id}/click             {"url":"…"}; the first link if left out
//	POST   /_mock/outbox/{id}/unsubscribe       {}
//	POST   /_mock/outbox/{id}/global-unsubscribe  {}
//	POST   /_mock/outbox/{id}/confirm           {}
//	                                            each answers the message
//
//	GET    /_mock/events                        events that fired, heard or not, with their deliveries' ids; also ?event= ?message_id=
//	GET    /_mock/events/{id}                   with the body
//	POST   /_mock/events                        sends an event of your own, signed: {"body":{…}} to the webhook {"webhook_id":"7"} or to
//	                                            {"url":"…","secret":"…","hash_function":"sha256"}; answers the delivery
//
//	GET    /_mock/deliveries                    also ?state= ?event= ?webhook_id= ?account_id=
//	GET    /_mock/deliveries/{id}               with body, signature and the webhook's secret and hash function
//	GET    /_mock/deliveries/{id}/body          the exact bytes, as text/plain
//	POST   /_mock/deliveries/{id}/redeliver     answers the delivery
//
//	GET    /_mock/requests                      also ?operation= ?status= (404 or 4xx) ?account_id=
//	GET    /_mock/requests/{id}                 with the bodies of request and answer; for a 404 or 405 the closest operation
//
//	GET    /_mock/faults                        {"seed":n,"data":[rule…],"actions":[…],"operations":[…]} in the order they are tried
//	POST   /_mock/faults                        adds a rule, see Fault; answers it with its id
//	PATCH  /_mock/faults/{id}                   {"enabled":false} switches it
//	DELETE /_mock/faults/{id}                   removes it
//	DELETE /_mock/faults                        removes all
//	PUT    /_mock/faults/seed                   {"seed":n}: counts and probabilities begin anew; 0 chooses one
//	POST   /_mock/fail-next-message             {"error":"…","count":1}: internal errors for the next messages of the Email API
//	PUT    /_mock/lookup-limit                  {"mode":"gap"}, "bucket" or "calendar"
//
//	GET    /_mock/state                         the whole state
//	PUT    /_mock/state                         restores it
//	DELETE /_mock/state                         forgets everything: state, journals, faults
//	POST   /_mock/seed                          adds what a seed file describes, see Seed
//
// The stream begins with "event: hello" and then sends "event: change" with
// {"seq":n,"kind":k,"record":…}: kind message, delivery, event, request or fault
// with the summary that the list would show; contact, list or webhook without
// a record (ask again), and state when everything may have changed. A reader
// that is too slow is disconnected and should load anew.
