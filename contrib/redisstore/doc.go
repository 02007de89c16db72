// Package redisstore shares state in Redis between processes that use the SDK:
// a rate limiter for lookups and a deduplication store for webhook events.
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
// It accepts any go-redis client: for one server, Sentinel, Ring or Cluster. It
// requires Redis 5 or newer, or Valkey. All types are safe for concurrent use.
//
// # Time
//
// All times are from the clock of the server, so the clocks of the processes do
// not matter. If the server's clock jumps, for example after a failover, a
// caller is blocked at most for the duration of a slot or a lease.
//
// # Leases
//
// Redis cannot detect that a process crashed. So a slot and an event belong to
// a process for the duration of a lease, which the process renews after every
// third of it. After a crash, the slot or event is free when the lease expires.
// If a process is suspended for longer than its lease, for example in a
// debugger, another process takes over. For a lookup, the worst case is a
// rejected request, which the client retries. For an event, the worst case is
// that both processes handle it; see [Once].
//
// # If Redis is unavailable
//
// The timeout for a response is 2 seconds, regardless of the timeouts of the
// client. After that, the limiter uses [LimiterOptions].Fallback, and [Once]
// returns an error, so the platform retries the delivery. An event is never
// lost. If Redis loses the key of an event, the event is handled again.
//
// # Settings of the server
//
// Redis must not evict keys (maxmemory-policy noeviction, the default), because
// an event whose key was evicted is handled again without a warning. With
// noeviction, a full server returns an error, which is logged. Without
// persistence, a restart deletes all keys; with appendfsync everysec, a crash
// loses the last second.
package redisstore
