// Command withservers runs another command with its own Redis, PostgreSQL and PgBouncer:
//
//	go run -C internal/tests/chaos ./cmd/withservers go test ./...
//
// The command gets the addresses of the servers in REDIS_ADDR, POSTGRES_URL and PGBOUNCER_URL. withservers exits
// with the exit code of the command.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"

	"example.com/emailplatform/internal/tests/chaos/servers"
	"example.com/emailplatform/internal/tools/must"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: withservers COMMAND [ARGUMENT…]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(max(failed.ExitCode(), 1))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "withservers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	defer must.Catch(&err)
	rdb := must.Get(servers.StartRedis(ctx))
	defer func() { err = errors.Join(err, rdb.Close()) }()
	db := must.Get(servers.StartPostgres(ctx))
	defer func() { err = errors.Join(err, db.Close()) }()
	bouncer := must.Get(servers.StartBouncer(ctx, db))
	defer func() { err = errors.Join(err, bouncer.Close()) }()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // what the user asks for
	cmd.Env = append(os.Environ(), "REDIS_ADDR="+rdb.Addr, "POSTGRES_URL="+db.URL, "PGBOUNCER_URL="+bouncer.URL)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
