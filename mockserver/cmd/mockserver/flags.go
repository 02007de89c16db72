package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/emailplatform/mockserver"
	"example.com/emailplatform/mockserver/internal/delivery"
	"example.com/emailplatform/mockserver/internal/quirk"
	"example.com/emailplatform/mockserver/internal/suggest"
	"example.com/emailplatform/webhook"
)

const secretVariable = "WEBHOOK_SECRET"

const defaultAddr = "127.0.0.1:8026"

// usageError is an error in the arguments of a command.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

const variablesUsage = `The description of a flag begins with its environment variable. A flag overrides its variable. An empty variable is ignored.

`

// flagSet parses the flags of a command. After an invalid flag it does not print the
// help, because the long list of flags would hide the error.
type flagSet struct {
	*flag.FlagSet

	usage string
	out   io.Writer
}

func newFlags(name, usage string, out io.Writer) *flagSet {
	f := &flagSet{flag.NewFlagSet(name, flag.ContinueOnError), usage, out}
	f.SetOutput(io.Discard)
	return f
}

// parse parses flags, and stops at the first other argument.
func (f *flagSet) parse(args []string) error {
	err := f.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		f.SetOutput(f.out)
		f.VisitAll(func(flag *flag.Flag) {
			if variable := f.variable(flag.Name); variable != "" {
				flag.Usage = variable + ": " + flag.Usage
			}
		})
		_, _ = io.WriteString(f.out, f.usage+variablesUsage)
		f.PrintDefaults()
		return err
	}
	if err == nil {
		return nil
	}
	if name, isUnknown := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); isUnknown {
		var known []string
		f.VisitAll(func(flag *flag.Flag) { known = append(known, flag.Name) })
		return fmt.Errorf("unknown flag -%s%s; see %s -h", name, didYouMean("-", name, known), f.Name())
	}
	if part := invalidFlag.FindStringSubmatch(err.Error()); part != nil {
		return invalid(f.Lookup(part[2]), "-"+part[2], part[1], part[3])
	}
	return err
}

// invalidFlag matches the errors of package flag for an invalid value.
var invalidFlag = regexp.MustCompile(`(?s)^invalid (?:boolean )?value ("(?:[^"\\]|\\.)*") for (?:flag )?-([^ :]+): (.*)$`)

// invalid returns the error for an invalid value of a flag or of its environment
// variable. If the flag contains secrets, the error omits the value.
func invalid(of *flag.Flag, source, quoted, rule string) error {
	switch b, ok := of.Value.(interface{ IsBoolFlag() bool }); {
	case ok && b.IsBoolFlag():
		rule = "must be true or false"
	case rule == "parse error", rule == "value out of range":
		rule = "must be an integer between 0 and 18446744073709551615"
	}
	rule = strings.TrimPrefix(rule, "mockserver: ")
	if !slices.Contains([]string{"token", "read-only-token", "secret", "url"}, of.Name) && !strings.Contains(rule, quoted) {
		rule += ", got " + quoted
	}
	return errors.New(source + ": " + rule)
}

// parseAll parses a command line that contains only flags. If a flag is not set there,
// its environment variable sets it.
func (f *flagSet) parseAll(args []string) error {
	if err := f.parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; see %s -h", f.Arg(0), f.Name())
	}
	given := map[string]bool{}
	f.Visit(func(flag *flag.Flag) { given[flag.Name] = true })
	var errs []error
	f.VisitAll(func(flag *flag.Flag) {
		variable := f.variable(flag.Name)
		if value := os.Getenv(variable); value != "" && !given[flag.Name] {
			if err := f.Set(flag.Name, value); err != nil {
				errs = append(errs, invalid(flag, variable, strconv.Quote(value), err.Error()))
			}
		}
	})
	return errors.Join(errs...)
}

// about adds a flag and its environment variable to an error about the flag's value, such as
// the name of a file.
func about(name string, err error) error {
	return fmt.Errorf("-%s or %s: %w", name, newFlags("mockserver", "", nil).variable(name), err)
}

