package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/redis/go-redis/v9"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/redisstore"
	"example.com/emailplatform/mockserver"
)

// address returns REDIS_ADDR or an unreachable address.
func address() string {
	if addr := os.Getenv("REDIS_ADDR"); addr != "" {
		return addr
	}
	return "127.0.0.1:1"
}

// Clients in several processes share one limit for email lookups. While Redis is unavailable, each
// process limits only its own lookups.
func ExampleNewLookupLimiter() {
	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	rdb := redis.NewClient(&redis.Options{Addr: address()})
	defer func() { _ = rdb.Close() }()

	c, err := client.New(client.Config{
		BaseURL:       srv.URL(),
		Token:         srv.Token(),
		LookupLimiter: redisstore.NewLookupLimiter(rdb, redisstore.LimiterOptions{Fallback: client.NewLookupLimiter()}),
	})
	if err != nil {
		log.Fatal(err)
	}
	_, err = c.Emails.Get(context.Background(), "00000000-0000-4000-8000-000000000000")
	fmt.Println(errors.Is(err, client.ErrNotFound))
	// Output: true
}

// Replicas of a receiver that use the same Redis skip events that another replica has handled. If
// Redis is unavailable, the handler responds with 500, so the platform delivers the event again.
func ExampleNewOnce() {
	rdb := redis.NewClient(&redis.Options{Addr: address()})
	defer func() { _ = rdb.Close() }()
	once := redisstore.NewOnce(rdb, redisstore.OnceOptions{}) // set it as webhook.Options.Once

	handled := 0
	for range 2 { // the platform delivers again
		_, err := once.Do(context.Background(), "event-1", func(context.Context) error {
			handled++
			return nil
		})
		if err != nil {
			continue // a handler of package webhook responds with 500 here
		}
	}
	fmt.Println("at most once:", handled <= 1)
	// Output: at most once: true
}
