package pgstore_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"example.com/emailplatform/contrib/pgstore"
)

// steps are SQL statements and calls that a handler can run in its transaction. The
// word INSERT stands for a statement that inserts the number of the step.
var steps = []string{
	"INSERT", "INSERT", "INSERT", "SELECT 1/0", "SAVEPOINT s", "ROLLBACK TO s", "RELEASE s",
	"COMMIT", "ROLLBACK", "BEGIN", "COMMIT AND CHAIN", "ROLLBACK AND CHAIN",
	"Commit()", "Rollback()", "Begin() commits", "Begin() fails", "BeginFunc commits", "BeginFunc fails",
}

// calls contains the SQL statements of steps that call driver methods. If the
// first statement fails, the call stops.
var calls = map[string][]string{
	"Commit()":          {},
	"Rollback()":        {},
	"Begin() commits":   {"SAVEPOINT x", "INSERT", "RELEASE x"},
	"Begin() fails":     {"SAVEPOINT x", "INSERT", "ROLLBACK TO x"},
	"BeginFunc commits": {"BEGIN", "INSERT", "COMMIT"},
	"BeginFunc fails":   {"BEGIN", "INSERT", "ROLLBACK"},
}

// modeled is a deduplication store with a table for handlers.
type modeled struct {
	// do handles an event. Each call to step runs an element of the variable steps.
	do   func(key string, handler func(step func(name string, row int) error) error) (ran bool, err error)
	rows func() ([]int, error) // returns and deletes all rows of the table
}

// errHandler is the error of a handler that fails.
var errHandler = errors.New("the handler fails")

// check runs random handlers. The rows and the key of an event must be committed if and
// only if the event was handled. A handler that ends the transaction must not count as
// successful.
func (s *modeled) check(t *testing.T, handlers int) {
	t.Helper()
	for range handlers {
		seed := rand.Uint64()
		if err := s.checkOne(rand.New(rand.NewPCG(seed, 0))); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func (s *modeled) checkOne(random *rand.Rand) error {
	m := model{open: true, guarded: true}
	key := fmt.Sprint("model ", random.Uint64())
	var done []string
	var wrong error
	fails := random.IntN(3) == 0
	ran, err := s.do(key, func(step func(string, int) error) error {
		for row := range random.IntN(8) {
			name := steps[random.IntN(len(steps))]
			done = append(done, name)
			if got, want := step(name, row), m.call(name, row); (got != nil) != want {
				wrong = fmt.Errorf("got error %w; want an error = %t", got, want)
			}
		}
		if fails {
			return errHandler
		}
		return nil
	})
	if wrong == nil {
		wrong = s.result(&m, key, fails, ran, err)
	}
	if wrong != nil {
		return fmt.Errorf("%q, fails: %t: %w", done, fails, wrong)
	}
	return nil
}

// result compares the database with the model.
func (s *modeled) result(m *model, key string, fails, ran bool, err error) error {
	handled := !fails && m.open && m.guarded && !m.aborted
	want := m.committed
	if handled {
		want = append(want, m.pending...)
	}
	switch {
	case !ran || (err == nil) != handled:
		return fmt.Errorf("got handled = %t, error %w; want handled = %t", ran, err, handled)
	case fails && !errors.Is(err, errHandler):
		return fmt.Errorf("the handler's error is lost: %w", err)
	case (!m.open || !m.guarded && !m.aborted && !fails) && !errors.Is(err, pgstore.ErrTxManaged):
		return fmt.Errorf("the transaction ended inside the handler: %w", err)
	}
	if got, err := s.rows(); err != nil || !slices.Equal(got, want) {
		return fmt.Errorf("rows %d, %w; want %d", got, err, want)
	}
	again, err := s.do(key, func(func(string, int) error) error { return nil })
	if again == handled || err != nil {
		return fmt.Errorf("next delivery: Do = %t, %w; first delivery handled: %t", again, err, handled)
	}
	return nil
}

// model simulates a PostgreSQL session.
type model struct {
	open, aborted, guarded bool  // guarded: it is still the store's transaction
	committed, pending     []int // rows
	saves                  []save
}

type save struct {
	name string
	rows int
}

// call runs a step and reports whether it fails.
func (m *model) call(name string, row int) (failed bool) {
	sql, ok := calls[name]
	if !ok {
		return m.exec(name, row)
	}
	for i, s := range sql {
		if m.exec(s, row) && i == 0 {
			return true
		}
	}
	return len(sql) == 0 // Commit and Rollback return ErrTxManaged
}

func (m *model) exec(sql string, row int) (failed bool) {
	command, name, _ := strings.Cut(sql, " ")
	switch {
	case sql == "COMMIT", sql == "ROLLBACK":
		m.end(command)
		return false
	case strings.HasSuffix(sql, "AND CHAIN"):
		failed = !m.open
		m.end(command)
		m.open = !failed
		return failed
	case command == "ROLLBACK": // TO
		return m.back(strings.TrimPrefix(name, "TO "))
	case m.aborted:
		return true
	}
	return m.do(command, name, row)
}

// do runs a command that an aborted transaction rejects.
func (m *model) do(command, name string, row int) (failed bool) {
	switch {
	case command == "BEGIN":
		m.open = true
	case command == "INSERT" && m.open:
		m.pending = append(m.pending, row)
	case command == "INSERT":
		m.committed = append(m.committed, row)
	case command == "SAVEPOINT" && m.open:
		m.saves = append(m.saves, save{name, len(m.pending)})
	case command == "RELEASE" && m.find(name) >= 0:
		m.saves = m.saves[:m.find(name)]
	default:
		m.aborted = m.open
		return true
	}
	return false
}

func (m *model) end(command string) {
	if command == "COMMIT" && m.open && !m.aborted {
		m.committed = append(m.committed, m.pending...)
	}
	m.open, m.guarded, m.aborted = false, m.guarded && !m.open, false
	m.pending, m.saves = nil, nil
}

func (m *model) back(name string) (failed bool) {
	i := m.find(name)
	if i < 0 {
		m.aborted = m.open
		return true
	}
	m.aborted = false
	m.pending = m.pending[:m.saves[i].rows]
	m.saves = m.saves[:i+1]
	return false
}

func (m *model) find(name string) int {
	for i, s := range slices.Backward(m.saves) {
		if s.name == name {
			return i
		}
	}
	return -1
}
