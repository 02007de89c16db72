package pgstore_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"example.com/emailplatform/contrib/pgstore"
	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// TestEarlyEvent: the README's handler counts a bounce that arrives before the program
// has stored the id of the email.
func TestEarlyEvent(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil || !strings.Contains(string(readme), countBounce) {
		t.Fatalf("the README does not show countBounce (%v)", err)
	}
	pool := direct(t)
	ctx := t.Context()
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := pool.Exec(ctx, query, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec("DROP TABLE IF EXISTS recipients")
	exec("CREATE TABLE recipients (email_id text PRIMARY KEY, bounces int NOT NULL DEFAULT 0)")

	secret, err := webhook.ParseSecret("whsec_example", "sha256")
	fatal(t, err)
	verifier, err := webhook.NewVerifier(secret)
	fatal(t, err)
	handler := webhook.NewHandler(verifier, func(ctx context.Context, e *events.Event) error {
		tx, err := pgstore.Tx(ctx)
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, countBounce, e.EmailID())
		return err
	}, webhook.Options{Once: pgstore.NewOnce(pool, pgstore.OnceOptions{})})
	body := []byte(`{"id":"` + rand.Text() + `","event":"Email.Bounced","data":{"email":{"id":"email-1"}}}`)
	for range 2 { // the platform can deliver an event several times
		r, err := webhook.NewRequest(ctx, "http://shop.test/hook", secret, body)
		fatal(t, err)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != http.StatusNoContent {
			t.Fatalf("response %d: %s", w.Code, w.Body)
		}
	}
	exec("INSERT INTO recipients (email_id) VALUES ($1) ON CONFLICT DO NOTHING", "email-1")
	var bounces int
	if err := pool.QueryRow(ctx, "SELECT bounces FROM recipients WHERE email_id = $1", "email-1").Scan(&bounces); err != nil || bounces != 1 {
		t.Errorf("%d bounces, %v", bounces, err)
	}
}
