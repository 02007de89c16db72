package main

import (
	"context"
	"errors"
	"expvar"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// service is a newsletter on one list, with the emails of a shop.
type service struct {
	platform *client.Client
	listID   int64 // readers
	ordersID int64 // no contacts: emails of the shop, which readers get in any status
	sender   client.Sender
	hook     http.Handler // handles the platform's events
	counts   expvar.Map   // metrics: calls, deliveries, events of campaigns

	// This state must survive a restart. Store it in database tables, and write
	// them in the transaction of contrib/pgstore. Then each event counts
	// exactly once, even after a crash.
	suppressed sync.Map // addresses and patterns such as *@example.com
	orders     sync.Map // order to id of its email, "" while it is unknown
	lookups    sync.Map // ids of emails to look up, and whether that has begun
}

// open finds the list, and the webhook at hookURL, or creates them.
func open(ctx context.Context, cfg client.Config, hookURL string) (s *service, err error) {
	s = &service{sender: client.Sender{Email: "shop@example.com"}}
	cfg.Observe = s.countCall
	if s.platform, err = client.New(cfg); err != nil {
		return nil, err
	}
	if s.listID, err = s.list(ctx, "Readers"); err != nil {
		return nil, err
	}
	if s.ordersID, err = s.list(ctx, "Orders"); err != nil {
		return nil, err
	}
	s.hook, err = s.subscribe(ctx, hookURL)
	return s, err
}

// list returns the id of a list with an accepted policy.
func (s *service) list(ctx context.Context, name string) (int64, error) {
	list, err := s.platform.Lists.Ensure(ctx, client.ListCreate{Name: name})
	if err != nil {
		return 0, err
	}
	return list.ID, s.platform.Lists.AcceptPolicy(ctx, list.ID)
}

// subscribe creates the webhook if necessary and returns its handler. The
// handler accepts the secrets of all active webhooks of the URL, so a rotation
// or a change of the events needs no downtime.
func (s *service) subscribe(ctx context.Context, url string) (http.Handler, error) {
	if _, err := s.platform.Webhooks.Ensure(ctx, client.WebhookCreate{URL: url, Events: []events.Name{
		events.NameEmailOpened, events.NameEmailClicked, events.NameEmailBounced,
		events.NameEmailReportedAsSpam, events.NameSuppressedEmailAdded,
	}}); err != nil {
		return nil, err
	}
	verifier, err := webhook.NewVerifierFunc(ctx, func(ctx context.Context) (secrets []webhook.Secret, err error) {
		hooks, err := s.platform.Webhooks.Active(ctx, url)
		for _, hook := range hooks {
			secret, err := webhook.ParseSecret(hook.Secret.Reveal(), hook.HashFunction)
			if err != nil {
				return nil, err
			}
			secrets = append(secrets, secret)
		}
		return secrets, err
	}, webhook.SourceOptions{})
	if err != nil {
		return nil, err
	}
	return webhook.NewHandler(verifier, s.handle, webhook.Options{
		Observe: func(_ context.Context, o webhook.Outcome) { s.counts.Add(fmt.Sprintf("delivery %d", o.Status), 1) },
	}), nil
}

// countCall counts calls by operation and status, and retries.
func (s *service) countCall(ctx context.Context, call client.Call) (context.Context, client.Observer) {
	return ctx, client.Observer{
		Retry: func(client.Observation) { s.counts.Add("retry "+call.Op, 1) },
		End:   func(o client.Observation) { s.counts.Add(fmt.Sprintf("call %s %d", call.Op, o.StatusCode), 1) },
	}
}

// public returns the handler for subscribers and the platform.
func (s *service) public() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/hook", s.hook)
	mux.HandleFunc("POST /signup", func(w http.ResponseWriter, r *http.Request) {
		switch err := s.signUp(r.Context(), r.FormValue("email")); {
		case errors.Is(err, client.ErrValidation):
			http.Error(w, "The email address is not valid.", http.StatusUnprocessableEntity)
		case err != nil:
			http.Error(w, "Please try again later.", http.StatusServiceUnavailable)
		default:
			_, _ = fmt.Fprintln(w, "Thank you. New subscribers get an email with a link to confirm.")
		}
	})
	return http.MaxBytesHandler(mux, 1<<20)
}

// internal returns the handler for operators. It rejects requests from web pages.
func (s *service) internal() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintln(w, &s.counts)
	})
	mux.HandleFunc("GET /contacts.csv", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		if err := s.export(r.Context(), w); err != nil {
			panic(http.ErrAbortHandler) // so that a partial file does not look complete
		}
	})
	mux.HandleFunc("POST /contacts.csv", func(w http.ResponseWriter, r *http.Request) {
		summary, err := s.importContacts(r.Context(), r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		_, _ = fmt.Fprintln(w, summary)
	})
	return http.NewCrossOriginProtection().Handler(checkHost(mux))
}

// checkHost rejects requests to a host name other than localhost. The name of a
// malicious page can point to this address, and the page can then read responses
// (DNS rebinding). Add the host name of your service if it has one.
func checkHost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := (&url.URL{Host: r.Host}).Hostname()
		if _, err := netip.ParseAddr(host); err != nil && host != "localhost" {
			http.Error(w, "the host in the Host header must be an IP address or localhost", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// run serves until ctx ends or a part fails. It then stops lookups, which can be
// resumed, and gives the requests in progress 15 s to complete.
func (s *service) run(ctx context.Context, public, internal net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error)
	go func() { ended <- serve(ctx, public, s.public(), time.Minute) }()
	go func() { ended <- serve(ctx, internal, s.internal(), time.Hour) }() // for imports and exports
	go func() { ended <- s.lookUp(ctx) }()
	err := <-ended
	stop() // if one part ends, all end
	return errors.Join(err, <-ended, <-ended)
}

// serve closes connections whose request or response takes longer than the limit.
func serve(ctx context.Context, l net.Listener, h http.Handler, limit time.Duration) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: limit, WriteTimeout: limit, IdleTimeout: time.Minute,
	}
	ended := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 15*time.Second)
		defer cancel()
		ended <- server.Shutdown(grace)
	})
	if err := server.Serve(l); stop() {
		return err
	}
	return <-ended
}
