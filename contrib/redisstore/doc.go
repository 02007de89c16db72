// Package redisstore keeps in Redis what several processes that use the SDK
// must share: whose turn it is to look an email up, and which events were
// handled.
//
//	rdb := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
//
//	c, err := client.New(client.Config{
//		LookupLimiter: redisstore.NewLookupLimiter(rdb, redisstore.LimiterOptions{Fallback: client.NewLookupLimiter()}),
//		…
//	})
//
//	h := webhook.NewHandler(verifier, handle, webhook.Options{Once: redisstore.NewOnce(rdb, redisstore.OnceOptions{})})
//
// Any client of go-redis will do: for one server, Sentinel, Ring or Cluster.
// Redis 5 or newer, or Valkey. Everything is safe for concurrent use.
//
// # Time
//
// All times are the server's. The clocks of the processes do not matter, and a
// clock of the server that jumps, as it may when another server takes over,
// stops nobody for longer than a turn or a lease takes.
//
// # Leases
//
// Redis cannot see a process die. So a turn and an event belong to a process
// for the time of a lease, which it renews every third of it, for as long as it
// takes. A process that dies is waited for until its lease has run out; one that
// stands still for longer than that, in a debugger or a suspended machine, is
// taken for dead, and somebody else does what it did. For a lookup this means at
// worst a refusal, which the client waits out. For an event it means that it may
// be handled twice: see [Once].
//
// # When Redis is away
//
// An answer is awaited for 2 seconds, whatever the time-outs of the client.
// Then the limiter asks [LimiterOptions].Fallback, and [Once] returns an error,
// so that the platform delivers the event again. An event is never lost: what
// Redis forgets is handled again.
//
// # Settings of the server
//
// Redis must not evict keys (maxmemory-policy noeviction, its default): what it
// evicts is forgotten without a word, and handled again. With noeviction a full
// server answers an error, which is noticed. Without persistence a restart
// forgets everything; with appendfsync everysec, the last second.
package redisstore
