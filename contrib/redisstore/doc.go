// Package redisstore shares state between processes through Redis. It contains a
// rate limiter for lookups and a deduplication store for webhook events.
//
//	rdb := redis.NewClient(&redis.Options{Addr: "localhost:6379"}) // github.com/redis/go-redis/v9
//
//	c, err := client.New(client.Config{
//		LookupLimiter: redisstore.NewLookupLimiter(rdb, redisstore.LimiterOptions{Fallback: client.NewLookupLimiter()}),
//		…
//	})
//
//	h := webhook.NewHandler(verifier, handle, webhook.Options{Once: redisstore.NewOnce(rdb, redisstore.OnceOptions{})})
//
// The package accepts any go-redis client: for one server, Sentinel, Ring or
// Cluster. It requires Redis 5 or newer, or Valkey. All types are safe for
// concurrent use.
//
// # Time
//
// All times come from the Redis server, so the clocks of the processes can differ. The server's own
// clock can jump, for example in a failover. If this clock is set back, callers wait longer. The
// additional time is at most the interval between two lookups or, if a process has crashed, the
// duration of a lease. If the clock is set forward, leases and the keys of handled events expire
// earlier.
//
// # Leases
//
// During a lookup, a process holds a slot of the limiter. While it handles an event, it holds the
// lock of the event. Redis cannot detect that the process crashed. Therefore each slot and each
// lock has a lease, which the process renews three times in each lease period. After a crash, the
// slot or lock is free when the lease expires.
//
// If a process is suspended for longer than its lease, for example in a debugger, another process
// can take its slot or lock:
//
//   - If the other process takes the slot, the lookups of both processes may follow each other too
//     soon. The platform may then reject a lookup, and the client retries it.
//   - If the other process takes the lock of an event, both processes may handle the event; see
//     [Once].
//
// # If Redis is unavailable
//
// If Redis does not respond within 2 seconds, or rejects a connection or a command, no event is
// lost: [Once] returns an error, so the platform retries the delivery. In the same cases, the
// limiter uses [LimiterOptions].Fallback. The limit of 2 seconds does not depend on the timeouts of
// the go-redis client.
//
// If Redis loses the key of a handled event, the event is handled again. A failover loses
// keys that the replica has not received, and a Ring loses the keys of a server that it
// removes.
//
// # Server settings
//
// Because lost keys cause duplicates, check two settings of Redis:
//
//   - Redis must not evict keys (maxmemory-policy noeviction, the default). Otherwise
//     events can be handled again without a warning, and lookups lose their order. With
//     noeviction, Redis returns an error when its memory is full, and the package logs
//     the error.
//   - Without persistence, a Redis restart deletes all keys. With appendfsync everysec, a
//     Redis crash loses the keys from the last second.
package redisstore
