package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

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
// read the flags of a process. Commands that share a flag share its variable.
//
// The flags version and list have no variable, because with them the command only prints
// something and exits. For example, MOCKSERVER_VERSION often contains the release to
// install, so it must not set the flag version.
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
			err = errors.New("-secret or " + secretVariable + ": " + strings.TrimPrefix(err.Error(), "webhook: "))
		}
		return secret, err
	}
}

var errNoSecret = errors.New("-secret or " + secretVariable + " is required")
