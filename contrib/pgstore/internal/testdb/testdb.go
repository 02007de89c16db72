// Package testdb finds the PostgreSQL servers that tests may write to.
package testdb

import (
	"os"
	"testing"
)

// URLs returns the database URLs: "direct" from POSTGRES_URL, and "PgBouncer"
// from PGBOUNCER_URL if it is set. In CI, both variables must be set.
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
