// Command withservers runs another command while a Redis, a PostgreSQL and a PgBouncer run for it alone:
//
//	go run -C internal/tests/chaos ./cmd/withservers go test ./...
//
// The command finds them in REDIS_ADDR, POSTGRES_URL and PGBOUNCER_URL, and gives
// the exit code.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"

	"example.com/emailplatform/internal/tests/chaos/servers"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: withservers COMMAND [ARGUMENT…]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if failed := (*exec.ExitError)(nil); errors.As(err, &failed) {
		os.Exit(max(failed.ExitCode(), 1))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "withservers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	rdb, err := servers.StartRedis(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rdb.Close()) }()
	db, err := servers.StartPostgres(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	bouncer, err := servers.StartBouncer(ctx, db)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bouncer.Close()) }()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // what the user asks for
	cmd.Env = append(os.Environ(), "REDIS_ADDR="+rdb.Addr(), "POSTGRES_URL="+db.URL(), "PGBOUNCER_URL="+bouncer.URL())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	return cmd.Run()
}
