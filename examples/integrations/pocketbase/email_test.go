package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/mail"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pocketbase/pocketbase/apis"
	"github.com/pocketbase/pocketbase/core"
	"github.com/pocketbase/pocketbase/tools/mailer"

	"example.com/emailplatform/client"
	"example.com/emailplatform/examples/faulttest"
	"example.com/emailplatform/mailroom"
	"example.com/emailplatform/mockserver"
)

var check = faulttest.Check

func inBubble(t *testing.T, test func(t *testing.T, platform *mockserver.Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		platform := mockserver.New(mockserver.Config{})
		t.Cleanup(platform.Close)
		test(t, platform)
	})
}

// process starts the application with the data in a folder, as main does, and returns a function that stops it.
func process(t *testing.T, platform *mockserver.Server, dir string) (s *service, stop func()) {
	t.Helper()
	app := core.NewBaseApp(core.BaseAppConfig{DataDir: dir})
	app.OnBootstrap().Unbind("__pbNotifyWatcherSystemHook__") // it waits for files, which stops the time of the bubble
	check(t, app.Bootstrap())
	check(t, app.RunAllMigrations())
	if _, err := app.FindCollectionByNameOrId("orders"); err != nil {
		orders := core.NewBaseCollection("orders")
		orders.Fields.Add(&core.EmailField{Name: "email"}, &core.TextField{Name: "product"}, &core.TextField{Name: "mail_state"}, &core.TextField{Name: "mail_id"})
		check(t, app.Save(orders))
	}
	cfg := client.Config{BaseURL: platform.URL(), Token: platform.Token(), HTTPClient: platform.HTTPClient()}
	s, err := register(app, cfg, "http://app.test")
	check(t, err)
	router, err := apis.NewRouter(app)
	check(t, err)
	var mux http.Handler
	check(t, app.OnServe().Trigger(&core.ServeEvent{App: app, Router: router}, func(e *core.ServeEvent) (err error) {
		mux, err = e.Router.BuildMux()
		return err
	}))
	platform.SetTarget("app.test", mux)
	time.Sleep(2 * time.Second) // the Room connects
	return s, func() {
		check(t, app.OnTerminate().Trigger(&core.TerminateEvent{App: app}, func(*core.TerminateEvent) error { return app.ResetBootstrapState() }))
	}
}

// order adds an order and returns its id.
func (s *service) order(t *testing.T, email string) string {
	t.Helper()
	collection, err := s.app.FindCollectionByNameOrId("orders")
	check(t, err)
	record := core.NewRecord(collection)
	record.Set("email", email)
	record.Set("product", "{{x}}") // not a merge tag
	check(t, s.app.Save(record))
	return record.Id
}

func (s *service) state(t *testing.T, order string) string {
	t.Helper()
	record, err := s.app.FindRecordById("orders", order)
	check(t, err)
	return record.GetString("mail_state")
}

// TestOrders: each order gets its email, hard bounces and complaints suppress the address, and an order that is rolled
// back or deleted changes nothing.
func TestOrders(t *testing.T) {
	inBubble(t, func(t *testing.T, platform *mockserver.Server) {
		s, stop := process(t, platform, t.TempDir())
		defer stop()
		suppressed := map[string]mailroom.Reason{
			"bounce+hb@mock.test": mailroom.HardBounce, "complaint@mock.test": mailroom.Complaint, "bounce+sb@mock.test": "", "ada@example.org": "",
		}
		for address := range suppressed {
			id := s.order(t, address)
			time.Sleep(time.Minute)
			if got := s.state(t, id); got != "sent" {
				t.Errorf("%s: %q, want sent", address, got)
			}
		}
		for address, want := range suppressed {
			got, err := s.room.Suppression(t.Context(), address)
			if err != nil || got != want {
				t.Errorf("%s: suppressed because of %q, %v; want %q", address, got, err, want)
			}
		}
		if text := platform.OutboxTo("ada@example.org")[0].Text; text != "Thank you for {{x}}." {
			t.Errorf("text %q", text)
		}
		record, err := s.app.FindRecordById("orders", s.order(t, "bob@example.org"))
		check(t, err)
		check(t, s.app.Delete(record))
		err = s.app.RunInTransaction(func(tx core.App) error {
			(&service{app: tx}).order(t, "eve@example.org")
			return errors.New("the payment failed")
		})
		time.Sleep(time.Minute)
		if bob, eve := len(platform.OutboxTo("bob@example.org")), len(platform.OutboxTo("eve@example.org")); bob != 1 || eve != 0 {
			t.Errorf("%d emails for the deleted order, %d for the order rolled back by %v", bob, eve, err)
		}
	})
}

// TestMailer: PocketBase's own emails go through the platform, but not to suppressed addresses.
func TestMailer(t *testing.T) {
	inBubble(t, func(t *testing.T, platform *mockserver.Server) {
		s, stop := process(t, platform, t.TempDir())
		defer stop()
		check(t, s.room.Suppress(t.Context(), "*@example.com"))
		message := &mailer.Message{To: []mail.Address{{Address: "ada@example.org"}}, Bcc: []mail.Address{{Address: "bob@example.com"}}, Subject: "Hello", HTML: "<p>Hello</p>"}
		if err := s.app.NewMailClient().Send(message); !errors.Is(err, mailroom.ErrSuppressed) {
			t.Errorf("got %v", err)
		}
		message.Bcc = nil
		check(t, s.app.RunInTransaction(func(tx core.App) error { return tx.NewMailClient().Send(message) })) // for example, in a hook
		if n := len(platform.OutboxTo("ada@example.org")); n != 2 || len(platform.Outbox()) != 2 {
			t.Errorf("%d emails to ada, %d in total", n, len(platform.Outbox()))
		}
	})
}

// TestFaults: with a lost response, duplicated and reordered deliveries, failed lookups and a restart, each order gets
// one email, and its outcome is known.
func TestFaults(t *testing.T) {
	inBubble(t, func(t *testing.T, platform *mockserver.Server) {
		dir := t.TempDir()
		s, stop := process(t, platform, dir)
		faulttest.Inject(t, platform,
			mockserver.Fault{Operation: "submitEmail", Action: mockserver.FaultReset, AfterProcessing: true, Times: 1},
			mockserver.Fault{Operation: "getEmail", Action: mockserver.FaultStatus, Status: 503},
			mockserver.Fault{Event: "*", Action: mockserver.FaultReorder},
			mockserver.Fault{Event: "*", Action: mockserver.FaultDuplicate})
		var orders []string
		for i := range 3 {
			orders = append(orders, s.order(t, fmt.Sprintf("bounce+hb+%d@mock.test", i)))
			time.Sleep(time.Second)
		}
		if n := len(platform.Outbox()); n != 1 {
			t.Errorf("%d emails during the pause, want 1", n)
		}
		stop()
		platform.ClearFaults()
		s, stop = process(t, platform, dir)
		defer stop()
		time.Sleep(5 * time.Minute)
		for i, order := range orders {
			address := fmt.Sprintf("bounce+hb+%d@mock.test", i)
			reason, err := s.room.Suppression(t.Context(), address)
			if got := s.state(t, order); got != "sent" || reason != mailroom.HardBounce || len(platform.OutboxTo(address)) != 1 || err != nil {
				t.Errorf("%s: %s, %q, %d emails, %v", address, got, reason, len(platform.OutboxTo(address)), err)
			}
		}
	})
}
