package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/console"
	"example.com/emailplatform/webhook"
)

const serveUsage = `Runs the platform in memory, with a web console at /_mock/.

  mockserver [serve] [flags]    runs it until a signal ends it
  mockserver trigger            sends an event, signed, to a receiver; -h says more
  mockserver verify             says whether a signature is right, or why not; -h says more
  mockserver health             says whether one is running; -h says more

` + addrVariable + ` and ` + tokenVariable + ` in the environment stand for -addr and -token.

`

// grace is how long requests and deliveries under way may take after a signal.
const grace = 5 * time.Second

// options are the flags of the server.
type options struct {
	addr, seed, state string
	readyFile         string
	quiet, json       bool
	version           bool
	config            mockserver.Config
}

// tokenIsKnown reports whether the default token opens the platform.
func (o options) tokenIsKnown() bool {
	return slices.ContainsFunc(o.config.Tokens, func(t mockserver.Token) bool {
		return t.Token == mockserver.DefaultToken
	})
}

// serve runs the platform until ctx ends.
func serve(ctx context.Context, args []string, out io.Writer) (err error) {
	o, err := parse(args, out)
	if err != nil {
		return err
	}
	if o.version {
		build, _ := debug.ReadBuildInfo()
		_, err := fmt.Fprintln(out, version(build))
		return err
	}
	log, records := newLog(o.json, out)
	o.config.RecordEvents = true
	o.config.Console = console.Handler()
	o.config.Log = records
	if !o.quiet {
		o.config.OnRequest = log.request
	}
	if err := forget(o.readyFile); err != nil {
		return err
	}
	listener, err := hold(ctx, o.addr, o.tokenIsKnown())
	if err != nil {
		return err
	}
	srv := mockserver.StartOn(listener, o.config)
	defer srv.Close()
	state, err := openState(o.state, o.config.Log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, state.close()) }()
	if err := fill(srv, state, o.seed); err != nil {
		return err
	}
	now := readyNow(srv, listener.Addr())
	if err := now.write(o.readyFile); err != nil {
		return err
	}
	defer func() { _ = forget(o.readyFile) }()
	log.welcome(now)   // after all that may fail: who is told so, may ask
	listener.release() // last: who has read where it is, is answered
	<-ctx.Done()
	return stop(srv)
}

// fill sows the seed, which is what a reset goes back to, and then loads the
// state if there is one. From then on it keeps it.
func fill(srv *mockserver.Server, state *stateFile, seed string) error {
	if err := sow(srv, seed); err != nil {
		return err
	}
	if err := state.load(srv); err != nil {
		return err
	}
	return state.keep(srv)
}

// sow seeds the start.
func sow(srv *mockserver.Server, seed string) error {
	if seed == "" {
		return nil
	}
	file, err := os.Open(seed)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	if err := srv.Seed(file); err != nil {
		return err
	}
	return srv.SetStart()
}

// stop ends what is under way.
func stop(srv *mockserver.Server) error {
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	late := srv.Shutdown(ctx) // a client that does not leave must not cost the state
	if late == nil {
		_ = srv.Wait(ctx) // what is not delivered by then is saved as still to be delivered
	}
	return late
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("mockserver", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.Usage = func() { _, _ = io.WriteString(out, serveUsage); flags.PrintDefaults() }
	addrFlag(flags, &o.addr, "`address` to listen on; one that is not loopback wants a -token")
	flags.Func("token",
		"access `token[:user-email[:account-id]]`; may be repeated (default "+mockserver.DefaultToken+")", o.addToken)
	flags.Func("read-only-token",
		"`token[:user-email[:account-id]]` that may only read; may be repeated", o.addReadOnlyToken)
	flags.StringVar(&o.seed, "seed", "",
		"`file` of what there is at the start, and after a reset; the file of -state goes before it")
	flags.StringVar(&o.state, "state", "",
		"`file` of the state: loaded at the start, saved within a second of each change; of one process at a time")
	const schedule = "`waits` before a failed delivery is tried again, such as 1s,5s,2m; none is no second attempt"
	flags.Func("retry-schedule", schedule, func(text string) error {
		var err error
		o.config.RetrySchedule, err = parseSchedule(text)
		return err
	})
	flags.BoolVar(&o.config.AllowTargets, "allow-targets", false,
		"deliver to public addresses too, not to loopback alone")
	flags.Func("allow-target",
		"`host`, address or network to deliver to as well, such as host.docker.internal or 172.16.0.0/12; may be repeated", o.allowTarget)
	flags.TextVar(&o.config.Lookups, "lookup-limit", mockserver.LookupGap,
		"`how` one lookup a second is counted: gap, bucket or calendar")
	deliveryFlags(flags, &o.config)
	clockFlags(flags, &o.config)
	flags.Func("hash-function",
		"`function` that signs the deliveries of webhooks, sha256 or sha512 (default sha256)", o.hashFunction)
	flags.BoolVar(&o.config.RefuseUnknownMembers, "strict", false,
		"refuse requests with members or parameters that the API does not know")
	flags.Uint64Var(&o.config.FaultSeed, "fault-seed", 0, "`seed` of the fault plan's probabilities; 0 chooses one")
	flags.BoolVar(&o.quiet, "quiet", false, "log no requests")
	flags.Func("log",
		"`form` of the log, text or json, a line each; json begins with where the platform is (default text)", o.logForm)
	flags.StringVar(&o.readyFile, "ready-file", "",
		"`file` to write where the platform is and its token to, as JSON, once it can be asked")
	flags.BoolVar(&o.version, "version", false, "print the version and exit")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if err := o.tokenOfEnvironment(); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return o, nil
}

// parseToken reads token[:user-email[:account-id]]. Users are numbered in the
// order of their tokens.
func parseToken(text string, before int) (mockserver.Token, error) {
	parts := strings.Split(text, ":")
	if parts[0] == "" || len(parts) > 3 {
		return mockserver.Token{}, errors.New("want token[:user-email[:account-id]]")
	}
	token := mockserver.Token{Token: parts[0], UserID: int64(before) + 1}
	if len(parts) > 1 {
		token.UserEmail = parts[1]
	}
	if len(parts) > 2 {
		id, err := strconv.ParseInt(parts[2], 10, 64)
		if err != nil || id < 1 {
			return mockserver.Token{}, errors.New("account-id: want 1 or more")
		}
		token.AccountID = id
	}
	return token, nil
}

// hashFunction is the flag -hash-function.
func (o *options) hashFunction(text string) error {
	hash := webhook.Hash(text)
	if hash != webhook.SHA256 && hash != webhook.SHA512 {
		return errors.New("want sha256 or sha512")
	}
	o.config.HashFunction = hash
	return nil
}

func parseSchedule(text string) ([]time.Duration, error) {
	schedule := []time.Duration{}
	if text == "" || text == "none" {
		return schedule, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		wait, err := time.ParseDuration(strings.TrimSpace(part))
		if err != nil || wait < 0 {
			return nil, fmt.Errorf("%q: want waits such as 1s,5s,2m", part)
		}
		schedule = append(schedule, wait)
	}
	return schedule, nil
}
