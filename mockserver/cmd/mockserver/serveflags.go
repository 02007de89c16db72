package main

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/internal/clock"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/quirk"
	"example.com/emailplatform/webhook"
)

// options are the options of the server.
type options struct {
	addr, seed, state  string
	readyFile          string
	clock, log         string
	quiet, showVersion bool
	exitOnStdinClose   bool
	config             mockserver.Config
}

func parseServe(args []string, out io.Writer) (options, error) {
	var o options
	flags := newFlags("mockserver", serveUsage, out)
	addrFlag(flags, &o.addr, "`address` to listen on; an address that is not loopback requires -token")
	o.tokenFlags(flags)
	o.deliveryFlags(flags)
	flags.StringVar(&o.seed, "seed", "", "`file` with the baseline, which a reset restores; an existing -state file overrides it")
	flags.StringVar(&o.state, "state", "",
		"state `file`, loaded at startup and saved after changes; only one process can use it at a time")
	flags.TextVar(&o.config.LookupLimit, "lookup-limit", mockserver.LookupMinInterval,
		"`mode` that enforces one lookup per second: min_interval, token_bucket or fixed_window; unlimited disables the limit")
	flags.Func("clock", "clock `mode` at startup: running or frozen (default running)", oneOf(&o.clock, "running", "frozen"))
	flags.Func("now", "initial `timestamp` of the clock, such as 2026-01-02T15:04:05Z", o.setNow)
	flags.BoolVar(&o.config.RejectUnknownFields, "strict", false, "reject all requests with unknown fields or parameters")
	flags.Func("quirks", "comma-separated `names` of deviations that the client accepts:\n"+strings.Join(mockserver.Quirks(), ", "), o.setQuirks)
	flags.Uint64Var(&o.config.FaultSeed, "fault-seed", 0, "`seed` of random faults; 0 chooses a random seed")
	flags.BoolVar(&o.quiet, "quiet", false, "do not log requests")
	flags.Func("log", "log `format`, text or json; the first JSON line contains the base URL (default text)",
		oneOf(&o.log, "text", "json"))
	flags.StringVar(&o.readyFile, "ready-file", "", "`file` to write the base URL and a token to, as JSON, once the server is ready")
	flags.BoolVar(&o.exitOnStdinClose, "exit-on-stdin-close", false,
		"exit when standard input is closed, for example because the parent process has exited")
	flags.BoolVar(&o.showVersion, "version", false, "print the version and exit")
	if err := flags.parseAll(args); err != nil {
		return o, err
	}
	o.config.FreezeClock = o.clock == "frozen"
	if o.sharedFile() {
		return o, errSharedFile
	}
	return o, o.defaultToken()
}

func (o *options) tokenFlags(flags *flagSet) {
	flags.Func("token", "access `token[:user-email[:account-id]]`; may be repeated, or contain several with commas between them "+
		"(default "+mockserver.DefaultToken+")",
		list(func(text string) error { return o.addToken(text, false) }))
	flags.Func("read-only-token",
		"read-only access `token[:user-email[:account-id]]`; may be repeated, or contain several with commas between them",
		list(func(text string) error { return o.addToken(text, true) }))
}

func (o *options) deliveryFlags(flags *flagSet) {
	flags.Func("retry-schedule", "`durations` to wait before each retry of a delivery, such as 1s,5s,2m; none disables retries", o.setSchedule)
	flags.BoolVar(&o.config.AllowTargets, "allow-targets", false, "deliver to public addresses, not only to loopback addresses")
	flags.Func("allow-target",
		"additional `host`, address or network to deliver to, such as host.docker.internal or 172.16.0.0/12; may be repeated, "+
			"or contain several with commas between them", list(o.allowTarget))
	o.config.DeliveryConcurrency, o.config.AttemptTimeout = delivery.DefaultConcurrency, delivery.DefaultTimeout
	flags.Func("delivery-concurrency",
		fmt.Sprintf("maximum `number` of concurrent attempts to one webhook; with 1, only retries change the order (default %d)",
			delivery.DefaultConcurrency), positive(&o.config.DeliveryConcurrency, strconv.Atoi, "4"))
	flags.Func("attempt-timeout", fmt.Sprintf("maximum `duration` of a delivery attempt (default %v)", delivery.DefaultTimeout),
		positive(&o.config.AttemptTimeout, time.ParseDuration, "10s"))
	flags.Func("hash-function", "hash `function` for delivery signatures, sha256 or sha512 (default sha256)",
		oneOf(&o.config.HashFunction, webhook.SHA256, webhook.SHA512))
}

var errSharedFile = errors.New("-ready-file, -state and -seed must be different files")

