package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/redis/go-redis/v9"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/redisstore"
	"example.com/emailplatform/mockserver"
)

// address is where there is a Redis, or no address if there is none.
func address() string {
	if addr := os.Getenv("REDIS_ADDR"); addr != "" {
		return addr
	}
	return "127.0.0.1:1"
}

// Clients of several processes look emails up by turns. While Redis is away, each
// keeps the platform's limit alone.
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
		fmt.Println(err)
		return
	}
	_, err = c.Emails.Get(context.Background(), "00000000-0000-4000-8000-000000000000")
	fmt.Println(errors.Is(err, client.ErrNotFound))
	// Output: true
}

// Replicas of a receiver that use the same Redis handle each event once. A Redis
// that is away is an error, so that the platform delivers the event again.
func ExampleNewOnce() {
	rdb := redis.NewClient(&redis.Options{Addr: address()})
	defer func() { _ = rdb.Close() }()
	once := redisstore.NewOnce(rdb, redisstore.OnceOptions{}) // goes into webhook.Options

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
