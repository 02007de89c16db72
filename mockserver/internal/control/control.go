// Package control is the platform's methods over HTTP.
package control

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/problem"
	"example.com/emailplatform/mockserver/internal/samples"
	"example.com/emailplatform/mockserver/internal/world"
)

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
// Times are RFC 3339, durations integers whose name tells the unit, lists never
// null. A list takes
// ?search= (all of the words, without case), ?limit= (200 if not given, at most
// 1000) and ?before= (an id: what is older than it) and answers, newest first,
// {"data":[…],"total":n,"more":bool}: total is what matches the search, more
// says that older records follow. ?account_id= finds also what belongs to no
// account, such as a request without a known token. Lists hold summaries; a
// record by its id holds everything.
//
//	GET    /_mock/health                        {"status":"ok"}
//	GET    /_mock/info                          {accounts: [{account_id, users}], token_needed, fault_seed, lookup_limit,
//	                                            retry_schedule_ms, events: [names], bounce_categories, magic_domain}
//	GET    /_mock/stream                        server-sent events, see below
//	POST   /_mock/wait                          204 when every queue is idle, with ?drain=true when all is delivered or given up;
//	                                            504 after ?timeout_ms= (10 s if not given)
//	*      /_mock/accounts/{account_id}/api/…   the API, as the account's first user (or ?user_id=), without a token, faults, the
//	                                            limit of lookups and the request log: lists, contacts, suppressed addresses, webhooks, templates …
//
//	GET    /_mock/outbox                        messages that were sent; also ?account_id= ?to= ?status= ?sent_by=
//	GET    /_mock/outbox/{id}                   with text, html, headers, links and the events about it; also one that was refused
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
//	GET    /_mock/events                        events that fired, with their deliveries' ids; those that no webhook hears only with
//	                                            Config.RecordEvents; also ?event= ?message_id= ?account_id=
//	GET    /_mock/events/{id}                   with the body
//	POST   /_mock/events                        sends an event of your own, signed: {"body":{…}} to the webhook {"webhook_id":"7"} or to
//	                                            {"url":"…","secret":"…","hash_function":"sha256"}; answers the delivery
//
//	GET    /_mock/samples                       {"data":[{event, variant, summary, body}]}: every event in every shape, to edit and send
//
//	GET    /_mock/deliveries                    also ?state= ?event= ?webhook_id= ?account_id=
//	GET    /_mock/deliveries/{id}               with body, signature and the webhook's secret and hash function
//	GET    /_mock/deliveries/{id}/body          the exact bytes, as text/plain
//	POST   /_mock/deliveries/{id}/redeliver     answers the delivery
//	POST   /_mock/verify                        {"body":"…","secret":"…","hash_function":"sha256","signature":"…"}: {"valid":bool,"reason":"…"},
//	                                            the reason being the mistake that gives this signature, if it is a usual one
//
//	GET    /_mock/requests                      also ?operation= ?status= (404 or 4xx) ?account_id=
//	GET    /_mock/requests/{id}                 with its body, the answer of an error, and for a 404 or 405 the closest operation
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
// with the summary that the list would show; records, without one, when lists,
// contacts, webhooks or the like may have changed, and state when everything
// may have. A reader
// that is too slow is disconnected and should load anew.

// Prefix is where the routes are.
const Prefix = "/_mock/"

// Options say what the routes cannot see themselves.
type Options struct {
	Console       http.Handler
	RetrySchedule []time.Duration
	NeedsToken    func(*http.Request) bool
}

// Control answers the control routes of a world.
type Control struct {
	*world.World

	options Options
}

// New returns the handler of the control routes.
func New(w *world.World, o Options) http.Handler { return (&Control{w, o}).routes() }

func (s *Control) faultSeed() uint64 {
	seed, _ := s.Faults.List()
	return seed
}

func (s *Control) routes() http.Handler {
	mux := http.NewServeMux()
	route := func(pattern string, answer func(*http.Request) (any, error)) {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+Prefix+path, func(w http.ResponseWriter, r *http.Request) {
			out, err := answer(r)
			writeControl(w, r, out, err)
		})
	}
	route("GET health", func(*http.Request) (any, error) { return map[string]string{"status": "ok"}, nil })
	route("GET info", s.controlInfo)
	route("POST wait", s.controlWait)
	route("GET samples", controlSamples)
	route("POST verify", controlVerify)
	s.observeRoutes(route)
	s.actRoutes(route)
	s.faultRoutes(route)
	s.stateRoutes(route)
	mux.HandleFunc("GET "+Prefix+"stream", s.serveStream)
	mux.HandleFunc("GET "+Prefix+"outbox/{id}/html", s.serveMailHTML)
	mux.HandleFunc("GET "+Prefix+"outbox/{id}/source", s.serveMailSource)
	mux.HandleFunc("GET "+Prefix+"deliveries/{id}/body", s.serveDeliveryBody)
	mux.HandleFunc(Prefix+"accounts/{account_id}/api/{path...}", s.serveAsAccount)
	mux.HandleFunc(Prefix, func(w http.ResponseWriter, r *http.Request) {
		if s.options.Console != nil && reads(r) {
			s.options.Console.ServeHTTP(w, r)
			return
		}
		gateway.AnswerUnrouted(mux, Prefix, w, r)
	})
	return s.guarded(mux)
}

// writeControl answers with JSON; nothing at all is 204.
func writeControl(w http.ResponseWriter, r *http.Request, out any, err error) {
	if err != nil {
		gateway.AnswerError(w, r, err)
		return
	}
	if out == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	body, err := json.Marshal(out)
	if err != nil {
		gateway.AnswerError(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(append(body, '\n'))
}

// controlBody reads the JSON object that a route takes; no body is an empty
// object. A member that the route does not know is a mistake worth telling.
func controlBody[T any](r *http.Request) (T, error) {
	var in T
	body, err := readLimited(r, gateway.MaxBody)
	if err != nil || len(body) == 0 {
		return in, err
	}
	media, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";")
	if !strings.EqualFold(strings.TrimSpace(media), "application/json") {
		return in, problem.New(http.StatusUnsupportedMediaType, "unsupported_media_type", "want application/json", "header", "content-type")
	}
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&in); err != nil {
		return in, problem.OfJSON(body, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return in, problem.New(http.StatusBadRequest, "json_invalid", "want one value", "body")
	}
	return in, nil
}

func readLimited(r *http.Request, limit int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if err != nil {
		return nil, problem.New(http.StatusBadRequest, "json_invalid", "the body could not be read", "body")
	}
	if int64(len(body)) > limit {
		return nil, problem.New(http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("the body is larger than %d bytes", limit), "body")
	}
	return body, nil
}

func controlSamples(*http.Request) (any, error) {
	all, err := samples.All()
	return map[string]any{"data": all}, err
}
