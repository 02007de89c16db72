// Package testdb finds the PostgreSQL that tests may write to.
package testdb

import (
	"os"
	"testing"
)

// URLs returns the ways to it: "direct", by POSTGRES_URL, and "PgBouncer", by
// PGBOUNCER_URL, if that is set. In CI both must be.
func URLs(t testing.TB) map[string]string {
	t.Helper()
	urls := map[string]string{}
	for way, variable := range map[string]string{"direct": "POSTGRES_URL", "PgBouncer": "PGBOUNCER_URL"} {
		if url := os.Getenv(variable); url != "" {
			urls[way] = url
		} else if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not set: CI needs a PostgreSQL, directly and through PgBouncer", variable)
		}
	}
	if urls["direct"] == "" {
		t.Skip("SKIPPED, nothing was proven: set POSTGRES_URL to a PostgreSQL that may be written to")
	}
	return urls
}