// sharedFile reports whether two flags name the same file. A state file also uses its lock and, for each save,
// a new file.
func (o *options) sharedFile() bool {
	var state []string
	if o.state != "" {
		state = []string{o.state, lockName(o.state), target(o.state) + newSuffix}
	}
	shared := func(name string) bool { return sameFile(o.readyFile, name) || sameFile(o.seed, name) }
	return sameFile(o.readyFile, o.seed) || slices.ContainsFunc(state, shared)
}

// sameFile reports whether two names refer to the same file. The file may not exist yet.
func sameFile(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	there, err := os.Stat(a)
	other, missing := os.Stat(b)
	if err == nil && missing == nil {
		return os.SameFile(there, other)
	}
	a, _ = filepath.Abs(a)
	b, _ = filepath.Abs(b)
	return a == b
}

// addToken parses token[:user-email[:account-id]]. The user id is the position
// of the token, from 1.
func (o *options) addToken(text string, readOnly bool) error {
	parts := strings.Split(text, ":")
	if parts[0] == "" || len(parts) > 3 {
		return errors.New("must be token[:user-email[:account-id]]")
	}
	if strings.ContainsFunc(parts[0], func(r rune) bool { return r < '!' || r > '~' }) {
		return errors.New("a token must contain only visible ASCII characters") // others are not possible in a header field
	}
	if slices.ContainsFunc(o.config.Tokens, func(t mockserver.Token) bool { return t.Value == parts[0] }) {
		return errors.New("each token must be unique")
	}
	token := mockserver.Token{Value: parts[0], UserID: int64(len(o.config.Tokens)) + 1, ReadOnly: readOnly}
	if len(parts) > 1 {
		token.UserEmail = parts[1]
	}
	if len(parts) > 2 {
		id, err := strconv.ParseInt(parts[2], 10, 64)
		if err != nil || id < 1 {
			return errors.New("account-id must be a positive integer")
		}
		token.AccountID = id
	}
	o.config.Tokens = append(o.config.Tokens, token)
	return nil
}

// defaultToken adds the default token unless a given token has write access. It puts a
// token with write access first, because the ready file and the console use the first
// token.
func (o *options) defaultToken() error {
	writes := func(t mockserver.Token) bool { return !t.ReadOnly }
	if !slices.ContainsFunc(o.config.Tokens, writes) {
		if err := o.addToken(mockserver.DefaultToken, false); err != nil {
			return fmt.Errorf("-read-only-token %s: -token or MOCKSERVER_TOKEN is required, because this is the default token", mockserver.DefaultToken)
		}
	}
	tokens := o.config.Tokens
	i := slices.IndexFunc(tokens, writes)
	o.config.Tokens = slices.Insert(slices.Delete(slices.Clone(tokens), i, i+1), 0, tokens[i])
	return nil
}

func (o *options) setSchedule(text string) error {
	o.config.RetrySchedule = []time.Duration{}
	if text == "" || text == "none" {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		wait, err := time.ParseDuration(strings.TrimSpace(part))
		if err != nil || wait < 0 {
			return errors.New("must be a comma-separated list of durations such as 1s,5s,2m")
		}
		o.config.RetrySchedule = append(o.config.RetrySchedule, wait)
	}
	return nil
}

func (o *options) setQuirks(text string) error {
	o.config.Quirks = nil
	if text == "" {
		return nil
	}
	return list(func(name string) error {
		o.config.Quirks = append(o.config.Quirks, name)
		return quirk.Check(o.config.Quirks)
	})(text)
}

func (o *options) setNow(text string) (err error) {
	if o.config.Now, err = time.Parse(time.RFC3339, text); err != nil {
		return errors.New("must be a time such as 2026-01-02T15:04:05Z")
	}
	return clock.Check(o.config.Now)
}

// hostName matches a host name, or the name of a docker-compose service, which may
// contain underscores. The last label is not a number (RFC 3696, section 2).
var hostName = regexp.MustCompile(`(?i)^([a-z0-9_-]{1,63}\.)*([a-z0-9_-]*[a-z_-][a-z0-9_-]*)\.?$`)

// allowTarget allows a network, an address or a host. It rejects the addresses
// of cloud metadata services, which are always blocked.
func (o *options) allowTarget(text string) error {
	network, err := netip.ParsePrefix(text)
	if addr, wrong := netip.ParseAddr(text); wrong == nil && addr.Zone() == "" {
		network, err = netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	if err != nil {
		last := hostName.FindStringSubmatch(text)
		if last == nil || len(last[2]) > 63 || len(text) > 254 {
			return errors.New("must be a host name without a port, an IP address, or a network such as 172.16.0.0/12")
		}
		o.config.AllowTargetHosts = append(o.config.AllowTargetHosts, text)
		return nil
	}
	if network.IsSingleIP() && delivery.Metadata(network.Addr().Unmap()) {
		return errors.New("must not be the address of a cloud metadata service")
	}
	o.config.AllowTargetNetworks = append(o.config.AllowTargetNetworks, network)
	return nil
}
