package main

import (
	"bufio"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"example.com/emailplatform/client"
	"example.com/emailplatform/contrib/redisstore"
	"example.com/emailplatform/internal/tools/must"
	"example.com/emailplatform/mockserver"
)

const (
	lease = 5 * time.Second // lease of a slot, the default of redisstore
	wait  = 30 * time.Second
)

// lookupProcesses is a group of processes that look up the same email repeatedly.
type lookupProcesses struct {
	*platform
	members []*process
}

func startLookupProcesses(ctx context.Context, env *environment, processes, goroutines int) *lookupProcesses {
	p := newPlatform(ctx)
	with := make([]settings, processes)
	for i := range with {
		with[i] = settings{
			Name: fmt.Sprint("process-", i), Redis: env.rdb.Addr, Platform: p.srv.URL, Token: p.mock.Token(), Email: p.email, Goroutines: goroutines,
		}
	}
	c := &lookupProcesses{p, env.spawn("lookup", with...)}
	for _, m := range c.members {
		must.Get(fmt.Fprintln(m.stdin, "go"))
	}
	return c
}

// failures ends the processes and returns the number of failed lookups.
func (c *lookupProcesses) failures() (failed int) {
	for _, m := range c.members {
		must.OK(m.stdin.Close())
	}
	for _, m := range c.members {
		failed += must.Get(strconv.Atoi(m.line()))
	}
	return failed
}

// sharedLookupLimit measures the lookups of three processes that share the platform's rate limit.
func sharedLookupLimit(ctx context.Context, env *environment) []figure {
	n := env.pick(24, 500)
	c := startLookupProcesses(ctx, env, 3, env.pick(4, 8))
	defer c.close()
	defer env.end() // ends the processes during their lookups
	before := scripts(ctx, env)
	ctx, cancel := context.WithTimeout(ctx, time.Duration(n)*2*time.Second+wait)
	defer cancel()
	c.until(ctx, func(at []arrival) bool { return len(at) >= n })
	after := scripts(ctx, env)
	at, rejected := c.lookups()
	at = at[:n]
	shortest, each := time.Hour, map[string]int{}
	for i, a := range at {
		each[a.process]++
		if i > 0 {
			shortest = min(shortest, a.at.Sub(at[i-1].at))
		}
	}
	counts := []int{each["process-0"], each["process-1"], each["process-2"]}
	return []figure{
		{name: "lookups", value: float64(n)},
		{name: "rejected by the platform", value: float64(rejected), bound: equal},
		{name: "shortest gap at the platform", value: shortest.Seconds(), unit: "s", bound: atLeast, limit: 1},
		{name: "a lookup takes", value: at[n-1].at.Sub(at[0].at).Seconds() / float64(n-1), unit: "s", bound: atMost, limit: 1.02, speed: true},
		{name: "calls of Redis per lookup", value: float64(after-before) / float64(n), bound: atMost, limit: 5, speed: true},
		{name: "most of a process to the least", value: float64(slices.Max(counts)) / float64(slices.Min(counts)), bound: atMost, limit: 1.05, speed: true},
	}
}

// scripts returns the number of scripts that Redis has run.
func scripts(ctx context.Context, env *environment) (n int) {
	rdb := redis.NewClient(&redis.Options{Addr: env.rdb.Addr})
	defer func() { _ = rdb.Close() }()
	for _, m := range scriptCalls.FindAllStringSubmatch(must.Get(rdb.Info(ctx, "commandstats").Result()), -1) {
		n += must.Get(strconv.Atoi(m[1]))
	}
	return n
}

var scriptCalls = regexp.MustCompile(`cmdstat_eval(?:sha)?:calls=(\d+)`)

// killedHolder kills a process while the platform processes its lookup.
func killedHolder(ctx context.Context, env *environment) []figure {
	longest := time.Duration(0)
	rounds := env.pick(1, 5)
	for range rounds {
		longest = max(longest, killHolder(ctx, env))
	}
	return []figure{
		{name: "processes killed", value: float64(rounds)},
		{name: "next turn after the kill, at the longest", value: longest.Seconds(), unit: "s", bound: atMost, limit: (lease + 500*time.Millisecond).Seconds()},
	}
}

func killHolder(ctx context.Context, env *environment) (took time.Duration) {
	c := startLookupProcesses(ctx, env, 3, 2)
	defer c.close()
	defer env.end()
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	c.until(ctx, func(at []arrival) bool { return len(at) >= 3 })
	c.held.Store(true)
	held := 0
	c.until(ctx, func(at []arrival) bool {
		held = len(at)
		return held > 3 && at[held-1].process == "process-0"
	})
	killed := time.Now()
	c.members[0].kill()
	c.until(ctx, func(at []arrival) bool { return len(at) > held })
	at, _ := c.lookups()
	return at[held].at.Sub(killed)
}

