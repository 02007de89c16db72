package inbox

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"example.com/emailplatform/events"
	"example.com/emailplatform/webhook"
)

// concurrency is the number of events that a worker processes at the same time.
const concurrency = 16

// Worker processes the events in the stream.
type Worker struct {
	// Once deduplicates events. With pgstore, Handle writes its data in the
	// transaction that stores the key of the event.
	Once   webhook.Once
	Handle func(context.Context, *events.Event) error
	// AckWait is the time after which the server delivers an event to another
	// worker, for example after a crash. Handle has half of that time, because
	// events can wait in the worker. The default is 30 s.
	AckWait time.Duration
	// MaxDeliver is the number of times that the server delivers an event. The
	// default is 100, which takes about 16 hours if each delivery fails.
	// Afterwards the event stays in the stream as a dead letter.
	MaxDeliver int
	Logger     *slog.Logger // the default is slog.Default
}

// Run processes events until ctx ends, and then completes the events that it
// has received. All workers share one durable consumer.
func (w Worker) Run(ctx context.Context, js jetstream.JetStream) error {
	if w.AckWait == 0 {
		w.AckWait = 30 * time.Second
	}
	if w.MaxDeliver == 0 {
		w.MaxDeliver = 100
	}
	if w.Logger == nil {
		w.Logger = slog.Default()
	}
	consumer, err := js.CreateOrUpdateConsumer(ctx, Stream, jetstream.ConsumerConfig{
		Durable: Consumer, AckPolicy: jetstream.AckExplicitPolicy, AckWait: w.AckWait, MaxDeliver: w.MaxDeliver,
	})
	if err != nil {
		return err
	}
	messages, err := consumer.Messages(jetstream.PullMaxMessages(concurrency), jetstream.WithMessagesErrOnMissingHeartbeat(false))
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, messages.Drain)()
	errs := make(chan error, concurrency)
	for range concurrency {
		go func() { errs <- w.loop(context.WithoutCancel(ctx), messages) }()
	}
	for range concurrency {
		err = errors.Join(err, <-errs)
	}
	return err
}

// loop processes events until no more follow.
func (w Worker) loop(ctx context.Context, messages jetstream.MessagesContext) error {
	for {
		msg, err := messages.Next()
		if errors.Is(err, jetstream.ErrMsgIteratorClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		err = w.process(ctx, msg)
		if err == nil {
			err = msg.Ack()
		} else {
			err = errors.Join(err, msg.NakWithDelay(delay(msg)))
		}
		if err != nil {
			w.Logger.Error("event not processed", "error", err)
		}
	}
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
