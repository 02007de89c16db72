// Command shop takes orders, sends a confirmation of each, and records what happens to the email, with net/http and SQLite.
package main

import (
	"context"
	"database/sql"
	"errors"
	"log"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	_ "modernc.org/sqlite"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/sqlstore"
	"example.com/emailplatform/mailroom"
)

const schema = `CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, email TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'new')`

// newShop returns the handler for customers and for the platform, which reaches it at url.
func newShop(ctx context.Context, db *sql.DB, cfg client.Config, url string) (http.Handler, *mailroom.Room, error) {
	c, clientErr := client.New(cfg)
	store := sqlstore.New(sqlstore.SQLite, db)
	_, schemaErr := db.ExecContext(ctx, schema)
	room, err := mailroom.New(c, store, mailroom.Options{URL: url + "/hook", List: "Orders", OnNotice: func(ctx context.Context, n mailroom.Notice) error {
		_, err := store.Tx(ctx).ExecContext(ctx, "UPDATE orders SET state = ? WHERE id = ?", n.Reason, n.Key) // sent, hard_bounce, …
		return err
	}})
	if err := errors.Join(clientErr, schemaErr, store.Create(ctx), err); err != nil {
		return nil, nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/hook", room)
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		id, email := r.FormValue("id"), r.FormValue("email")
		if err := store.InTx(r.Context(), func(ctx context.Context, tx *sql.Tx) error { // the order and its email, or neither
			if _, err := tx.ExecContext(ctx, "INSERT INTO orders (id, email) VALUES (?, ?)", id, email); err != nil {
				return err
			}
			return room.Enqueue(ctx, id, client.EmailSubmission{
				To: email, Sender: client.Sender{Name: "Shop", Email: "shop@example.com"},
				Content: client.EmailContent{Type: client.EmailTypeTransactional, Subject: "Your order " + id, Text: "Thank you!"},
			})
		}); err != nil {
			http.Error(w, "The order was not accepted.", http.StatusConflict)
		}
	})
	room.Start()
	return http.NewCrossOriginProtection().Handler(http.MaxBytesHandler(mux, 1<<20)), room, nil
}

func run(ctx context.Context, addr string) error {
	db, err := sql.Open("sqlite", "shop.db?_pragma=journal_mode(WAL)")
	if err != nil {
		return err
	}
	cfg := client.Config{BaseURL: os.Getenv("EMAILPLATFORM_BASE_URL"), Token: os.Getenv("EMAILPLATFORM_TOKEN")}
	h, room, err := newShop(ctx, db, cfg, os.Getenv("PUBLIC_URL"))
	if err != nil {
		return err
	}
	server := http.Server{Addr: addr, Handler: h, ReadTimeout: 10 * time.Second, WriteTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.ListenAndServe() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
	}
	return errors.Join(err, server.Shutdown(context.WithoutCancel(ctx)), room.Close(), db.Close())
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, "127.0.0.1:8080")
	stop()
	if err != nil {
		log.Fatal(err)
	}
}
