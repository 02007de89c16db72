package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
)

// The environment stands for flags where a container's image fixes one, and a
// secret should not be in the process list.
const (
	addrVariable  = "MOCKSERVER_ADDR"
	tokenVariable = "MOCKSERVER_TOKEN"
)

const defaultAddr = "127.0.0.1:8026"

// addrFlag is the flag -addr, of the server and of those who ask it.
func addrFlag(flags *flag.FlagSet, addr *string, usage string) {
	flags.StringVar(addr, "addr", cmp.Or(os.Getenv(addrVariable), defaultAddr), usage)
}

// addToken is the flag -token.
func (o *options) addToken(text string) error {
	token, err := parseToken(text, len(o.config.Tokens))
	o.config.Tokens = append(o.config.Tokens, token)
	return err
}

// tokenOfEnvironment takes the token of the environment if no flag gave one.
func (o *options) tokenOfEnvironment() error {
	text := os.Getenv(tokenVariable)
	if text == "" || len(o.config.Tokens) > 0 {
		return nil
	}
	if err := o.addToken(text); err != nil {
		return fmt.Errorf("%s: %w", tokenVariable, err)
	}
	return nil
}
