package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	lease = 5 * time.Second // of a turn, the default of redisstore
	wait  = 30 * time.Second
)

// crowd are processes that look the same email up, again and again.
type crowd struct {
	p       *platform
	members []*process
}

func gather(ctx context.Context, s *stage, processes, goroutines int) (*crowd, error) {
	p, err := newPlatform(ctx)
	if err != nil {
		return nil, err
	}
	c := &crowd{p: p}
	for i := range processes {
		m, err := spawn("looker", "-name", fmt.Sprint("process-", i), "-redis", s.rdb.Addr(), "-url", p.srv.URL,
			"-token", p.mock.Token(), "-email", p.email, "-goroutines", strconv.Itoa(goroutines))
		if err != nil {
			c.disperse()
			return nil, err
		}
		c.members = append(c.members, m)
	}
	for _, m := range c.members { // all at once, so no process starts earlier
		if _, err := m.line(); err != nil {
			c.disperse()
			return nil, err
		}
	}
	for _, m := range c.members {
		if _, err := fmt.Fprintln(m.stdin, "go"); err != nil {
			c.disperse()
			return nil, err
		}
	}
	return c, nil
}

// disperse kills them, in the middle of what they do.
func (c *crowd) disperse() {
	for _, m := range c.members {
		m.kill()
	}
	c.p.close()
}

// failures has them end, and returns what failed.
func (c *crowd) failures() (failed int, err error) {
	for _, m := range c.members {
		if err := m.stdin.Close(); err != nil {
			return 0, err
		}
	}
	for _, m := range c.members {
		line, err := m.line()
		if err != nil {
			return 0, err
		}
		n, err := strconv.Atoi(line)
		if err != nil {
			return 0, err
		}
		failed += n
	}
	return failed, nil
}

// turns has three processes look up at the pace of the platform.
func turns(ctx context.Context, s *stage) (_ []figure, err error) {
	n := s.pick(24, 500)
	c, err := gather(ctx, s, 3, s.pick(4, 8))
	if err != nil {
		return nil, err
	}
	defer c.disperse()
	before, err := scripts(ctx, s)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(n)*2*time.Second+wait)
	defer cancel()
	if err := c.p.until(ctx, func(at []arrival) bool { return len(at) >= n }); err != nil {
		return nil, err
	}
	after, err := scripts(ctx, s)
	if err != nil {
		return nil, err
	}
	at, refused := c.p.lookups()
	at = at[:n]
	shortest, each, counts := time.Hour, map[string]int{}, []int{}
	for i, a := range at {
		each[a.process]++
		if i > 0 {
			shortest = min(shortest, a.at.Sub(at[i-1].at))
		}
	}
	most, least := 0, n
	for _, k := range each {
		most, least = max(most, k), min(least, k)
		counts = append(counts, k)
	}
	if len(counts) < 3 {
		least = 0
	}
	return []figure{
		{name: "lookups", value: float64(n)},
		{name: "refused by the platform", value: float64(refused), bound: exactly},
		{name: "shortest gap at the platform", value: shortest.Seconds(), unit: "s", bound: atLeast, limit: 1},
		{name: "a lookup takes", value: at[n-1].at.Sub(at[0].at).Seconds() / float64(n-1), unit: "s", bound: atMost, limit: 1.02, speed: true},
		{name: "calls of Redis a turn", value: float64(after-before) / float64(n), bound: atMost, limit: 5, speed: true},
		{name: "most of a process to the least", value: float64(most) / float64(least), bound: atMost, limit: 1.05, speed: true},
	}, nil
}

// scripts is how many scripts Redis has run.
func scripts(ctx context.Context, s *stage) (n int, err error) {
	rdb := redis.NewClient(&redis.Options{Addr: s.rdb.Addr()})
	defer func() { err = errors.Join(err, rdb.Close()) }()
	text, err := rdb.Info(ctx, "commandstats").Result()
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(text) {
		for _, name := range []string{"cmdstat_eval:calls=", "cmdstat_evalsha:calls="} {
			if rest, ok := strings.CutPrefix(line, name); ok {
				count, _, _ := strings.Cut(rest, ",")
				k, err := strconv.Atoi(count)
				if err != nil {
					return 0, err
				}
				n += k
			}
		}
	}
	return n, nil
}

// killedHolder kills a process while the platform has its lookup.
func killedHolder(ctx context.Context, s *stage) (figures []figure, err error) {
	longest := time.Duration(0)
	rounds := s.pick(1, 5)
	for range rounds {
		took, err := killHolder(ctx, s)
		if err != nil {
			return nil, err
		}
		longest = max(longest, took)
	}
	return []figure{
		{name: "processes killed", value: float64(rounds)},
		{name: "next turn after the kill, at the longest", value: longest.Seconds(), unit: "s", bound: atMost, limit: (lease + 500*time.Millisecond).Seconds()},
	}, nil
}

func killHolder(ctx context.Context, s *stage) (took time.Duration, err error) {
	c, err := gather(ctx, s, 3, 2)
	if err != nil {
		return 0, err
	}
	defer c.disperse()
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	if err := c.p.until(ctx, func(at []arrival) bool { return len(at) >= 3 }); err != nil {
		return 0, err
	}
	end := make(chan struct{})
	defer close(end)
	c.p.mu.Lock()
	c.p.hold = func(process string) <-chan struct{} {
		if process == "process-0" {
			return end
		}
		return nil
	}
	c.p.mu.Unlock()
	held := 0
	err = c.p.until(ctx, func(at []arrival) bool {
		held = len(at)
		return held > 3 && at[held-1].process == "process-0"
	})
	if err != nil {
		return 0, err
	}
	killed := time.Now()
	c.members[0].kill()
	if err := c.p.until(ctx, func(at []arrival) bool { return len(at) > held }); err != nil {
		return 0, err
	}
	at, _ := c.p.lookups()
	return at[held].at.Sub(killed), nil
}

// redisRestarts has processes look up while Redis is killed, away for two seconds, and empty when it comes back.
func redisRestarts(ctx context.Context, s *stage) (_ []figure, err error) {
	c, err := gather(ctx, s, 3, 2)
	if err != nil {
		return nil, err
	}
	defer c.disperse()
	rounds := s.pick(1, 5)
	for range rounds {
		time.Sleep(3 * time.Second)
		if err := s.rdb.Kill(); err != nil {
			return nil, err
		}
		time.Sleep(2 * time.Second)
		if err := s.rdb.Start(ctx); err != nil {
			return nil, err
		}
		time.Sleep(5 * time.Second)
	}
	failed, err := c.failures()
	if err != nil {
		return nil, err
	}
	at, refused := c.p.lookups()
	return []figure{
		{name: "Redis killed", value: float64(rounds)},
		{name: "lookups", value: float64(len(at))},
		{name: "failed", value: float64(failed), bound: exactly},
		{name: "refused, and waited out", value: float64(refused)},
	}, nil
}
