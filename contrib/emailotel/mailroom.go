package emailotel

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"example.com/emailplatform/mailroom"
)

// ObserveNotice records the duration of each call to OnNotice, with the reason of the
// notice as an attribute. If a call has no error, your program has handled its notice.
// Assign ObserveNotice to [mailroom.Options].Observe.
func (t *Telemetry) ObserveNotice(ctx context.Context, o mailroom.Observation) {
	set := []attribute.KeyValue{attribute.String("emailplatform.mailroom.reason", string(o.Notice.Reason))}
	if o.Err != nil {
		set = append(set, semconv.ErrorTypeKey.String(errorType(o.Err)))
	}
	t.notices.Record(ctx, o.Duration.Seconds(), metric.WithAttributes(set...))
}

// ObserveQueues records the length of each queue of a Room, and the age of its oldest item,
// whenever metrics are collected. Processes with the same store record the same values, so
// use their maximum and not their sum. Unregister the returned registration before you
// close the store.
func (t *Telemetry) ObserveQueues(room *mailroom.Room) (metric.Registration, error) {
	if room == nil {
		return nil, errors.New("emailotel: the Room must not be nil")
	}
	length, err := t.meter.Int64ObservableGauge("emailplatform.mailroom.queue.length", metric.WithUnit("{item}"),
		metric.WithDescription("Number of items whose time has come."))
	age, err2 := t.meter.Float64ObservableGauge("emailplatform.mailroom.queue.age", metric.WithUnit("s"),
		metric.WithDescription("Time since the time of the oldest item."))
	if err := errors.Join(err, err2); err != nil {
		return nil, err
	}
	return t.meter.RegisterCallback(func(ctx context.Context, o metric.Observer) error {
		queues, err := room.Queues(ctx)
		for _, q := range queues {
			set := metric.WithAttributes(attribute.String("emailplatform.mailroom.queue", q.Name))
			seconds := 0.0
			if q.Length > 0 {
				seconds = time.Since(q.Oldest).Seconds()
			}
			o.ObserveInt64(length, int64(q.Length), set)
			o.ObserveFloat64(age, seconds, set)
		}
		return err
	}, length, age)
}