// variable returns the environment variable that sets a flag. Containers need variables,
// because the flags in an image are fixed. Secrets need them, because other users can
// read the flags of a process. Commands that share a flag share its variable. Flags that
// print something have no variable: for example, MOCKSERVER_VERSION often contains the
// release to install.
func (f *flagSet) variable(name string) string {
	switch name {
	case "version", "list":
		return ""
	case "secret":
		return secretVariable
	case "addr", "hash-function":
		name = "mockserver " + name
	default:
		name = f.Name() + " " + name
	}
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToUpper(name))
}

// list returns a function that accepts a comma-separated list of values.
func list(add func(string) error) func(string) error {
	return func(text string) error {
		for part := range strings.SplitSeq(text, ",") {
			if err := add(strings.TrimSpace(part)); err != nil {
				return err
			}
		}
		return nil
	}
}

// positive returns a function that accepts only values of more than 0.
func positive[T int | time.Duration](to *T, parse func(string) (T, error), example string) func(string) error {
	return func(text string) (err error) {
		if *to, err = parse(text); err != nil || *to <= 0 {
			return errors.New("must be more than 0, such as " + example)
		}
		return nil
	}
}

// didYouMean returns a hint if a known name is similar to an unknown name.
func didYouMean(prefix, name string, known []string) string {
	if right := suggest.Closest(name, known); right != "" {
		return " (did you mean " + prefix + right + "?)"
	}
	return ""
}

// oneOf returns a function that accepts only some values of a flag.
func oneOf[T ~string](to *T, values ...T) func(string) error {
	return func(text string) error {
		if !slices.Contains(values, T(text)) {
			return fmt.Errorf("must be %s or %s", values[0], values[1])
		}
		*to = T(text)
		return nil
	}
}

func addrFlag(flags *flagSet, addr *string, usage string) {
	*addr = defaultAddr
	flags.Func("addr", usage+" (default "+defaultAddr+")", func(text string) error {
		*addr = text
		if _, port, err := net.SplitHostPort(text); err == nil && port != "" {
			if _, err = net.DefaultResolver.LookupPort(context.Background(), "tcp", port); err == nil {
				return nil
			}
		}
		return errors.New("must have the form host:port")
	})
}

// secretFlags adds the flags for a webhook's secret. After parsing the flags, call the
// returned function to get the secret.
func secretFlags(flags *flagSet) func() (webhook.Secret, error) {
	text, function := flags.String("secret", "", "webhook `secret`"), webhook.SHA256
	flags.Func("hash-function", "webhook hash `function`, sha256 or sha512 (default sha256)",
		oneOf(&function, webhook.SHA256, webhook.SHA512))
	return func() (webhook.Secret, error) {
		if *text == "" {
			return webhook.Secret{}, errNoSecret
		}
		secret, err := webhook.ParseSecret(*text, string(function))
		if err != nil {
			err = errors.New("--secret or " + secretVariable + ": " + strings.TrimPrefix(err.Error(), "webhook: "))
		}
		return secret, err
	}
}

var errNoSecret = errors.New("--secret or " + secretVariable + " is required")

type options struct {
	addr, seed, state  string
	readyFile          string
	clock, log         string
	quiet, showVersion bool
	exitOnStdinClose   bool
	config             mockserver.Config
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	flags := newFlags("mockserver", serveUsage, out)
	addrFlag(flags, &o.addr, "`address` to listen on; an address that is not loopback requires -token")
	o.tokenFlags(flags)
	o.deliveryFlags(flags)
	flags.StringVar(&o.seed, "seed", "", "`file` with the baseline, which a reset restores; an existing -state file overrides it")
	flags.StringVar(&o.state, "state", "",
		"state `file`, loaded at startup and saved after changes; only one process can use it at a time")
	flags.TextVar(&o.config.Lookups, "lookup-limit", mockserver.LookupMinInterval,
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

// sharedFile reports whether two flags name the same file.
func (o *options) sharedFile() bool {
	return sameFile(o.readyFile, o.state) || o.state != "" && sameFile(o.readyFile, o.state+".lock") ||
		sameFile(o.readyFile, o.seed) || sameFile(o.state, o.seed)
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
	o.config.Now, err = time.Parse(time.RFC3339, text)
	if year := o.config.Now.UTC().Year(); err != nil || year < 1970 || year > 2199 {
		return errors.New("must be a time such as 2026-01-02T15:04:05Z, with a year from 1970 to 2199")
	}
	return nil
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
