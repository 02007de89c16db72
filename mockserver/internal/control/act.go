package control

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/events"
	"example.com/emailplatform/mockserver/internal/api"
	"example.com/emailplatform/mockserver/internal/feed"
	"example.com/emailplatform/mockserver/internal/gateway"
	"example.com/emailplatform/mockserver/internal/platform"
	"example.com/emailplatform/mockserver/internal/problem"
)

// The control routes that make something happen.

func (s *Control) actRoutes(route func(string, func(*http.Request) (any, error))) {
	route("POST outbox/{id}/bounce", recipient(s, func(id string, in struct {
		Category   events.BounceCategory `json:"category"`
		Diagnostic string                `json:"diagnostic"`
	},
	) error {
		if in.Category == "" {
			in.Category = events.BounceCategoryHard
		}
		if !platform.KnownCategory(in.Category) {
			return problem.Invalid("no such category", "body", "category")
		}
		return s.Platform.Bounce(id, in.Category, in.Diagnostic)
	}))
	route("POST outbox/{id}/complain", recipient(s, func(id string, in struct {
		Provider string `json:"provider"`
	},
	) error {
		return s.Platform.Complain(id, in.Provider)
	}))
	route("POST outbox/{id}/click", recipient(s, func(id string, in struct {
		URL string `json:"url"`
	},
	) error {
		return s.clickOn(id, in.URL)
	}))
	for name, act := range map[string]func(string) error{
		"open": s.Platform.Open, "unsubscribe": s.Platform.Unsubscribe, "global-unsubscribe": s.Platform.GlobalUnsubscribe, "confirm": s.Platform.Confirm,
	} {
		route("POST outbox/{id}/"+name, recipient(s, func(id string, _ struct{}) error { return act(id) }))
	}
	route("POST deliveries/{id}/redeliver", s.controlRedeliver)
	route("POST events", s.controlSend)
}

// recipient lets a recipient act and answers the message.
func recipient[T any](s *Control, act func(id string, in T) error) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		id := r.PathValue("id")
		if _, err := s.messageRecord(id); err != nil {
			return nil, err
		}
		in, err := controlBody[T](r)
		if err != nil {
			return nil, err
		}
		if err := act(id, in); err != nil {
			return nil, refused(err, "path", "id")
		}
		return s.messageRecord(id)
	}
}

// refused is what a method did not do because of the state of things.
func refused(err error, loc ...any) error {
	var p *problem.Error
	if errors.As(err, &p) {
		return p
	}
	return problem.Conflict("invalid_state", strings.TrimPrefix(err.Error(), "mockserver: "), loc...)
}

// clickOn follows the given link of a message, or its first one.
func (s *Control) clickOn(id, url string) error {
	if url != "" {
		return s.Platform.Click(id, url)
	}
	m, err := s.messageRecord(id)
	if err != nil {
		return err
	}
	if len(m.Links) == 0 {
		return problem.Invalid("the message has no link: say which", "body", "url")
	}
	return s.Platform.Click(id, m.Links[0])
}

func (s *Control) controlRedeliver(r *http.Request) (any, error) {
	id := r.PathValue("id")
	if _, err := s.deliveryRecord(id); err != nil {
		return nil, err
	}
	if err := s.Deliveries.Redeliver(id); err != nil {
		return nil, refused(err, "path", "id")
	}
	return s.deliveryRecord(id)
}

// controlWait waits for at most a minute: whoever wants more asks again.
func (s *Control) controlWait(r *http.Request) (any, error) {
	limit := 10 * time.Second
	if text := r.URL.Query().Get("timeout_ms"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > 60_000 {
			return nil, problem.Invalid("want 1 to 60000", "query", "timeout_ms")
		}
		limit = time.Duration(n) * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	wait := s.Wait
	if r.URL.Query().Get("drain") == "true" {
		wait = s.Drain
	}
	if err := wait(ctx); err != nil {
		return nil, problem.New(http.StatusGatewayTimeout, "timeout", strings.TrimPrefix(err.Error(), "mockserver: "))
	}
	return nil, nil
}

func (s *Control) controlInfo(r *http.Request) (any, error) {
	type user struct {
		UserID   int64  `json:"user_id"`
		Email    string `json:"email"`
		ReadOnly bool   `json:"read_only"`
	}
	type account struct {
		AccountID int64  `json:"account_id"`
		Users     []user `json:"users"`
	}
	type category struct {
		Category    events.BounceCategory `json:"category"`
		Description string                `json:"description"`
	}
	var accounts []account
	for _, t := range s.Tokens {
		i := slices.IndexFunc(accounts, func(a account) bool { return a.AccountID == t.AccountID })
		if i < 0 {
			i = len(accounts)
			accounts = append(accounts, account{AccountID: t.AccountID})
		}
		accounts[i].Users = append(accounts[i].Users, user{t.UserID, t.UserEmail, t.ReadOnly})
	}
	var categories []category
	for _, c := range []events.BounceCategory{
		events.BounceCategoryHard, events.BounceCategorySoft, events.BounceCategoryMailboxFull, events.BounceCategoryBlocked, events.BounceCategoryTransient,
		events.BounceCategoryDNSFailure, events.BounceCategoryAutoReply, events.BounceCategoryChallengeResponse, events.BounceCategoryAddressChange,
	} {
		categories = append(categories, category{c, c.Description()})
	}
	waits := []int64{}
	for _, wait := range s.options.RetrySchedule {
		waits = append(waits, wait.Milliseconds())
	}
	return map[string]any{
		"accounts":          accounts,
		"token_needed":      s.options.NeedsToken(r),
		"fault_seed":        s.faultSeed(),
		"lookup_limit":      s.Platform.Lookups(),
		"retry_schedule_ms": waits,
		"events":            api.EventNames(),
		"bounce_categories": categories,
		"magic_domain":      platform.MagicDomain,
	}, nil
}

// serveAsAccount answers as the API would answer a user of the account. What
// the console looks at is neither disturbed nor logged. A template is rendered
// as HTML, and is as hostile as a mail.
func (s *Control) serveAsAccount(w http.ResponseWriter, r *http.Request) {
	caller, err := s.userOf(r)
	if err != nil {
		gateway.AnswerError(w, r, err)
		return
	}
	_, path, _ := strings.Cut(r.URL.EscapedPath(), "/api/")
	inner := r.Clone(r.Context())
	inner.URL.RawPath = "/" + path
	inner.URL.Path = "/" + r.PathValue("path")
	query := inner.URL.Query()
	if query.Has("user_id") {
		query.Del("user_id")
		inner.URL.RawQuery = query.Encode()
	}
	w.Header().Set("Content-Security-Policy", inertPolicy)
	s.API.ServeAs(w, inner, caller)
	if !reads(r) {
		s.Changes.Tell(feed.Records, nil)
	}
}

// userOf finds the user that a path names, or the first one of the account who
// may write.
func (s *Control) userOf(r *http.Request) (gateway.Token, error) {
	account, user := r.PathValue("account_id"), r.URL.Query().Get("user_id")
	found := -1
	for i, t := range s.Tokens {
		if strconv.FormatInt(t.AccountID, 10) != account || user != "" && strconv.FormatInt(t.UserID, 10) != user {
			continue
		}
		if found < 0 || s.Tokens[found].ReadOnly && !t.ReadOnly {
			found = i
		}
	}
	if found < 0 {
		return gateway.Token{}, problem.NotFound("user of account", account, "path", "account_id")
	}
	return s.Tokens[found], nil
}
