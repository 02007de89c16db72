// Package must shortens error handling in development tools, where each error
// ends the program or a step of it.
package must

import (
	"errors"
	"fmt"
)

// failure is the panic value of [OK], [Failf] and [Get].
type failure struct{ error }

// OK panics if err is not nil. To recover the panic, defer [Catch] in the same goroutine.
func OK(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// Failf panics like [OK] with the error of [fmt.Errorf].
func Failf(format string, args ...any) { OK(fmt.Errorf(format, args...)) }

// Get returns v, or panics like [OK].
func Get[T any](v T, err error) T {
	OK(err)
	return v
}

// Run calls f and returns the error of a failed call of [OK], [Failf] or [Get] in f.
func Run(f func()) (err error) {
	defer Catch(&err)
	f()
	return nil
}

// Catch recovers a panic of [OK], [Failf] or [Get], and adds the error to err. Call it in a defer statement.
func Catch(err *error) {
	switch v := recover().(type) {
	case nil:
	case failure:
		*err = errors.Join(v.error, *err)
	default:
		panic(v)
	}
}
