package inbox

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// concurrency is the number of events that a worker processes at the same time.
const concurrency = 16

// Worker processes the events in the stream.
type Worker struct {
	// Once deduplicates events. With pgstore, Handle writes its data in the transaction
	// that stores the key of the event, so each event has one effect.
	Once   webhook.Once
	Handle func(context.Context, *events.Event) error
	// AckWait is the time after which the server delivers an unacknowledged event to
	// another worker, for example after a crash. The context of Handle ends after half of
	// AckWait, so that Handle can return before another worker gets the event. The default
	// is 30 s.
	AckWait time.Duration
	// MaxDeliver is the maximum number of times that the server delivers an event that
	// fails. The default is 100 deliveries, within about 15 hours. Afterwards the event
	// stays in the stream as a dead letter.
	MaxDeliver int
	Logger     *slog.Logger // the default is slog.Default
}

// Run processes events until ctx ends, and then completes the events in progress. All
// workers share one durable consumer.
func (w Worker) Run(ctx context.Context, js jetstream.JetStream) error {
	w.AckWait, w.MaxDeliver = cmp.Or(w.AckWait, 30*time.Second), cmp.Or(w.MaxDeliver, 100)
	w.Logger = cmp.Or(w.Logger, slog.Default())
	consumer, err := js.CreateOrUpdateConsumer(ctx, Stream, jetstream.ConsumerConfig{
		Durable: Consumer, AckPolicy: jetstream.AckExplicitPolicy, AckWait: w.AckWait, MaxDeliver: w.MaxDeliver,
	})
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for range concurrency {
		wg.Go(func() {
			for ctx.Err() == nil {
				if err := w.next(ctx, consumer); err != nil {
					w.Logger.Error("event not processed", "error", err)
				}
			}
		})
	}
	wg.Wait()
	return nil
}

// next waits up to a second for an event, and handles it. A shutdown does not interrupt
// the handler.
func (w Worker) next(ctx context.Context, consumer jetstream.Consumer) error {
	msg, err := consumer.Next(jetstream.FetchMaxWait(time.Second))
	if errors.Is(err, nats.ErrTimeout) {
		return nil
	}
	if err != nil {
		time.Sleep(time.Second) // for example, the connection is lost
		return err
	}
	if err := w.process(context.WithoutCancel(ctx), msg); err != nil {
		return errors.Join(err, msg.NakWithDelay(delay(msg)))
	}
	return msg.Ack()
}

// process also succeeds if the event was processed before, because then only
// the acknowledgement was lost.
func (w Worker) process(ctx context.Context, msg jetstream.Msg) error {
	ctx, cancel := context.WithTimeout(ctx, w.AckWait/2)
	defer cancel()
	event, err := events.Parse(msg.Data())
	if err != nil {
		return err
	}
	_, err = w.Once.Do(ctx, msg.Headers().Get(jetstream.MsgIDHeader), func(ctx context.Context) error { return w.Handle(ctx, event) })
	return err
}

// delay returns 1 s after the first delivery, then 2 s, 4 s, up to 10 minutes.
func delay(msg jetstream.Msg) time.Duration {
	meta, err := msg.Metadata()
	if err != nil || meta.NumDelivered > 10 {
		return 10 * time.Minute
	}
	return time.Second << (meta.NumDelivered - 1)
}
