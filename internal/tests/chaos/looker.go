package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"

	"github.com/redis/go-redis/v9"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/redisstore"
)

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// looker looks an email up from the line "go" until the input ends. Then it prints how many lookups failed.
func looker(args []string) error {
	f := flag.NewFlagSet("looker", flag.ExitOnError)
	name := f.String("name", "", "told to the platform")
	addr := f.String("redis", "", "address of Redis")
	url := f.String("url", "", "of the platform")
	token := f.String("token", "", "of the account")
	email := f.String("email", "", "whose id is looked up")
	goroutines := f.Int("goroutines", 1, "how many look up at once")
	_ = f.Parse(args)
	redis.SetLogger(silent{})
	rdb := redis.NewClient(&redis.Options{Addr: *addr})
	defer func() { _ = rdb.Close() }()
	c, err := client.New(client.Config{
		BaseURL: *url, Token: *token, UserAgent: *name + "/1",
		LookupLimiter: redisstore.NewLookupLimiter(rdb, redisstore.LimiterOptions{
			Fallback: client.NewLookupLimiter(), Logger: slog.New(slog.DiscardHandler),
		}),
	})
	if err != nil {
		return err
	}
	if err := rdb.Ping(context.Background()).Err(); err != nil {
		return err
	}
	fmt.Println("ready")
	input := bufio.NewScanner(os.Stdin)
	input.Scan()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var failed atomic.Int64
	var wg sync.WaitGroup
	for range *goroutines {
		wg.Go(func() {
			for ctx.Err() == nil {
				if _, err := c.Emails.Get(ctx, *email); err != nil && ctx.Err() == nil {
					failed.Add(1)
					fmt.Fprintln(os.Stderr, *name, err)
				}
			}
		})
	}
	input.Scan() // until the end
	stop()
	wg.Wait()
	fmt.Println(failed.Load())
	return input.Err()
}
