package simulation

import (
	"time"

	"example.com/emailplatform/mockserver"
)

// Plan describes a run. The same plan causes the same run.
type Plan struct {
	// Seed decides what the steps leave open: latencies, ids, jitter.
	Seed uint64
	// Clients are the processes that call the platform.
	Clients []Client
	// Replicas is how many processes receive events, behind one balancer.
	Replicas int
	// HTTP2 is what the balancer speaks to the replicas, instead of HTTP/1.1.
	HTTP2 bool
	// Concurrency is the number of concurrent deliveries of the platform. 0 means one at a time.
	Concurrency int
	// Store stores the keys of handled events.
	Store Store
	// Contacts is the number of contacts on the list.
	Contacts int
	// Steps happen at their times, whatever became of those before.
	Steps []Step
}

// Client configures a process that calls the platform.
type Client struct {
	HTTP2       bool
	MaxAttempts int           // of the client's RetryConfig
	Timeout     time.Duration // of one attempt
}

// Store is a kind of [webhook.Once].
type Store string

// The stores.
const (
	// Transactional commits what was handled together with its effect.
	Transactional Store = "transactional"
	// InMemory is a MemoryOnce of each replica's own.
	InMemory Store = "in memory"

	// forgetful is Transactional, but forgets what was handled: for tests of the simulation itself.
	forgetful Store = "forgetful"
)

// exact reports whether each delivery must have exactly one effect.
func (s Store) exact() bool { return s == Transactional || s == forgetful }

// Step is an action at a time.
type Step struct {
	At time.Duration
	Do Action
}

// Action is what a step does. id is the name of the step.
type Action interface {
	act(w *world, id string)
}

// What the processes do. From is the number of a client, from 0.
type (
	// Send submits an email to a contact of the list, or to an address on no list.
	Send struct {
		From    int
		Contact int // from 1; 0 is on no list
	}
	// React lets the recipient of the newest email react.
	React struct{ How Reaction }
	// Lookup looks up the newest email that the process knows of. With Cancel, a second lookup waits for the first one,
	// and is canceled after this time.
	Lookup struct {
		From   int
		Cancel time.Duration
	}
)

// Reaction is what a recipient does.
type Reaction string

// The reactions.
const (
	Bounces      Reaction = "bounces"
	Complains    Reaction = "complains"
	Opens        Reaction = "opens"
	Leaves       Reaction = "leaves the list"
	LeavesForAll Reaction = "leaves for good"
)

// Network failures. On names a link: "client1" is the link from the first client to the platform, and "replica1" is the
// link from the load balancer to the first replica. Each failure happens once, to the next connection.
type (
	// Refuse refuses a connection.
	Refuse struct{ On string }
	// Silence leaves an attempt to connect without a response.
	Silence struct{ On string }
	// Cut loses a connection after so many bytes in one direction.
	Cut struct {
		On    string
		Up    bool
		After int
	}
	// Fault is one of the platform's own faults.
	Fault struct{ mockserver.Fault }
)

// What goes wrong in a process, which is named like a link, or "platform".
type (
	// Crash kills a process, and starts it again later.
	Crash struct {
		Process string
		For     time.Duration
	}
	// Handle is how a replica handles the next event.
	Handle struct {
		Replica string
		How     Handling
		For     time.Duration
	}
)

// Handling is how an event is handled.
type Handling string

// The ways.
const (
	Fails   Handling = "fails"
	Panics  Handling = "panics"
	Hangs   Handling = "takes long" // this long, even if the caller no longer waits for it
	Dies    Handling = "dies"       // in the middle
	DiesDue Handling = "dies done"  // with the effect done
)
