package testdb

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"testing"
)

// Scenario is what a handler does with its transaction, and the result. The
// handler ignores the errors of its steps.
type Scenario struct {
	Steps   string // separated by "; "; INSERT inserts a row
	Errors  int    // number of steps that return an error
	Result  Result // if the handler returns nil
	Rows    int    // rows that are then in the database
	Own     int    // rows that are in the database if the handler returns an error
	Outside bool   // the handler returns while no transaction is open
}

// Result is the result of an event whose handler returned nil.
type Result string

// The results.
const (
	Handled Result = "handled"
	Failed  Result = "failed"               // a statement failed
	Managed Result = "ended by the handler" // the error is Store.Managed
)

var scenarios = []Scenario{
	{Steps: "SELECT 1", Result: Handled},
	{Steps: "INSERT; INSERT", Result: Handled, Rows: 2},
	{Steps: "BEGIN; INSERT", Result: Handled, Rows: 1},
	{Steps: "INSERT; SAVEPOINT s; INSERT; ROLLBACK TO s", Result: Handled, Rows: 1},
	{Steps: "INSERT; SAVEPOINT s; INSERT; RELEASE s", Result: Handled, Rows: 2},
	{Steps: "INSERT; SAVEPOINT s; SELECT 1/0; ROLLBACK TO s; INSERT", Errors: 1, Result: Handled, Rows: 2},
	{Steps: "INSERT; SELECT 1/0; INSERT", Errors: 2, Result: Failed},
	{Steps: "INSERT; ROLLBACK TO s", Errors: 1, Result: Failed},
	{Steps: "INSERT; COMMIT; BEGIN; INSERT; SELECT 1/0", Errors: 1, Result: Failed, Rows: 1, Own: 1},
	{Steps: "INSERT; COMMIT", Result: Managed, Rows: 1, Own: 1, Outside: true},
	{Steps: "INSERT; COMMIT; INSERT", Result: Managed, Rows: 2, Own: 2, Outside: true},
	{Steps: "INSERT; ROLLBACK", Result: Managed, Outside: true},
	{Steps: "INSERT; ROLLBACK; SELECT 1/0", Errors: 1, Result: Managed, Outside: true},
	{Steps: "INSERT; SELECT 1/0; COMMIT", Errors: 1, Result: Managed, Outside: true},
	{Steps: "INSERT; COMMIT; BEGIN; INSERT", Result: Managed, Rows: 1, Own: 1},
	{Steps: "INSERT; ROLLBACK; BEGIN; INSERT", Result: Managed},
	{Steps: "INSERT; ROLLBACK; BEGIN; INSERT; COMMIT", Result: Managed, Rows: 1, Own: 1, Outside: true},
	{Steps: "INSERT; COMMIT AND CHAIN; INSERT", Result: Managed, Rows: 1, Own: 1},
	{Steps: "INSERT; ROLLBACK AND CHAIN; INSERT", Result: Managed},
}

// scenarios: whatever a handler does with its transaction, the event is handled if and only if its rows and its key are
// committed.
func (s Store) scenarios(t *testing.T) {
	once, conn := s.New(t, URLs(t)["direct"], Direct), Connect(t)
	table, insert := newTable(t, conn)
	rows := func() (n int) {
		Fatal(t, conn.QueryRow(t.Context(), "WITH r AS (DELETE FROM "+table+" RETURNING n) SELECT count(*) FROM r").Scan(&n))
		return n
	}
	failure := errors.New("the handler fails")
	for _, sc := range append(scenarios, s.Scenarios...) {
		t.Run(sc.Steps, func(t *testing.T) {
			run := func(result error) func(context.Context) error {
				return func(ctx context.Context) error {
					if n := s.run(ctx, sc.Steps, insert); n != sc.Errors {
						t.Errorf("%d steps failed, want %d", n, sc.Errors)
					}
					return result
				}
			}
			key := rand.Text()
			ran, err := once.Do(t.Context(), key, run(failure))
			if n := rows(); !ran || !errors.Is(err, failure) || n != sc.Own || sc.Outside && !errors.Is(err, s.Managed) {
				t.Errorf("failing handler: Do = %v, %v, %d rows; want %d", ran, err, n, sc.Own)
			}
			ran, err = once.Do(t.Context(), key, run(nil))
			got := Handled
			if errors.Is(err, s.Managed) {
				got = Managed
			} else if err != nil {
				got = Failed
			}
			if n := rows(); !ran || got != sc.Result || n != sc.Rows {
				t.Errorf("Do = %v, %v, %d rows; want %s, %d rows", ran, err, n, sc.Result, sc.Rows)
			}
			ran, err = once.Do(t.Context(), key, func(context.Context) error { return nil })
			if ran != (sc.Result != Handled) || err != nil {
				t.Errorf("next delivery: Do = %v, %v", ran, err)
			}
		})
	}
}

// run runs the steps and returns the number of errors.
func (s Store) run(ctx context.Context, steps, insert string) (failed int) {
	for step := range strings.SplitSeq(steps, "; ") {
		if s.Exec(ctx, strings.Replace(step, "INSERT", insert, 1)) != nil {
			failed++
		}
	}
	return failed
}
