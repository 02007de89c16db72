package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"example.com/emailplatform/internal/tools/must"
	"example.com/emailplatform/mockserver"
)

// outage simulates an outage of two minutes: the platform responds with 503, and half of the responses have a Retry-After
// header. In the meantime, the shop gets an order every 2 s. In each sender, Options.Pause of package mailroom is 30 s,
// the default. In a short run, all these times are divided by 10.
func outage(store string) func(context.Context, *environment) []figure {
	return func(ctx context.Context, env *environment) []figure {
		if env.short && store != onRiver {
			return nil
		}
		const orders = 60
		unit := time.Duration(env.pick(100, 1000)) * time.Millisecond
		s := newShop(ctx, env, store, func(with *settings) { with.Pause = 30 * unit })
		defer s.close()
		must.Get(s.mock.Inject(
			mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultStatus, RetryAfter: "1", Every: 2},
			mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultStatus},
		))
		for range orders {
			s.order(ctx, 1)
			time.Sleep(120 * unit / orders)
		}
		s.mock.ClearFaults()
		s.settled(ctx)
		return append(s.figures(ctx, 4), figure{name: "outage", value: (120 * unit).Seconds(), unit: "s"},
			figure{name: "first pause", value: (30 * unit).Seconds(), unit: "s"})
	}
}

// killedSenders kills replicas while they send, and counts lost and duplicate emails. Two replicas
// have wrong clocks. The platform loses requests and responses, and duplicates and reorders
// deliveries.
//
// After a third of the kills, the test replaces the replicas with a second release, which
// registers its webhook with another URL and other events. After two thirds of the kills, the test
// returns to the first release.
func killedSenders(store string) func(context.Context, *environment) []figure {
	return func(ctx context.Context, env *environment) []figure {
		kills := env.pick(6, 50)
		if env.short && store == onRiver {
			kills = 3 // because each new leader takes up to 20 s
		}
		s := newShop(ctx, env, store, func(with *settings) { with.Release = 1 })
		defer s.close()
		s.fail()
		for i := range kills {
			switch i {
			case kills / 3:
				s.release(2)
			case 2 * kills / 3:
				s.release(1)
			}
			s.order(ctx, 15)
			s.until(ctx, began, s.orders-15+rand.N(12)) //nolint:gosec // not a secret
			restartOne(ctx, s.senders)
		}
		return s.rescued(ctx, kills)
	}
}

// killedQueue kills the database while the replicas send.
func killedQueue(store string) func(context.Context, *environment) []figure {
	return func(ctx context.Context, env *environment) []figure {
		if env.short && store != onRiver {
			return nil
		}
		kills := env.pick(1, 5)
		s := newShop(ctx, env, store, func(*settings) {})
		defer s.close()
		must.Get(s.mock.Inject(mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultDelay, Delay: 50 * time.Millisecond}))
		for range kills {
			s.order(ctx, 100)
			s.until(ctx, began, s.orders-70)
			must.OK(errors.Join(env.db.Kill(), env.db.Start(ctx)))
		}
		return s.rescued(ctx, kills)
	}
}

// stoppedSenders ends replicas by SIGTERM while they send, as a deployment does.
func stoppedSenders(store string) func(context.Context, *environment) []figure {
	return func(ctx context.Context, env *environment) []figure {
		if env.short && store != onRiver {
			return nil
		}
		stops := env.pick(4, 30)
		s := newShop(ctx, env, store, func(*settings) {})
		defer s.close()
		must.Get(s.mock.Inject(mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultDelay, Delay: 50 * time.Millisecond}))
		busy := 0
		for n := range stops {
			s.order(ctx, 40)
			s.until(ctx, began, s.orders-40+rand.N(20)) //nolint:gosec // not a secret
			busy += s.count(ctx, sending)
			s.stop(n % 3)
			s.senders[n%3].restart()
		}
		s.settled(ctx)
		return append([]figure{
			{name: "ended by SIGTERM", value: float64(stops)},
			{name: "emails in progress at that time", value: float64(busy)},
		}, s.figures(ctx, 0)...)
	}
}

// mailSpeed measures the emails per second of one replica. Each email bounces and is looked up, and has two notices.
func mailSpeed(store string) func(context.Context, *environment) []figure {
	return func(ctx context.Context, env *environment) []figure {
		if env.short {
			return nil
		}
		sent, all := 0.0, 0.0
		for range 2 {
			a, b := sendAll(ctx, env, store, 1000)
			sent, all = max(sent, a), max(all, b)
		}
		return []figure{{name: "emails sent", value: sent, unit: "/s"}, {name: "emails with bounce, lookup and notices", value: all, unit: "/s"}}
	}
}

// sendAll returns the rates of sent emails, and of emails with both notices.
func sendAll(ctx context.Context, env *environment, store string, emails int) (sent, all float64) {
	s := newShop(ctx, env, store, func(*settings) {})
	defer s.close()
	for i := range s.senders[1:] {
		s.stop(i + 1)
	}
	s.stop(0)
	for i := range emails {
		must.OK(s.room.Enqueue(ctx, fmt.Sprint(i), confirmation(fmt.Sprintf("bounce+hb+%d@mock.test", i), i)))
	}
	s.senders[0].restart()
	start := time.Now()
	s.until(ctx, "emailplatform_items WHERE kind = 'mail' AND value LIKE '{\"state\":\"sent\"%'", emails)
	sent = float64(emails) / time.Since(start).Seconds()
	s.until(ctx, "notices", 2*emails)
	return sent, float64(emails) / time.Since(start).Seconds()
}
