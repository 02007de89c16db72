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
	"time"

	"example.com/emailplatform/client"
	"example.com/emailplatform/mailroom"
	"example.com/emailplatform/webhook"
)

// service is a newsletter on one list, with the emails of a shop.
type service struct {
	platform *client.Client
	room     *mailroom.Room // sends the emails of the shop, and handles the platform's events
	listID   int64          // readers
	sender   client.Sender
	counts   expvar.Map // metrics: calls, deliveries, notices, events of campaigns
}

// open finds or creates the list, and starts the Room, which the platform reaches at hookURL. The
// store keeps the state of the Room.
func open(ctx context.Context, cfg client.Config, hookURL string, store mailroom.Store) (s *service, err error) {
	s = &service{sender: client.Sender{Email: "shop@example.com"}}
	cfg.Observe = s.countCall
	if s.platform, err = client.New(cfg); err != nil {
		return nil, err
	}
	list, err := s.platform.Lists.Ensure(ctx, client.ListCreate{Name: "Readers"})
	if err != nil {
		return nil, err
	}
	if err := s.platform.Lists.AcceptPolicy(ctx, list.ID); err != nil {
		return nil, err
	}
	s.listID = list.ID
	s.room, err = mailroom.New(s.platform, store, mailroom.Options{
		URL: hookURL, List: "Orders", OnNotice: s.notice, Webhook: webhook.Options{Observe: s.countDelivery},
	})
	if err != nil {
		return nil, err
	}
	s.room.Start()
	return s, nil
}

// countCall counts calls by operation and status, and retries by operation.
func (s *service) countCall(ctx context.Context, call client.Call) (context.Context, client.Observer) {
	return ctx, client.Observer{
		Retry: func(client.Observation) { s.counts.Add("retry "+call.Op, 1) },
		End:   func(o client.Observation) { s.counts.Add(fmt.Sprintf("call %s %d", call.Op, o.StatusCode), 1) },
	}
}

// public returns the handler for subscribers and the platform.
func (s *service) public() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/hook", s.room)
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

// internal returns the handler for operators. It rejects requests from web pages of other sites.
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

// checkHost rejects requests to a host name other than localhost. Otherwise, a malicious page
// could make its own host name point to this address, and read the responses (DNS rebinding). If
// your service has a host name, allow this name too.
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

// run serves until ctx ends or a part fails. Then it gives the requests in progress 15 s to
// complete, and waits for the emails that are being sent.
func (s *service) run(ctx context.Context, public, internal net.Listener) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error)
	go func() { ended <- serve(ctx, public, s.public(), time.Minute) }()
	go func() { ended <- serve(ctx, internal, s.internal(), time.Hour) }() // for imports and exports
	err := <-ended
	stop() // if one part ends, all end
	return errors.Join(err, <-ended, s.room.Close())
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