// redisRestarts kills Redis while processes look up emails. Redis restarts after two seconds without its data.
func redisRestarts(ctx context.Context, env *environment) []figure {
	c := startLookupProcesses(ctx, env, 3, 2)
	defer c.close()
	rounds := env.pick(1, 5)
	for range rounds {
		time.Sleep(3 * time.Second)
		must.OK(env.rdb.Kill())
		time.Sleep(2 * time.Second)
		must.OK(env.rdb.Start(ctx))
		time.Sleep(5 * time.Second)
	}
	failed := c.failures()
	at, rejected := c.lookups()
	return []figure{
		{name: "Redis killed", value: float64(rounds)},
		{name: "lookups", value: float64(len(at))},
		{name: "failed", value: float64(failed), bound: equal},
		{name: "rejected and retried", value: float64(rejected)},
	}
}

// lookupLoop waits for the line "go" in its input. It then looks up an email repeatedly until the input ends, and prints
// the number of failed lookups.
func lookupLoop(with settings) {
	logging.Disable()
	rdb := redis.NewClient(&redis.Options{Addr: with.Redis})
	defer func() { _ = rdb.Close() }()
	c := must.Get(client.New(client.Config{
		BaseURL: with.Platform, Token: with.Token, UserAgent: with.Name + "/1",
		LookupLimiter: redisstore.NewLookupLimiter(rdb, redisstore.LimiterOptions{
			Fallback: client.NewLookupLimiter(), Logger: slog.New(slog.DiscardHandler),
		}),
	}))
	must.OK(rdb.Ping(context.Background()).Err())
	fmt.Println("ready")
	input := bufio.NewScanner(os.Stdin)
	input.Scan()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var failed atomic.Int64
	var wg sync.WaitGroup
	for range with.Goroutines {
		wg.Go(func() {
			for ctx.Err() == nil {
				if _, err := c.Emails.Get(ctx, with.Email); err != nil && ctx.Err() == nil {
					failed.Add(1)
					fmt.Fprintln(os.Stderr, with.Name, err)
				}
			}
		})
	}
	input.Scan() // waits for the end of the input
	stop()
	wg.Wait()
	fmt.Println(failed.Load())
	must.OK(input.Err())
}

// platform is a mock server that rejects a lookup less than one second after the previous lookup. It records the
// process and the time of each lookup.
type platform struct {
	srv   *httptest.Server
	mock  *mockserver.Server
	email string
	held  atomic.Bool // lookups of process-0 get no response until it is killed

	mu       sync.Mutex
	rejected int
	at       []arrival
}

// arrival is a lookup that the platform has not rejected.
type arrival struct {
	process string
	at      time.Time
}

func newPlatform(ctx context.Context) *platform {
	p := &platform{mock: mockserver.New(mockserver.Config{LookupLimit: mockserver.LookupMinInterval})}
	p.srv = httptest.NewServer(p)
	c := must.Get(client.New(client.Config{BaseURL: p.srv.URL, Token: p.mock.Token()}))
	p.email = must.Get(c.Emails.Send(ctx, client.EmailSubmission{
		To: "ann@example.com", Sender: client.Sender{Email: "s@example.com"}, Content: client.EmailContent{Subject: "S", Text: "T"},
	})).ID
	return p
}

func (p *platform) close() {
	p.srv.Close()
	p.mock.Close()
}

// ServeHTTP records the time of each lookup and the process, whose name is in the User-Agent.
func (p *platform) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := time.Now()
	process, _, _ := strings.Cut(r.UserAgent(), "/")
	lookup := r.Method == http.MethodGet
	if lookup && process == "process-0" && p.held.Load() {
		p.note(process, at, false)
		<-r.Context().Done()
		return
	}
	response := httptest.NewRecorder()
	p.mock.ServeHTTP(response, r)
	maps.Copy(w.Header(), response.Header())
	w.WriteHeader(response.Code)
	_, _ = response.Body.WriteTo(w)
	if lookup {
		p.note(process, at, response.Code == http.StatusTooManyRequests)
	}
}

func (p *platform) note(process string, at time.Time, rejected bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if rejected {
		p.rejected++
	} else {
		p.at = append(p.at, arrival{process, at})
	}
}

func (p *platform) lookups() ([]arrival, int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clip(p.at), p.rejected
}

// until waits until enough returns true for the recorded lookups.
func (p *platform) until(ctx context.Context, enough func([]arrival) bool) {
	for {
		if at, _ := p.lookups(); enough(at) {
			return
		}
		must.OK(ctx.Err())
		time.Sleep(time.Millisecond)
	}
}
