// Package testservers finds the servers that tests can change. internal/tests/chaos/cmd/withservers starts them.
package testservers

import (
	"context"
	"crypto/rand"
	"database/sql"
	"net/url"
	"os"
	"strings"
	"testing"
)

// Address returns the server address that an environment variable, such as REDIS_ADDR, contains. If the variable is not
// set, the test is skipped, or fails with CI=true.
func Address(t testing.TB, variable string) string {
	t.Helper()
	address := os.Getenv(variable)
	switch {
	case address != "":
	case os.Getenv("CI") == "true":
		t.Fatalf("%s is not set, which is required with CI=true", variable)
	default:
		t.Skipf("SKIPPED, nothing was tested: set %s to a server that the tests can change", variable)
	}
	return address
}

// NewDatabase creates an empty database on the server in POSTGRES_URL, and returns its URL. The test must import
// github.com/jackc/pgx/v5/stdlib.
func NewDatabase(t testing.TB) string {
	t.Helper()
	server := Address(t, "POSTGRES_URL")
	u, err := url.Parse(server)
	check(t, err)
	name := "test_" + strings.ToLower(rand.Text())
	execute(t, server, "CREATE DATABASE "+name)
	t.Cleanup(func() { execute(t, server, "DROP DATABASE "+name+" WITH (FORCE)") })
	u.Path = "/" + name
	return u.String()
}

func execute(t testing.TB, server, statement string) {
	t.Helper()
	db, err := sql.Open("pgx", server)
	check(t, err)
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(context.WithoutCancel(t.Context()), statement) // t.Context ends before the cleanup
	check(t, err)
}

// check ends the test if there is an error. The modules of the examples do not require testify.
func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
