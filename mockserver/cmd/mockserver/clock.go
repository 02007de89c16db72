package main

import (
	"errors"
	"flag"
	"time"

	"example.com/emailplatform/mockserver"
)

// clockFlags are about the platform's time.
func clockFlags(flags *flag.FlagSet, config *mockserver.Config) {
	flags.Func("clock", "`how` the platform's time begins: running or frozen (default running)", func(text string) error {
		config.FreezeClock = text == "frozen"
		if text != "frozen" && text != "running" {
			return errors.New("want running or frozen")
		}
		return nil
	})
	flags.Func("now", "the platform's `time` at the start, such as 2026-01-02T15:04:05Z", func(text string) error {
		var err error
		if config.Now, err = time.Parse(time.RFC3339, text); err != nil {
			return errors.New("want a time such as 2026-01-02T15:04:05Z")
		}
		if year := config.Now.UTC().Year(); year < 1970 || year > 2199 {
			return errors.New("want a time of the years 1970 to 2199")
		}
		return nil
	})
}
