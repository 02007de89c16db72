// Command chaos starts processes that share lookups, events and emails through Redis and PostgreSQL. Some
// processes share events through NATS JetStream. The command kills the processes and the servers, and then
// prints the losses, the duplicates and the speed, each with its target:
//
//	go run -C internal/tests/chaos .          # all figures, about 22 minutes
//	go run -C internal/tests/chaos . -short   # the same with less work, about two minutes
//
// It starts its own Redis and PostgreSQL (see package servers). If a figure misses its target, the command exits
// with 1. With -only mail, the command runs only the scenarios whose names begin with "mail".
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"time"

	"example.com/emailplatform/internal/tests/chaos/servers"
	"example.com/emailplatform/internal/tools/must"
)

func main() {
	runChild()
	short := flag.Bool("short", false, "less of everything, and check no speed that a busy machine spoils")
	only := flag.String("only", "", "run the groups whose name begins with this")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	exit(run(ctx, *short, *only))
}

// settings are the settings of a child process. Each program uses some of them.
type settings struct {
	Redis, Postgres, NATS string // addresses of servers
	Platform, Token       string // base URL and access token of a mock server
	Name, Email           string // lookup: its name in the User-Agent, the id of the email
	Goroutines            int    // lookup: number of concurrent lookups
	Pause                 time.Duration
	Addr                  string        // replica, nats: the address that it listens on
	Dir                   string        // nats: the directory of the streams
	Sync                  bool          // nats: sync each message to the disk before the response
	Store                 string        // replica: see open; sender: see openEngine
	Release               int           // sender: 2 has another webhook URL than 1, and omits an event; 0 is 1 with correct clocks
	Skew                  time.Duration // sender: by how much its clock is wrong
	File                  string        // sender: the database of SQLite; replica, worker: its handler appends a line for each call; empty: the handler of a replica does nothing
	Work                  time.Duration // replica, worker: duration of the handler
	Lease                 time.Duration // replica: lease of an event in Redis
	Rows                  bool          // replica: write a row with the key of each event
}

// children are the programs that chaos runs in child processes of its own binary.
var children = map[string]func(settings){
	"lookup":  lookupLoop,
	"nats":    natsServer,
	"replica": replica,
	"sender":  sender,
	"worker":  worker,
}

