package riverjobs

import (
	"context"
	"time"

	"github.com/riverqueue/river"

	"example.com/emailplatform/mailroom"
)

const queuePrefix = "emailplatform_"

// These constants are the names of the job queues. The configuration of the River client must
// contain all three queues.
const (
	// SendQueue contains the jobs that send emails. The queue's MaxWorkers is the maximum
	// number of concurrent requests in each replica.
	SendQueue = queuePrefix + "send"
	// LookupQueue contains the jobs that look up emails. One worker per replica is enough,
	// because the platform allows one lookup per second.
	LookupQueue = queuePrefix + "lookup"
	// NoticeQueue contains the jobs that call OnNotice.
	NoticeQueue = queuePrefix + "notice"
)

// jobArgs are the arguments of a job for an item.
type jobArgs struct {
	Item string `json:"item"` // the kind of the item
	Key  string `json:"key"`
}

// Kind implements river.JobArgs.
func (jobArgs) Kind() string { return "emailplatform_item" }

// Register adds the worker of this package, which calls [mailroom.Room.Work]. Set
// [mailroom.Options].External in the Room, so that the Room itself runs no workers.
// Failures are logged with the Room's Logger. Register panics if an argument is nil or the worker is
// already registered.
func Register(workers *river.Workers, room *mailroom.Room) {
	if workers == nil || room == nil {
		panic("riverjobs: Register needs the workers and a Room")
	}
	river.AddWorker(workers, &worker{room: room})
}

type worker struct {
	river.WorkerDefaults[jobArgs]
	room *mailroom.Room
}

// Timeout implements river.Worker. The timeout is longer than a lookup, including its wait
// for the rate limit.
func (*worker) Timeout(*river.Job[jobArgs]) time.Duration { return 3 * time.Minute }

// retryDelay is the time after which a job runs again if the database failed, or the Room
// was closed or is not connected.
const retryDelay = 5 * time.Second

// Work implements river.Worker. If the item must wait, Work snoozes its job, because an
// error would count as an attempt, and River discards a job after 25 attempts.
func (w *worker) Work(ctx context.Context, job *river.Job[jobArgs]) error {
	wait, err := w.room.Work(ctx, job.Args.Item, job.Args.Key)
	if err != nil {
		w.room.Logger().WarnContext(ctx, "riverjobs: job runs again later", "item", job.Args.Item, "key", job.Args.Key, "error", err)
		wait = retryDelay
	}
	if wait > 0 {
		return river.JobSnooze(wait)
	}
	return nil
}
