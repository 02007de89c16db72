package main

import (
	"errors"
	"flag"
	"strconv"
	"time"

	"example.com/emailplatform/mockserver"
)

// deliveryFlags are about the attempts to deliver to webhooks.
func deliveryFlags(flags *flag.FlagSet, config *mockserver.Config) {
	const concurrency = "`attempts` to one webhook at a time; 1 for deliveries in order (default 4)"
	flags.Func("delivery-concurrency", concurrency, func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return errors.New("want 1 or more")
		}
		config.DeliveryConcurrency = n
		return nil
	})
	flags.Func("attempt-timeout", "`time` that an attempt to deliver may take (default 10s)", func(text string) error {
		d, err := time.ParseDuration(text)
		if err != nil || d <= 0 {
			return errors.New("want a time such as 2s")
		}
		config.AttemptTimeout = d
		return nil
	})
}