// runChild runs the child program that the first argument names, if any, and exits.
func runChild() {
	if len(os.Args) > 2 {
		if child, ok := children[os.Args[1]]; ok {
			exit(must.Run(func() {
				var with settings
				must.OK(json.Unmarshal([]byte(os.Args[2]), &with))
				child(with)
			}))
		}
	}
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// environment contains the servers and processes that all groups share.
type environment struct {
	short bool
	rdb   *servers.Server
	db    *servers.Server
	dir   string     // for files that must outlive a process
	live  []*process // started, and not yet ended by end
}

// pick returns short for a short run and full otherwise.
func (env *environment) pick(short, full int) int {
	if env.short {
		return short
	}
	return full
}

// groups are the scenarios. A group ends at the first failed call of package must.
var groups = []struct {
	name string
	run  func(context.Context, *environment) []figure
}{
	{"lookups: shared limit", sharedLookupLimit},
	{"lookups: a process is killed that has the turn", killedHolder},
	{"lookups: Redis is killed and comes back empty", redisRestarts},
	{"events: replicas are killed, pgstore", killedReplicas("pg")},
	{"events: replicas are killed, sqlstore", killedReplicas("sql")},
	{"events: replicas are killed, redisstore", killedReplicas("redis")},
	{"events: PostgreSQL is killed", killedPostgres},
	{"events: Redis is killed and comes back empty", killedRedis},
	{"mail: an outage, sqlite", outage(onSQLite)},
	{"mail: an outage, postgres", outage(onPostgreSQL)},
	{"mail: an outage, river", outage(onRiver)},
	{"mail: replicas are killed, sqlite", killedSenders(onSQLite)},
	{"mail: replicas are killed, postgres", killedSenders(onPostgreSQL)},
	{"mail: replicas are killed, river", killedSenders(onRiver)},
	{"mail: replicas end by SIGTERM, sqlite", stoppedSenders(onSQLite)},
	{"mail: replicas end by SIGTERM, postgres", stoppedSenders(onPostgreSQL)},
	{"mail: replicas end by SIGTERM, river", stoppedSenders(onRiver)},
	{"mail: PostgreSQL is killed, postgres", killedQueue(onPostgreSQL)},
	{"mail: PostgreSQL is killed, river", killedQueue(onRiver)},
	{"mail: speed, sqlite", mailSpeed(onSQLite)},
	{"mail: speed, postgres", mailSpeed(onPostgreSQL)},
	{"mail: speed, river", mailSpeed(onRiver)},
	{"stream: receivers, workers and the server are killed", killedStream},
	{"stream: throughput", streamThroughput},
	{"speed: one replica", oneReplica},
}

func run(ctx context.Context, short bool, only string) (err error) {
	defer must.Catch(&err)
	env := &environment{short: short, dir: must.Get(os.MkdirTemp("", "chaos-"))}
	defer func() { err = errors.Join(err, os.RemoveAll(env.dir)) }()
	env.rdb = must.Get(servers.StartRedis(ctx))
	defer func() { err = errors.Join(err, env.rdb.Close()) }()
	env.db = must.Get(servers.StartPostgres(ctx))
	defer func() { err = errors.Join(err, env.db.Close()) }()
	missed := 0
	for _, g := range groups {
		if !strings.HasPrefix(g.name, only) {
			continue
		}
		start := time.Now()
		var figures []figure
		err := must.Run(func() { figures = g.run(ctx, env) })
		env.end()
		if err != nil {
			return fmt.Errorf("%s: %w", g.name, err)
		}
		fmt.Printf("%s (%.0f s)\n", g.name, time.Since(start).Seconds())
		missed += report(figures, short)
	}
	if missed > 0 {
		return fmt.Errorf("%d figures are missed", missed)
	}
	return nil
}

// figure is a measured value with its target.
type figure struct {
	name  string
	value float64
	unit  string
	bound string // equal, atMost, atLeast, or "" for no target
	limit float64
	// speed marks a figure that depends on other load on the machine, so the short form does not check it.
	speed bool
}

const equal, atMost, atLeast = "= ", "≤ ", "≥ "

func (f figure) met() bool {
	switch f.bound {
	case equal:
		return f.value == f.limit
	case atMost:
		return f.value <= f.limit
	case atLeast:
		return f.value >= f.limit
	}
	return true
}

// wanted returns the target as text.
func (f figure) wanted() string {
	if f.bound == "" {
		return ""
	}
	return f.bound + number(f.limit)
}

func number(v float64) string {
	switch {
	case v == float64(int64(v)):
		return fmt.Sprintf("%d", int64(v))
	case v < 10:
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// report prints a table and returns how many figures are missed.
func report(figures []figure, short bool) (missed int) {
	for _, f := range figures {
		verdict := ""
		switch {
		case f.bound == "":
		case f.met():
			verdict = "met"
		case short && f.speed:
			verdict = "not checked in the short form"
		default:
			verdict = "MISSED"
			missed++
		}
		fmt.Printf("  %-46s %10s %-4s %-9s %s\n", f.name, number(f.value), f.unit, f.wanted(), verdict)
	}
	fmt.Println()
	return missed
}

// process is a child process that runs this program.
type process struct {
	program string
	with    settings
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	lines   *bufio.Scanner
}

// spawn starts a process for each of the settings, and returns when all have printed their first line. end kills them.
func (env *environment) spawn(program string, with ...settings) (all []*process) {
	for _, w := range with {
		p := &process{program: program, with: w}
		p.start()
		all, env.live = append(all, p), append(env.live, p)
	}
	for _, p := range all {
		p.line()
	}
	return all
}

func (p *process) start() {
	p.cmd = exec.Command(must.Get(os.Executable()), p.program, string(must.Get(json.Marshal(p.with)))) //nolint:gosec,noctx // it runs this program, and end kills it
	p.cmd.Stderr = os.Stderr
	servers.Bind(p.cmd)
	p.stdin, p.lines = must.Get(p.cmd.StdinPipe()), bufio.NewScanner(must.Get(p.cmd.StdoutPipe()))
	must.OK(p.cmd.Start())
}

// restart kills the process, unless it has ended, and starts it again with the same settings.
func (p *process) restart() {
	p.kill()
	p.start()
	p.line()
}

// end kills the remaining processes.
func (env *environment) end() {
	for _, p := range env.live {
		p.kill()
	}
	env.live = nil
}

// line returns the next line that the process prints.
func (p *process) line() string {
	if !p.lines.Scan() {
		must.Failf("a process ended: %w", errors.Join(p.lines.Err(), io.ErrUnexpectedEOF))
	}
	return p.lines.Text()
}

// kill ends the process with SIGKILL.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.cmd.Wait()
}

// freeAddr returns a free address.
func freeAddr() string {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	must.OK(l.Close())
	return l.Addr().String()
}
