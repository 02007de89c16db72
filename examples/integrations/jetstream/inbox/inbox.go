// Package inbox stores webhook deliveries in a JetStream stream, and processes
// them in workers.
package inbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// Names on the NATS server.
const (
	Stream   = "emailplatform"
	Consumer = "workers"
	subject  = "emailplatform.events"
)

// maxBody is less than 1 MiB, the max_payload of a NATS server, because the
// headers count too.
const maxBody = 1<<20 - 4<<10

// Open connects to the NATS server at url, and creates the stream or updates its
// configuration. The caller must close the connection.
func Open(ctx context.Context, url string) (jetstream.JetStream, error) {
	conn, err := nats.Connect(url, nats.MaxReconnects(-1), nats.ReconnectWait(250*time.Millisecond), nats.RetryOnFailedConnect(true))
	if err != nil {
		return nil, err
	}
	js, err := jetstream.New(conn)
	if err == nil {
		_, err = js.CreateOrUpdateStream(ctx, Config())
	}
	if err != nil {
		if !conn.IsConnected() {
			err = fmt.Errorf("no connection to the NATS server: %w", err)
		}
		conn.Close()
		return nil, err
	}
	return js, nil
}

// Config returns the configuration of the stream.
func Config() jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name:     Stream,
		Subjects: []string{subject},
		Storage:  jetstream.FileStorage,
		// An acknowledged message is deleted.
		Retention: jetstream.WorkQueuePolicy,
		// A full stream rejects messages, so the receiver responds with 500, and the platform
		// retries. By default, the stream would delete the oldest events instead.
		Discard:    jetstream.DiscardNew,
		MaxBytes:   1 << 30,
		MaxMsgSize: 1 << 20,
		// Within this window, the stream itself drops duplicates, which saves space. The
		// window is short, because the server keeps the ids of the window in memory. The
		// workers' store finds later duplicates.
		Duplicates: 10 * time.Minute,
	}
}

// NewReceiver returns a webhook handler that stores each event in the stream. It
// responds with success only after the server has stored the event.
func NewReceiver(js jetstream.JetStream, v *webhook.Verifier, opts webhook.Options) http.Handler {
	opts.MaxBodyBytes = maxBody
	return webhook.NewHandler(v, func(ctx context.Context, _ *events.Event) error {
		d, ok := webhook.FromContext(ctx)
		if !ok {
			return errors.New("no delivery in the context")
		}
		// The id becomes a header, so line breaks and spaces must be escaped.
		_, err := js.Publish(ctx, subject, d.Body, jetstream.WithMsgID(url.PathEscape(d.Key)))
		return err
	}, opts)
}
